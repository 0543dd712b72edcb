"""Which steps are kept."""

from collections.abc import Sequence
from typing import Any

import numpy as np


class LastAndBest:
    """Keeps the last ``keep`` steps and the one of the smallest metric."""

    def __init__(self, keep: int):
        self.keep = keep
        self.metrics: dict[int, float] = {}

    def best(self, steps: Sequence[int]) -> int | None:
        """Returns the step of the smallest finite metric among ``steps``."""
        scored = [s for s in steps if np.isfinite(self.metrics.get(s, np.nan))]
        return min(scored, key=lambda s: self.metrics[s]) if scored else None

    def should_preserve(self, checkpoints: Sequence[Any], *, context: Any) -> Sequence[bool]:
        """Answers orbax, in the order of ``checkpoints``, which rises in step."""
        steps = [info.step for info in checkpoints]
        kept = {*steps[-self.keep :], self.best(steps)}
        return [step in kept for step in steps]
