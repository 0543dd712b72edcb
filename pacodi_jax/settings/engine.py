"""The sections of settings that every run has, whatever its model."""

from dataclasses import dataclass
from math import inf
from typing import Any

from pacodi_jax.config import Section, setting
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.errors import PacodiError
from pacodi_jax.parallel import BACKENDS
from pacodi_jax.text.settings import TextSettings

_SHARE = ("a share of the steps below 1, or a number of steps", lambda x: 0 < x < inf)
_WARMUP = ("0, a share of the updates below 1, or a number of updates", lambda x: 0 <= x < inf)


@dataclass(frozen=True)
class TrainSettings(Section, name="train"):
    """How long and how carefully to train.

    Settings that go together follow the number of steps: a value below 1 is a share of it.
    """

    steps: int = setting(40_000, "training steps", least=1)
    batch: int = setting(32, "windows per step, over all devices", least=1)
    learning_rate: float = setting(
        3e-3, "the peak", accepted=("a positive number", lambda x: 0 < x < float("inf"))
    )
    warmup: float = setting(0.0125, "linear warm-up: a share or a number", accepted=_WARMUP)
    decay: str = setting(
        "cosine", "of the learning rate after warm-up", choices=("cosine", "plateau", "constant")
    )
    plateau_factor: float = setting(
        0.5,
        "by which a plateau lowers the rate",
        accepted=("0 < plateau_factor < 1", lambda x: 0 < x < 1),
    )
    plateau_patience: int = setting(4000, "updates without progress that make a plateau", least=1)
    plateau_threshold: float = setting(
        1e-4,
        "a smaller relative fall of the loss is no progress",
        accepted=("0 <= plateau_threshold < 1", lambda x: 0 <= x < 1),
    )
    final_rate: float = setting(
        0.01,
        "the smallest fraction of the peak that decay leaves",
        accepted=("0 <= final_rate <= 1", lambda x: 0 <= x <= 1),
    )
    beta2: float = setting(
        0.999, "Adam's second decay rate", accepted=("0 < beta2 < 1", lambda x: 0 < x < 1)
    )
    weight_decay: float = setting(
        0.0, "decoupled, of matrices", accepted=("0 or more", lambda x: 0 <= x < inf)
    )
    clip: float = setting(
        1.0, "largest norm of a gradient", accepted=("a positive number", lambda x: x > 0)
    )
    accumulate: int = setting(1, "gradients averaged to one update", least=1)
    ema: float = setting(
        0.999,
        "decay of the average of the parameters, which sampling uses",
        accepted=("0 <= ema < 1", lambda x: 0 <= x < 1),
    )
    calibration: int = setting(
        0,
        "draws after training by which the second moments of samples are corrected",
        accepted=("0 (none), or 100 and more draws", lambda x: x == 0 or x >= 100),
    )
    chunk: int = setting(0, "steps per dispatch; 0 measures", least=0)
    checkpoint_every: float = setting(0.1, "a share or a number of steps", accepted=_SHARE)
    keep: int = setting(3, "newest checkpoints that are kept, beside the best", least=1)
    log_every: float = setting(0.0125, "a share or a number of steps", accepted=_SHARE)
    validate_every: float = setting(0.1, "a share or a number of steps", accepted=_SHARE)
    max_skips: int = setting(20, "non-finite steps in a row that end the run", least=1)
    backend: str = setting("pmap", "how a step is spread over devices", choices=BACKENDS)

    def check(self) -> None:
        """A warm-up leaves some updates at full rate."""
        if self.warmup_updates >= self.updates:
            raise PacodiError(
                f"train.warmup={self.warmup:g} leaves none of the {self.updates} updates "
                f"(train.steps={self.steps} by train.accumulate={self.accumulate}) at full rate; "
                "lower the warm-up, or give it as a share below 1."
            )

    @property
    def updates(self) -> int:
        """Updates of the weights: one per ``accumulate`` steps."""
        return max(self.steps // self.accumulate, 1)

    @property
    def warmup_updates(self) -> int:
        """Updates of warm-up."""
        return round(self.warmup * self.updates) if self.warmup < 1 else round(self.warmup)

    def every(self, name: str) -> int:
        """``checkpoint_every``, ``log_every`` or ``validate_every`` as a number of steps."""
        value = getattr(self, name)
        return max(round(value * self.steps) if value < 1 else round(value), 1)


@dataclass(frozen=True)
class Evaluation(Section, name="evaluate"):
    """How samples are scored."""

    windows: int = setting(3000, "at most so many per side", least=1)
    seeds: int = setting(5, "complete runs of every score, each with its own draws", least=1)


#: The sections that every run has.
ENGINE: dict[str, Any] = {
    "data": DataSettings,
    "text": TextSettings,
    "train": TrainSettings,
    "evaluate": Evaluation,
}
