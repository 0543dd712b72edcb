"""A progress bar for scoring, silent where nobody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Gives the ``progress`` function that ``score_panel`` calls with (done, in all, label)."""
    with tqdm(desc="scoring", unit="score", disable=not sys.stderr.isatty()) as bar:

        def progress(done: int, total: int, label: str) -> None:
            bar.total = total
            bar.set_postfix_str(label.split("/")[0])
            bar.update(done - bar.n)

        yield progress
