"""What a run tells: a live line, ``metrics.jsonl``, and TensorBoard where it is installed."""

import importlib.util
import json
import math
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from tqdm import tqdm

from pacodi_jax.checkpoint import write_text
from pacodi_jax.errors import PacodiError

#: Seconds between two plain lines where the output is no terminal.
_PLAIN_EVERY = 10.0


def cut_metrics(path: Path, step: int) -> None:
    """Drops what ``path`` says of steps after ``step``, and a line that a kill left half-written.

    A resumed run takes those steps again; each step is told once.
    """
    if not path.exists():
        return
    kept = []
    for line in path.read_text().splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except (json.JSONDecodeError, KeyError, TypeError):
            continue
    write_text(path, "".join(kept))


def duration(seconds: float) -> str:
    """Returns ``"1 h 02 min"``, ``"3 min 20 s"``, ``"12 s"`` or ``"1.4 s"``."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


class Recorder:
    """Writes the metrics of a run and shows how it goes; silent on all processes but the first.

    Args:
      workdir: the run's folder.
      first: the step the run starts from.
      steps: the step it ends at.
      active: False writes and shows nothing.
    """

    def __init__(self, workdir: Path, first: int, steps: int, *, active: bool = True):
        self._active = active
        self._steps = steps
        self._live = sys.stderr.isatty()
        self._told = time.monotonic()
        if not active:
            return
        path = workdir / "metrics.jsonl"
        cut_metrics(path, first)
        self._file = path.open("a", buffering=1)
        self._board = _tensorboard(workdir)
        self._bar = tqdm(
            total=steps, initial=first, unit="step", disable=not self._live, dynamic_ncols=True
        )

    def write(self, step: int, metrics: dict[str, float]) -> None:
        """Adds one line to ``metrics.jsonl``; numbers that are not finite become null."""
        if not self._active:
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
            for name, value in metrics.items():
                self._board.add_scalar(name, value, step)

    def say(self, text: str) -> None:
        """Prints one line above the live one."""
        if self._active:
            self._bar.write(text) if self._live else print(text, flush=True)

    def show(
        self, step: int, loss: float, per_second: float, left: float, saved: int | None
    ) -> None:
        """Shows the live line: step, loss, windows a second, time left, last checkpoint."""
        if not self._active:
            return
        kept = "no checkpoint yet" if saved is None else f"checkpoint {saved}"
        text = f"loss {loss:.4f}, {per_second:,.0f} windows/s, {kept}"
        if self._live:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(step - self._bar.n)
        elif step == self._steps or time.monotonic() - self._told >= _PLAIN_EVERY:
            self._told = time.monotonic()
            print(f"step {step}/{self._steps}, {text}, {duration(left)} left", flush=True)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._active:
            return
        self._bar.close()
        self._file.close()
        if self._board is not None:
            self._board.close()


def _tensorboard(workdir: Path) -> Any:
    """Returns a TensorBoard writer, or None where tensorboardX is not installed."""
    if importlib.util.find_spec("tensorboardX") is None:
        return None
    from tensorboardX import SummaryWriter

    return SummaryWriter(str(workdir / "tensorboard"))
