"""What the page shows, as arrays in the user's units."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pacodi_jax.metrics.results import Panel


class Line(NamedTuple):
    """One whole series.

    Attributes:
      values: ``(T, C)``, NaN where a value is missing.
      stamps: ``(T,)`` as text; None if steps are only counted.
    """

    values: np.ndarray
    stamps: list[str] | None


class Fans(NamedTuple):
    """Forecasts from several windows.

    Attributes:
      truth: ``(n, L, C)``, what was observed, and then what came.
      draws: ``(n, D, H, C)``, continuations of the first L − H steps.
      starts: ``(n,)`` first stamps as text; None if steps are only counted.
      part: of the data that the windows are from: ``"held-out"``, ``"training"``.
    """

    truth: np.ndarray
    draws: np.ndarray
    starts: list[str] | None
    part: str

    @property
    def seen(self) -> int:
        """Steps that the model was given."""
        return self.truth.shape[1] - self.draws.shape[2]


class Content(NamedTuple):
    """Everything on the page; what is None is not there, and ``notes`` say why.

    Attributes:
      title: of the page.
      label: what must be said of the samples, such as that they leak; empty if nothing.
      channels: C names.
      synthetic: ``(M, L, C)``.
      real: ``(N, L, C)``.
      whole: a synthetic series.
      beside: a real one to compare it with.
      fans: forecasts.
      panel: scores, if an evaluation was kept.
      evaluate: how to get scores.
      facts: of the model.
      notes: why parts are missing.
    """

    title: str
    label: str
    channels: tuple[str, ...]
    synthetic: np.ndarray
    real: np.ndarray | None = None
    whole: Line | None = None
    beside: Line | None = None
    fans: Fans | None = None
    panel: Panel | None = None
    evaluate: str = ""
    facts: Mapping[str, Any] = {}
    notes: tuple[str, ...] = ()
