"""How training shows what it does: a terminal, a progress bar in a notebook, or nothing."""

import logging
import sys
import time
from typing import Any, Protocol

from pacodi_jax.errors import printable
from pacodi_jax.report.numbers import duration

#: Seconds between two plain lines where the output is no terminal.
_PLAIN_EVERY = 10.0
_LOG = logging.getLogger("pacodi_jax")


class Display(Protocol):
    """What training tells as it goes."""

    def start(self, first: int, steps: int) -> None:
        """Training goes from step ``first`` to ``steps``."""
        ...

    def say(self, text: str) -> None:
        """One line of news."""
        ...

    def show(
        self, step: int, loss: float, per_second: float, left: float, saved: int | None
    ) -> None:
        """The state of things: step, loss, windows per second, seconds left, last checkpoint."""
        ...

    def stop(self) -> None:
        """Training has ended."""
        ...


class Silent:
    """Says nothing; news goes to the logger ``pacodi_jax``."""

    def start(self, first: int, steps: int) -> None:
        """Shows nothing."""

    def say(self, text: str) -> None:
        """Logs a line."""
        _LOG.info(printable(text))

    def show(
        self, step: int, loss: float, per_second: float, left: float, saved: int | None
    ) -> None:
        """Shows nothing."""

    def stop(self) -> None:
        """Shows nothing."""


class Bar(Silent):
    """A progress bar, as a widget in a notebook and as text elsewhere."""

    _bar: Any = None

    def start(self, first: int, steps: int) -> None:
        """Opens the bar."""
        from tqdm.auto import tqdm

        self._bar = tqdm(total=steps, initial=first, unit="step", dynamic_ncols=True)

    def show(
        self, step: int, loss: float, per_second: float, left: float, saved: int | None
    ) -> None:
        """Moves the bar."""
        told = _state(loss, per_second)
        told += "" if saved is None else f", checkpoint {saved}"
        self._bar.set_postfix_str(told, refresh=False)
        self._bar.update(step - self._bar.n)

    def stop(self) -> None:
        """Closes the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Terminal(Bar):
    """For commands: a live line on a terminal, plain lines elsewhere, news printed."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._told = time.monotonic()
        self._steps = 0

    def start(self, first: int, steps: int) -> None:
        """Opens the live line."""
        self._steps = steps
        if self._live:
            super().start(first, steps)

    def say(self, text: str) -> None:
        """Prints a line above the live one."""
        text = printable(text)
        if self._bar is not None:
            self._bar.write(text)
        else:
            print(text, flush=True)

    def show(
        self, step: int, loss: float, per_second: float, left: float, saved: int | None
    ) -> None:
        """Moves the live line, or prints a plain one now and then."""
        if self._live:
            super().show(step, loss, per_second, left, saved)
        elif step == self._steps or time.monotonic() - self._told >= _PLAIN_EVERY:
            self._told = time.monotonic()
            kept = "no checkpoint yet" if saved is None else f"checkpoint {saved}"
            told = f"{_state(loss, per_second)}, {kept}, {duration(left)} left"
            print(f"step {step}/{self._steps}, {told}", flush=True)


def _state(loss: float, per_second: float) -> str:
    return f"loss {loss:.4f}, {per_second:,.0f} windows/s"
