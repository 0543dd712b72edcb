"""``pacodi show``: one HTML file to look at a trained model."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pacodi_jax.cli.options import Parser, add_settings, guarded, require_text
from pacodi_jax.errors import PacodiError, printable

if TYPE_CHECKING:
    from pacodi_jax.data import Dataset
    from pacodi_jax.metrics.results import Panel
    from pacodi_jax.run.trained import Trained

#: What JSON of any other content ends in when it is read and shown as scores.
_NO_SCORES = (
    *(OSError, ValueError, LookupError, TypeError),
    *(AttributeError, ArithmeticError, RecursionError),
)


def parser_of(prog: str) -> Parser:
    """The options of the command."""
    parser = Parser(
        prog,
        "Writes a page to look at a model: windows, whole series, forecasts, spectra,\n"
        "correlations and scores. It is one file; open it in any browser, no server or network is\n"
        "needed.",
        f"{prog} runs/mine --out mine.html",
    )
    parser.add_argument("run", type=Path, help="folder of a run, or a .pacodi file")
    parser.add_argument("--out", help="the HTML file (RUN/show.html)")
    parser.add_argument("-n", "--windows", type=int, default=500, help="windows to draw (500)")
    parser.add_argument("--span", type=int, help="steps of the whole series (that of 40 windows)")
    parser.add_argument("--seed", type=int, help="of all draws (the run's)")
    add_settings(parser)
    return parser


def _run(argv: Sequence[str], prog: str) -> None:
    given = parser_of(prog).parse_args(argv)
    from pacodi_jax.cli import work
    from pacodi_jax.cli.memory import reuse_memory
    from pacodi_jax.cli.sample import how_of
    from pacodi_jax.cli.series import beside
    from pacodi_jax.run import folder
    from pacodi_jax.series import show

    path = _place(given)
    work.cache_programs()
    reuse_memory()
    trained = folder.load(given.run)
    dataset, notes = _data(trained)
    panel, told = _scores(trained, beside(given.run))
    written = show.write(
        trained,
        path,
        dataset,
        windows=given.windows,
        span=given.span,
        seed=given.seed,
        panel=panel,
        evaluate=show.EVALUATE.format(beside(given.run)),
        notes=notes + told,
        progress=True,
        **how_of(trained, given.set),
    )
    print(written)


def _place(given: argparse.Namespace) -> Path:
    """Where the page goes.

    Raises:
      PacodiError: for a folder.
    """
    from pacodi_jax.cli.series import beside

    require_text("--out", given.out)
    path = Path(given.out).expanduser() if given.out else beside(given.run) / "show.html"
    if path.is_dir():
        raise PacodiError(f"{path} is a folder; name a file, such as {path / 'show.html'}.")
    return path


def _data(trained: "Trained") -> "tuple[Dataset | None, tuple[str, ...]]":
    """The data of the run, if they are where its settings say; else why not."""
    from pacodi_jax.run import parts

    try:
        return parts.load_windows(trained.config), ()
    except PacodiError as error:
        return None, (str(error),)


def _scores(trained: "Trained", run: Path) -> "tuple[Panel | None, tuple[str, ...]]":
    """The scores beside a model, if they are of this very model."""
    path = run / "scores" / "scores.json"
    if not path.is_file():
        return None, ()
    try:
        found = read_scores(path)
    except PacodiError as error:
        return None, (str(error),)
    if found.facts.get("model") != json.loads(json.dumps(trained.facts)):
        return None, (f"{path} scores another model; score this one again.",)
    return found, ()


def read_scores(path: Path) -> "Panel":
    """Reads a ``scores.json`` that can be shown: its file has no seal, so anything may be in it.

    Raises:
      PacodiError: if it is none.
    """
    from pacodi_jax.metrics.results import Panel
    from pacodi_jax.report import page, tables

    try:
        found = Panel.from_json(path.read_text(encoding="utf-8"))
        for split in tables.SPLITS:
            page.table(found, split)
        for line in found.verdict or ():
            printable(line)
    except _NO_SCORES as error:
        raise PacodiError(f"{path} cannot be read: {error}") from error
    return found


def main(argv: Sequence[str], prog: str = "pacodi show") -> int:
    """Runs the command; returns its exit code."""
    return guarded(lambda: _run(argv, prog))
