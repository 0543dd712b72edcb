"""A progress bar for long work, in a terminal or a notebook; plain lines anywhere else."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import TqdmWarning

from pacodi_jax.errors import printable
from pacodi_jax.report.numbers import duration

#: Seconds between two plain lines.
_PLAIN_EVERY = 15.0


def _bar_class() -> Any:
    """The widget in a notebook that can show one, else the bar of a terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TqdmWarning)  # a notebook without widgets gets plain text
        from tqdm.auto import tqdm
    return tqdm


def _in_notebook() -> bool:
    """Whether this program runs in a notebook's kernel, not merely beside its package."""
    interactive = sys.modules.get("IPython")
    return getattr(interactive and interactive.get_ipython(), "kernel", None) is not None


def say(line: str) -> None:
    """Prints a line beside a progress bar, on the error stream."""
    _bar_class().write(printable(line), file=sys.stderr)
    sys.stderr.flush()


@contextmanager
def progress_bar(
    what: str = "scoring", unit: str = "score"
) -> Iterator[Callable[[int, int, str], None]]:
    """Gives the ``progress`` function that ``score_panel`` calls with (done, total, label)."""
    live, printed = sys.stderr.isatty() or _in_notebook(), time.monotonic()
    # When the first part was done, and how much; before it, programs compile.
    first: list[float] = []
    with _bar_class()(desc=what, unit=unit, disable=not live) as bar:

        def progress(done: int, total: int, label: str) -> None:
            nonlocal printed
            first.extend(() if first else (time.monotonic(), done))
            if live:
                bar.total = total
                bar.set_postfix_str(label.split("/")[0])
                bar.update(done - bar.n)
            elif time.monotonic() - printed >= _PLAIN_EVERY:
                printed = time.monotonic()
                since, had = first
                pace = (printed - since) * (total - done)
                left = f", about {duration(pace / (done - had))} to go" if done > had else ""
                print(f"{what}: {done:,} of {total:,}{left}", file=sys.stderr, flush=True)

        yield progress
