"""A family that learns nothing and compiles in no time, its command, and a disk that fails."""

import builtins
import errno
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import matplotlib.figure
import numpy as np
import pytest
from orbax.checkpoint._src.multihost import multihost

from pacodi_jax.cli import train, work
from pacodi_jax.config import Section, setting
from pacodi_jax.models import Drawing, Facts, Family, registry
from pacodi_jax.train import log


@dataclass(frozen=True)
class Network(Section, name="model"):
    name: str = setting("still", "the family")


@dataclass(frozen=True)
class Settings:
    model: Network = field(default_factory=Network)
    sample: Drawing = field(default_factory=Drawing)


class State(NamedTuple):
    step: Any
    skipped: Any
    consecutive_skips: Any


class Still:
    def __init__(self, settings, shape, arrays, training):
        self.shape = shape

    def init(self, key, batch):
        return State(*(jnp.zeros((), jnp.int32) for _ in range(3)))

    def update(self, state, batch):
        return state._replace(step=state.step + 1), {"loss": jnp.float32(1.0)}

    def validate(self, state, key, batch):
        return jnp.float32(1.0)

    def weights(self, state):
        return {"weight": state.skipped}

    def sample(self, key, weights, count, condition=None, *, progress=None, **how):
        return np.zeros((count, self.shape.length, self.shape.channels), np.float32)

    def facts(self, **how):
        return Facts(label="", evaluations=1)


FAMILY = Family(
    "still",
    Settings,
    lambda settings, windows, condition: {"mean": np.float32(windows.mean())},
    Still,
    sizes={"small": {}},
)


@contextmanager
def family():
    """Makes the family known, and runs quick: no pictures, no TensorBoard, no kept programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.FAMILIES, "still", FAMILY)
        patch.setattr(work, "cache_programs", lambda: None)
        patch.setattr(matplotlib.figure.Figure, "savefig", _save)
        # Its thread would meet the full disk in the middle of a later test.
        patch.setattr(log, "_tensorboard", lambda *_: None)
        patch.setattr(multihost, "_DEFAULT_BARRIER_TIMEOUT", 1)  # of orbax's thread that waits
        yield


def _save(figure, path, **how):
    """Half the time of a run is drawing; the file is written all the same."""
    with open(path, "wb") as file:
        file.write(b"png")


def command(folder: Path, steps: int = 2, count: int = 2) -> int:
    """``pacodi train`` into ``folder``, on a table beside it; returns its exit code."""
    table = folder.with_name("walk.npy")
    if not table.exists():
        np.save(table, np.random.default_rng(0).normal(size=(300, 1)).cumsum(0))
    settings = {"train.steps": steps, "train.batch": 4, "train.warmup": 0, "data.length": 8}
    settings |= {"train.checkpoint_every": 2, "train.log_every": 1}
    words = [str(table), "--model=still", f"--out={folder}", f"-n{count}"]
    return train.main([*words, *(w for n, v in settings.items() for w in ("--set", f"{n}={v}"))])


class Killed(BaseException):
    """Ends a command at a write."""


class Disk:
    """Counts what a program asks of files under a folder, and fails at one of them.

    Args:
      folder: where it is watched.
      bad: the number of the operation that fails; 0 is none.
      full: whether a file takes nothing that is written, as on a full disk; else opening fails.
      kills: whether the program ends there and then instead, as far as that can be had here.
    """

    def __init__(self, folder: Path, bad: int = 0, *, full: bool = False, kills: bool = False):
        self.folder, self.bad, self.full, self.kills, self.count = str(folder), bad, full, kills, 0

    def _strike(self, place: Any) -> bool:
        if not isinstance(place, str | os.PathLike) or not str(place).startswith(self.folder):
            return False
        self.count += 1
        return self.count == self.bad

    def _fail(self, place: Any) -> None:
        if self.kills:
            raise Killed
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))

    def _open(self, original):
        def opened(file, mode="r", *args, **named):
            if set(mode) & set("wax+") and self._strike(file):
                if not self.full:
                    self._fail(file)
                return original("/dev/full", mode.replace("x", "w"), *args, **named)
            return original(file, mode, *args, **named)

        return opened

    def _call(self, original, writes=lambda *args: True):
        def called(place, *args, **named):
            if not self.full and writes(*args) and self._strike(place):
                self._fail(place)
            return original(place, *args, **named)

        return called

    @contextmanager
    def watched(self):
        """Watches for the time of a run."""
        with pytest.MonkeyPatch.context() as patch:
            for module in (builtins, __import__("io")):
                patch.setattr(module, "open", self._open(open))
            patch.setattr(
                os, "open", self._call(os.open, lambda flags, *_: flags & (os.O_WRONLY | os.O_RDWR))
            )
            for name in ("replace", "rename", "mkdir"):
                patch.setattr(os, name, self._call(getattr(os, name)))
            yield self
