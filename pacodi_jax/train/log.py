"""What a run keeps of its metrics: ``metrics.jsonl``, and TensorBoard where it is installed."""

import importlib.util
import json
import math
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from pacodi_jax import files
from pacodi_jax.errors import PacodiError

#: At the end of a file, but never through a symbolic link.
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW


def cut_metrics(path: Path, step: int) -> None:
    """Drops what ``path`` says of steps after ``step``, and a line that a kill left half-written.

    A resumed run takes those steps again; each step is recorded once.
    """
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    files.write_text(path, "".join(kept))


class Metrics:
    """Writes the metrics of a run.

    Args:
      workdir: the run's folder; None writes nothing.
      first: the step the run starts from.
    """

    def __init__(self, workdir: Path | None, first: int):
        self._file, self._board = None, None
        if workdir is None:
            return
        path = workdir / "metrics.jsonl"
        try:
            cut_metrics(path, first)
            handle = os.open(path, _APPEND, 0o644)
            self._file = os.fdopen(handle, "a", buffering=1, encoding="utf-8")
            self._board = _tensorboard(workdir)
        except OSError as error:
            self.__exit__(None, None, None)
            place = error.filename or path
            raise PacodiError(f"{place} cannot be written: {error.strerror}.") from error

    def write(self, step: int, metrics: dict[str, float]) -> None:
        """Adds one line; numbers that are not finite become null."""
        if self._file is None:
            return
        finite = {n: v if math.isfinite(v) else None for n, v in metrics.items()}
        try:
            self._file.write(json.dumps({"step": step, **finite}) + "\n")
        except OSError as error:
            raise PacodiError(
                f"{self._file.name} cannot be written: {error.strerror}. The checkpoints are "
                "intact; make room and run the same command again."
            ) from error
        if self._board is not None:
            for name, value in finite.items():
                if value is not None:
                    self._board.add_scalar(name, value, step)

    def __enter__(self) -> "Metrics":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for sink in (self._file, self._board):
            if sink is not None:
                sink.close()


def _tensorboard(workdir: Path) -> Any:
    """Returns a TensorBoard writer, or None where tensorboardX is not installed."""
    if importlib.util.find_spec("tensorboardX") is None:
        return None
    from tensorboardX import SummaryWriter

    return SummaryWriter(str(workdir / "tensorboard"))
