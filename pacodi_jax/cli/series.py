"""What ``pacodi simulate``, ``impute`` and ``forecast`` share: options, tables and pictures."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pacodi_jax.cli.news import tell
from pacodi_jax.cli.options import Parser, add_quotes, add_settings, folder_of
from pacodi_jax.errors import PacodiError

if TYPE_CHECKING:
    import pandas as pd

    from pacodi_jax.run.trained import Trained
    from pacodi_jax.series.answers import Answer
    from pacodi_jax.series.history import History


def options(prog: str, text: str, example: str, *, table: str = "") -> Parser:
    """The parser of a command, with the options that all three have.

    Args:
      prog: as it is called.
      text: what it does.
      example: of a call.
      table: what the table is that it reads; empty if it reads none.
    """
    parser = Parser(prog, text, example)
    parser.add_argument("run", type=Path, help="folder of a run, or a .pacodi file")
    if table:
        parser.add_argument("table", help=f"{table}: a file, or a catalogue name")
    parser.add_argument("--seed", type=int, help="of the draws (the run's)")
    parser.add_argument("--overlap", type=int, help="steps that windows share (half a window)")
    parser.add_argument("--out", help="folder to write into (beside the run)")
    add_quotes(parser)
    add_settings(parser)
    return parser


def quantiles_of(text: str | None) -> tuple[float, ...] | None:
    """Reads numbers between commas.

    Raises:
      PacodiError: for what is no number.
    """
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise PacodiError(f"--quantiles={text!r}; write numbers such as 0.1,0.5,0.9.") from None


def run(
    given: argparse.Namespace,
    what: str,
    ask: "Callable[[Trained, dict[str, Any]], Answer]",
    draw: "Callable[[Trained, Answer, Path], Path | None]",
) -> None:
    """Loads the model, asks it, and writes ``WHAT/WHAT.csv`` (or the like) and a picture.

    Args:
      given: the options.
      what: the folder and the files are called so.
      ask: makes the request; its second argument holds what all three have in common.
      draw: makes the picture in a folder.
    """
    from pacodi_jax import report
    from pacodi_jax.cli import work
    from pacodi_jax.cli.memory import reuse_memory
    from pacodi_jax.cli.sample import how_of
    from pacodi_jax.report.progress import progress_bar
    from pacodi_jax.run import folder
    from pacodi_jax.run.ownership import owned

    work.cache_programs()
    reuse_memory()
    trained = folder.load(given.run)
    place = folder_of(Path(given.out)) if given.out else beside(given.run) / what
    report.check_writable(place)
    request = {"seed": given.seed, "overlap": given.overlap, **how_of(trained, given.set)}
    with progress_bar(what, "window") as show:
        request["progress"] = lambda n, of: show(n, of, "")
        answer = ask(trained, request)
    with owned(place):
        written = [
            _write(trained, answer, place / what, given.quote_formulas),
            draw(trained, answer, place),
        ]
    tell(*(path for path in written if path is not None))


def beside(run: Path) -> Path:
    """The folder of a run, or the one that holds a model file."""
    run = run.expanduser()
    return run if run.is_dir() else run.parent


def _write(trained: "Trained", answer: "Answer", path: Path, quote: bool) -> Path:
    """The table in the source's kind of file; arrays as ``.npy``."""
    from pacodi_jax.data import files, writing

    if answer.table is None or (answer.history is None and trained.recipe.kind in files.ARRAYS):
        return writing.write_array(answer.array, path.with_suffix(".npy"))
    kind = trained.recipe.kind if trained.recipe.kind in files.TABLES else ".csv"
    return writing.write_table(answer.table, path.with_name(path.name + kind), quote=quote)


def show_fan(
    answer: "Answer", channels: Sequence[str], path: Path, *, before: int, after: int, title: str
) -> Path:
    """The fan after the first series, or in the stretch of a series with the most gaps.

    Args:
      answer: draws of the blank cells of a table, or of the steps after it.
      channels: the user's.
      path: of the picture.
      before: rows of the table that are shown.
      after: rows after it that were drawn; 0 if gaps within it were filled.
      title: of the picture; the series' id is put in front.
    """
    import numpy as np

    from pacodi_jax.report import series_pictures

    assert answer.history is not None
    known = answer.history
    which, first = (0, None) if after else _busiest(known, before)
    seen = known.table.values[known.series[which]]
    first = max(len(seen) - before, 0) if first is None else first
    seen, draws = seen[first : first + before], answer.values[which]
    if after:
        past = np.full((len(draws), *seen.shape), np.nan)
        draws = np.concatenate([past, draws], axis=1)
        seen = np.concatenate([seen, np.full((after, seen.shape[1]), np.nan)])
    else:
        draws = draws[:, first : first + before]
    stamps = known.stamps(which, first, len(seen))
    if known.table.ids is not None:
        title = f"{known.table.ids[which]}: {title}"
    return series_pictures.fan(seen, draws, channels, path, stamps=stamps, title=title)


def _busiest(known: "History", width: int) -> tuple[int, int]:
    """The series and the row where the stretch of ``width`` rows with the most blank ones begins.

    Of several such stretches of a series it is the middle one.
    """
    import numpy as np

    most, found = -1, (0, 0)
    for which, rows in enumerate(known.series):
        blank = np.isnan(known.table.values[rows]).any(axis=1)
        counts = np.convolve(blank, np.ones(min(width, len(blank)), int), "valid")
        if counts.max() > most:
            most, best = int(counts.max()), np.flatnonzero(counts == counts.max())
            found = (which, int(best[len(best) // 2]))
    return found


def real_series(trained: "Trained", steps: int) -> "tuple[Any, pd.Index | None] | None":
    """The first steps of the first training series, if the data are at hand."""
    from pacodi_jax.run import parts
    from pacodi_jax.series.show import first_series

    try:
        return first_series(trained, parts.load_windows(trained.config), steps)
    except PacodiError:
        return None
