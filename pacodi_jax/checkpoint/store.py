"""A folder of sealed training states, written in the background by orbax.

Only process 0 reads and writes it, so the folder need not be shared between hosts. States are
trees of numpy arrays, so they restore on any number of devices.
"""

import contextlib
import logging
import shutil
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import orbax.checkpoint as ocp

from pacodi_jax.checkpoint import digest
from pacodi_jax.checkpoint.disk import require_room
from pacodi_jax.checkpoint.retention import LastAndBest
from pacodi_jax.errors import PacodiError

_DAMAGED = ".damaged"


def _is_news(record: logging.LogRecord) -> bool:
    """Not so what orbax warns of at every save by one process: it has nothing to merge."""
    return "Skipping merge of OCDBT" not in str(record.msg)


logging.getLogger("absl").addFilter(_is_news)


class Checkpoint(NamedTuple):
    """A restored training state."""

    step: int
    state: Any
    metadata: dict[str, Any]


class Checkpoints:
    """The checkpoints of one run.

    Args:
      folder: where they lie; made if absent, unless ``read_only``.
      keep: how many of the newest to keep, beside the best.
      read_only: look, but change nothing.
    """

    def __init__(self, folder: str | Path, keep: int = 3, *, read_only: bool = False):
        self.folder = Path(folder).absolute()
        self._read_only = read_only
        self._policy = LastAndBest(keep)
        self._pending: int | None = None
        if not read_only:
            self._make()
        options = ocp.CheckpointManagerOptions(
            create=False,
            read_only=read_only,
            preservation_policy=self._policy,
            lightweight_initialize=True,
            save_root_metadata=False,
            multiprocessing_options=ocp.options.MultiprocessingOptions(
                primary_host=0, active_processes={0}, barrier_sync_key_prefix="checkpoints"
            ),
        )
        self._manager = ocp.CheckpointManager(self.folder, options=options)
        for step in self.steps():
            self._note_metric(step)

    def _make(self) -> None:
        """Makes the folder, and removes what a killed save left behind: it never counted."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = "it is a file" if self.folder.is_file() else error.strerror
            raise PacodiError(f"{self.folder} is no folder to write into: {reason}.") from error
        for path in self.folder.glob("*.orbax-checkpoint-tmp*"):
            shutil.rmtree(path, ignore_errors=True)

    def steps(self) -> list[int]:
        """Returns the stored steps, rising, damaged ones among them."""
        if not self.folder.is_dir():
            return []
        return sorted(int(path.name) for path in self.folder.iterdir() if path.name.isdigit())

    def save(
        self, step: int, state: Any, metadata: dict[str, Any], metric: float | None = None
    ) -> None:
        """Starts to save ``state`` in the background; it counts only once it is durable.

        Args:
          step: the step it belongs to; saving a stored step again does nothing.
          state: a tree of numpy arrays that nothing else writes to.
          metadata: a JSON value that travels with it.
          metric: what the best step is chosen by, smaller being better.

        Raises:
          PacodiError: if there is no room, or an earlier save has failed.
        """
        self.finish()
        if step in self.steps():
            return
        arrays = digest.flatten(state)
        sealed = digest.seal(arrays, {"step": step, "metric": metric, "user": metadata})
        packed = digest.pack(arrays)
        require_room(self.folder, packed.nbytes)
        if metric is not None:
            self._policy.metrics[step] = metric
        self._pending = step
        self._guard(
            lambda: self._manager.save(
                step,
                args=ocp.args.Composite(
                    state=ocp.args.ArraySave(packed), seal=ocp.args.JsonSave(sealed)
                ),
                force=True,
            )
        )

    def check(self) -> int | None:
        """Returns the newest durable step; costs nothing while a save is under way.

        Raises:
          PacodiError: if the last save has failed. Orbax itself keeps silent until the next one.
        """
        if self._pending is not None and not self._manager.is_saving_in_progress():
            self.finish()
        stored = [step for step in self.steps() if step != self._pending]
        return max(stored, default=None)

    def finish(self) -> None:
        """Waits until the last save is durable.

        Raises:
          PacodiError: if it has failed.
        """
        if self._pending is None:
            return
        self._guard(self._manager.wait_until_finished)
        step, self._pending = self._pending, None
        if step not in self.steps():
            raise PacodiError(f"the checkpoint of step {step} did not reach {self.folder}.")

    def _guard(self, action: Any) -> None:
        try:
            action()
        except Exception as error:
            step, self._pending = self._pending, None
            raise PacodiError(
                f"the checkpoint of step {step} could not be written to {self.folder}: "
                f"{_cause(error)}. Earlier checkpoints are intact; make room and run the same "
                "command again."
            ) from error

    def restore(self, template: Any, step: int | None = None) -> Checkpoint | None:
        """Returns the newest step that is whole, or None if nothing was ever saved.

        A damaged step is passed over with a warning and, unless the folder is read-only, set
        aside as ``<step>.damaged``, so that it neither counts nor hinders saving that step again.

        Args:
          template: a tree with the structure, shapes and dtypes of the state.
          step: this step and no other.

        Raises:
          PacodiError: if steps exist and none is whole, or they hold another model.
        """
        self.finish()
        damaged: dict[int, str] = {}
        for candidate in [step] if step is not None else self.steps()[::-1]:
            try:
                found = self._read(candidate, template)
            except digest.Damaged as error:
                damaged[candidate] = str(error)
                continue
            self._set_aside(damaged)
            return found
        if damaged:
            listed = "; ".join(f"step {s}: {why}" for s, why in damaged.items())
            raise PacodiError(
                f"no checkpoint in {self.folder} is whole ({listed}). Restore the folder from a "
                "copy, or start afresh with another --workdir."
            )
        return None

    def _read(self, step: int, template: Any) -> Checkpoint:
        """Reads one step and proves it."""
        sealed = self._seal(step)
        digest.require_same_shapes(template, sealed, f"{self.folder}/{step}")
        wanted = ocp.args.Composite(state=ocp.args.ArrayRestore())
        try:
            packed = np.asarray(self._manager.restore(step, args=wanted).state)
        except Exception as error:
            raise digest.Damaged(_cause(error)) from error
        arrays = digest.unpack(packed, sealed)
        return Checkpoint(step, digest.unflatten(template, arrays), sealed["metadata"]["user"])

    def _seal(self, step: int) -> dict[str, Any]:
        """Reads the seal of one step."""
        try:
            sealed = self._manager.restore(
                step, args=ocp.args.Composite(seal=ocp.args.JsonRestore())
            ).seal
        except Exception as error:
            raise digest.Damaged(_cause(error)) from error
        if digest.open_seal(sealed)["metadata"]["step"] != step:
            raise digest.Damaged("its seal belongs to another step")
        return sealed

    def _note_metric(self, step: int) -> None:
        try:
            metric = self._seal(step)["metadata"]["metric"]
        except digest.Damaged:
            return
        if metric is not None:
            self._policy.metrics[step] = metric

    def _set_aside(self, damaged: dict[int, str]) -> None:
        for step, why in damaged.items():
            warnings.warn(
                f"the checkpoint of step {step} is damaged and was passed over: {why}",
                stacklevel=3,
            )
            if not self._read_only:
                place = self.folder / f"{step}{_DAMAGED}"
                shutil.rmtree(place, ignore_errors=True)
                (self.folder / str(step)).rename(place)
        if damaged and not self._read_only:
            self._manager.reload()

    def close(self) -> None:
        """Waits for the last save and lets go of the folder."""
        self.finish()
        self._manager.close()

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
            return
        with contextlib.suppress(Exception):  # the error under way is the one to hear of
            self._manager.close()


def _cause(error: Exception) -> str:
    """Returns the first line of an error, short enough for a message."""
    text = str(error).strip().splitlines()[:1]
    return (text[0] if text else type(error).__name__)[:300]
