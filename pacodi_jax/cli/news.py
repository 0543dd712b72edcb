"""News of the library on the screen: it logs, and a command shows what it logs."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pacodi_jax.errors import printable


class _Stderr(logging.Handler):
    """Prints each record as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Prints a record to what stderr is now."""
        print(printable(self.format(record), keep="\n"), file=sys.stderr, flush=True)


def tell(*lines: object) -> None:
    """Prints lines; control characters in the names that they hold are written out."""
    print(printable("\n".join(map(str, lines)), keep="\n"), flush=True)


@contextmanager
def shown() -> Iterator[None]:
    """Shows the lines of the logger ``pacodi_jax`` on stderr while a command runs."""
    log, handler = logging.getLogger("pacodi_jax"), _Stderr()
    before = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False  # absl's handler would show them a second time
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        log.propagate = before[1]
