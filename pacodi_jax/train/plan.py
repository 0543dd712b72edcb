"""What is asked of a run, and how it ended."""

from typing import Any, NamedTuple


class Settings(NamedTuple):
    """How long and how carefully to train.

    Attributes:
      steps: where the run ends.
      batch_size: windows a step, over all devices.
      seed: of the initial weights and all randomness of training.
      checkpoint_every: steps between two checkpoints.
      validate_every: steps between two validations.
      keep: how many of the newest to keep, beside the best.
      log_every: steps between two lines of metrics, at least.
      chunk: steps in one dispatch; 0 chooses from what the first steps measure.
      backend: ``'pmap'`` or ``'shard_map'``.
      max_skips: so many non-finite steps in a row end the run.
      watchdog: seconds without a finished chunk that end one process of several; 0 is never.
    """

    steps: int
    batch_size: int
    seed: int
    checkpoint_every: int
    validate_every: int
    keep: int = 3
    log_every: int = 100
    chunk: int = 0
    backend: str = "pmap"
    max_skips: int = 20
    watchdog: float = 300.0


class Run(NamedTuple):
    """How a run ended.

    Attributes:
      step: the last step taken.
      state: the training state there, numpy arrays.
      first: the step it started from; equal to ``step`` if there was nothing left to do.
      signal: the signal that ended it, or None.
    """

    step: int
    state: Any
    first: int
    signal: str | None
