"""Graceful stops: SIGTERM and SIGINT are noted, and the loop ends after the current chunk."""

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType

#: Seconds in which a further signal is taken for an echo of the first: Ctrl-C reaches a program
#: from the terminal and again from the script that started it, schedulers signal twice as well.
_ECHO = 2.0


class Signals:
    """Notes the first SIGTERM or SIGINT; another one, when no echo, interrupts at once.

    Attributes:
      received: the name of the signal, or None.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.received: str | None = None
        self._clock, self._first = clock, 0.0
        self._before: dict[int, object] = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.received is None:
            self.received, self._first = signal.Signals(number).name, self._clock()
        elif self._clock() - self._first > _ECHO:
            raise KeyboardInterrupt

    def __enter__(self) -> "Signals":
        for number in (signal.SIGTERM, signal.SIGINT):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
