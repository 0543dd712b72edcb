"""What makes two runs different ones, and what may change when a run is resumed."""

from typing import Any

from pacodi_jax.settings.together import Config, flatten

#: Settings that may change when a run is resumed; a data file may move, its content may not.
FREE = (
    "data.path",
    "data.stream",
    "train.steps",
    "train.chunk",
    "train.checkpoint_every",
    "train.keep",
    "train.log_every",
    "train.validate_every",
    "train.max_skips",
    "train.backend",
    "sample",
    "evaluate",
)
#: Those of them that change nothing once a model is trained.
AFTERWARDS = tuple(name for name in FREE if name != "sample")


def _is_among(name: str, names: tuple[str, ...]) -> bool:
    """Whether a setting, or its whole section, is among ``names``."""
    return any(name == other or name.startswith(f"{other}.") for other in names)


def first_difference(
    before: Config, now: Config, free: tuple[str, ...] = FREE
) -> tuple[str, Any, Any] | None:
    """The first setting that makes another run, with both values; None if there is none.

    Args:
      before: the settings of the run.
      now: those that are asked for.
      free: settings, or whole sections, that may differ.
    """
    old, new = flatten(before.to_dict()), flatten(now.to_dict())
    if before.train.warmup_updates == now.train.warmup_updates:  # a share, or the number it gives
        old["train.warmup"] = new["train.warmup"]
    for name in sorted(old.keys() | new.keys()):
        if not _is_among(name, free) and old.get(name) != new.get(name):
            return name, old.get(name), new.get(name)
    return None
