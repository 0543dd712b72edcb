"""Ends a process whose peers are alive but stuck, since a collective cannot be interrupted."""

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

#: The exit code of a process that gave up on its peers (``EX_TEMPFAIL``: run it again).
STUCK = 75


def _leave(message: str) -> None:
    """Prints why and ends the process at once, without exit handlers, which could hang as well."""
    print(f"error: {message}", file=sys.stderr, flush=True)
    faulthandler.dump_traceback(file=sys.stderr, all_threads=False)
    os._exit(STUCK)


class Watchdog:
    """Calls ``on_stuck`` if :meth:`beat` is not called for ``seconds``.

    Use it as a context manager around the training loop and beat after every finished chunk.

    Attributes:
      seconds: the longest silence allowed between two beats; 0 turns the watchdog off.
      first: the longest silence allowed before the first beat, which includes compilation.
    """

    def __init__(
        self,
        seconds: float,
        first: float | None = None,
        on_stuck: Callable[[str], None] = _leave,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.seconds = seconds
        self.first = seconds if first is None else max(first, seconds)
        self._on_stuck = on_stuck
        self._clock = clock
        self._allowed = self.first
        self._heard = clock()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def beat(self) -> None:
        """Records that a chunk of steps was finished."""
        self._heard, self._allowed = self._clock(), self.seconds

    def silence(self) -> float:
        """Returns the seconds left before ``on_stuck`` is called; negative once they are over."""
        return self._heard + self._allowed - self._clock()

    def _watch(self) -> None:
        while (left := self.silence()) > 0:
            if self._wake.wait(min(left, self.seconds)):  # a beat may shorten what is allowed
                return
        self._on_stuck(
            f"no step was finished for {self._allowed:g} seconds: another process of this job "
            "hangs or is gone. The last checkpoint is intact; run the same command again to resume."
        )

    def __enter__(self) -> "Watchdog":
        self.beat()
        self._allowed = self.first
        if self.seconds > 0:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
