"""A progress bar for long work; plain lines where the output is no terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

#: Seconds between two plain lines.
_PLAIN_EVERY = 15.0


@contextmanager
def progress_bar(
    what: str = "scoring", unit: str = "score"
) -> Iterator[Callable[[int, int, str], None]]:
    """Gives the ``progress`` function that ``score_panel`` calls with (done, in all, label)."""
    live, told = sys.stderr.isatty(), time.monotonic()
    with tqdm(desc=what, unit=unit, disable=not live) as bar:

        def progress(done: int, total: int, label: str) -> None:
            nonlocal told
            if live:
                bar.total = total
                bar.set_postfix_str(label.split("/")[0])
                bar.update(done - bar.n)
            elif time.monotonic() - told >= _PLAIN_EVERY:
                told = time.monotonic()
                print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)

        yield progress
