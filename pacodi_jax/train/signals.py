"""A polite end: SIGTERM and SIGINT are noted, and the loop leaves at the next chunk."""

import signal
from types import FrameType, TracebackType


class Signals:
    """Notes the first SIGTERM or SIGINT; a second one interrupts at once.

    Attributes:
      received: the name of the signal, or None.
    """

    def __init__(self) -> None:
        self.received: str | None = None
        self._before: dict[int, object] = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.received:
            raise KeyboardInterrupt
        self.received = signal.Signals(number).name

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
