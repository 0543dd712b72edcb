"""What a model family is: training, sampling and scoring know only this.

A family is one file under ``models/`` and one row of the registry. It has settings of its own,
learns what it needs from the training windows before the first step (:attr:`Family.prepare`), and
builds a :class:`Generator`. Checkpoints, resuming, progress, export and the judge come from the
engine.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import optax

from pacodi_jax.config import Section, setting
from pacodi_jax.models import edges
from pacodi_jax.models.state import Batch
from pacodi_jax.types import Array, Key

#: A tree of arrays in nested dictionaries, as it is stored: names are paths.
Arrays = dict[str, Any]


class Shape(NamedTuple):
    """The sizes that a model is built for.

    Attributes:
      length: L, steps per window.
      channels: C.
      condition_width: E, numbers per condition; 0 without conditions.
    """

    length: int
    channels: int
    condition_width: int = 0


class Training(NamedTuple):
    """What a generator needs in order to train.

    Attributes:
      make_optimiser: makes the optimiser that the settings ask for, gradients averaged over
        devices. Keyword arguments replace single settings of ``train``, so that a family may make
        several.
      batch: the global batch size.
      ema: decay of the average of the parameters.
      condition_dropout: how often an example's condition is replaced by the null condition.
      steps: how many the run has.
    """

    make_optimiser: Callable[..., optax.GradientTransformationExtraArgs]
    batch: int
    ema: float
    condition_dropout: float
    steps: int


@dataclass(frozen=True)
class Drawing(Section, name="sample"):
    """How many windows are drawn; families add how."""

    count: int = setting(1000, "windows that the command draws", least=1)
    batch: int = setting(500, "windows drawn at once, over all devices", least=1)


class State(Protocol):
    """What the engine reads of a training state; a family adds its own fields.

    Attributes:
      step: updates attempted so far.
      skipped: steps that were skipped because something was not finite.
      consecutive_skips: how many of them in a row, up to now.
    """

    @property
    def step(self) -> Array: ...  # noqa: D102
    @property
    def skipped(self) -> Array: ...  # noqa: D102
    @property
    def consecutive_skips(self) -> Array: ...  # noqa: D102


class Facts(NamedTuple):
    """What is true of the samples of a generator.

    Attributes:
      label: what every file made with it must say; empty for honest samples.
      evaluations: network evaluations per sample.
      calibrated: whether the samples' moments are corrected.
      note: what a user should know of how samples are drawn; empty if there is nothing.
    """

    label: str
    evaluations: int
    calibrated: bool = False
    note: str = ""


class Generator(Protocol):
    """A model that trains and samples. ``sample`` and ``finish`` are called outside jit."""

    def init(self, key: Key, batch: Batch) -> Any:
        """Returns the state before the first step; ``batch`` gives the shapes."""
        ...

    def update(self, state: Any, batch: Batch) -> tuple[Any, dict[str, Array]]:
        """Returns the state after one step on this device's part of the batch, and its metrics.

        ``metrics["loss"]`` is shown while training.
        """
        ...

    def validate(self, state: Any, key: Key, batch: Batch) -> Array:
        """Returns the score of a state on unseen windows, smaller being better."""
        ...

    def weights(self, state: Any) -> Arrays:
        """Returns what is stored of a state in order to sample."""
        ...

    def finish(
        self,
        key: Key,
        weights: Arrays,
        windows: np.ndarray,
        draws: int,
        condition: np.ndarray | None = None,
    ) -> Arrays:
        """Returns what :attr:`Family.prepare` found, completed by ``draws`` samples of the model.

        Called once after training if ``train.calibration`` asks for draws. ``condition`` gives
        those of the draws, ``(draws, E)``: dates by train's law if the model knows a calendar.

        Raises:
          PacodiError: by a family that has nothing to complete.
        """
        ...

    def sample(
        self,
        key: Key,
        weights: Arrays,
        count: int,
        condition: Array | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
        **how: Any,
    ) -> np.ndarray:
        """Draws ``(count, L, C)`` windows in the model's scale; window i depends on (key, i) alone.

        Args:
          key: random key, or one key per window, ``(count,)``.
          weights: from :meth:`weights`.
          count: how many.
          condition: ``(count, E)``, or None for the null condition.
          progress: called with (drawn, count) after each block.
          **how: settings of the ``sample`` section that differ from the model's own; for families
            with :attr:`Family.reads_observed` also ``observed``, an
            :class:`~pacodi_jax.core.conditioning.Observed` of values and masks ``(count, L, C)``.
        """
        ...

    def traceable(
        self, weights: Arrays, count: int, condition: Array | None = None, **how: Any
    ) -> Callable[[Key], Array]:
        """Returns ``key -> windows (count, L, C)`` as one pure function, to be exported."""
        ...

    def facts(self, **how: Any) -> Facts:
        """Returns what is true of samples drawn so."""
        ...


@dataclass(frozen=True)
class Family:
    """A kind of model.

    Attributes:
      name: as ``model.name`` has it.
      settings: a frozen dataclass whose fields are config sections, ``model`` and ``sample`` among
        them.
      prepare: ``(settings, windows (N, L, C), condition (M, E) or None) -> arrays``, what is fitted
        to the training windows before the first step. It is stored with the weights.
      build: ``(settings, shape, arrays, training) -> generator``; without training it only samples.
      sizes: values of the ``model`` section per size; ``small`` is the default, ``tiny`` is for a
        first look.
      defaults: settings of the engine that this family wants unless others are given, by full
        name, such as ``{"train.batch": 128}``.
      per_source: what its authors change on a data set, by the name of the source; presets apply
        it, except ``model`` where a size is asked for.
      pass_over: ``(settings, arrays, blocks) -> arrays``, what prepare found in windows spread
        evenly over train, made exact by one pass over blocks ``(n, L, C)`` of train; used where
        there are too many windows for one array.
      reads_conditions: whether it can be conditioned.
      reads_observed: whether it draws windows given some of their values.
      calibration_hindrance: ``(settings, has_kinds) -> why``, the reason against
        ``train.calibration``, or an empty text.
    """

    name: str
    settings: type
    prepare: Callable[[Any, np.ndarray, np.ndarray | None], Arrays]
    build: Callable[[Any, Shape, Arrays, Training | None], Generator]
    sizes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    per_source: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reads_conditions: bool = True
    reads_observed: bool = False
    pass_over: Callable[[Any, Arrays, Iterable[np.ndarray]], Arrays] = lambda settings, arrays, _: (
        arrays
    )
    calibration_hindrance: Callable[[Any, bool], str] = lambda settings, has_kinds: (
        f"is not for model.name={settings.model.name!r}, which has nothing to calibrate"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "prepare", edges.checked(self.prepare))
