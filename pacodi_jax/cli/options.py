"""Options that several commands share, and how their mistakes end."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from pacodi_jax.cli import news
from pacodi_jax.errors import PacodiError, nearest


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are one line, and whose help keeps its example as it is written."""

    def __init__(self, prog: str, text: str, example: str) -> None:
        super().__init__(
            prog=prog,
            description=text,
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def parse_args(self, args=None, namespace=None):
        """Parses all arguments; an unknown option is refused with the nearest known one."""
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            near = nearest(rest[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(rest)}.{near}".rstrip("."))
        return options

    def error(self, message: str) -> NoReturn:
        """Ends with exit code 2 and one line."""
        raise PacodiError(f"{message}; {self.prog} --help says what there is.")


def guarded(work: Callable[[], int | None]) -> int:
    """Runs a command; a mistake of the user's, the disk or the memory is one line and code 2."""
    try:
        with news.shown():
            return work() or 0
    except PacodiError as error:
        line: str | None = str(error)
    except (OSError, MemoryError, RuntimeError) as error:
        from pacodi_jax.cli import mistakes  # imports JAX, which --help does not wait for

        line = mistakes.told(error)
        if line is None:
            raise
    print(f"error: {line}", file=sys.stderr, flush=True)
    return 2


def add_data(parser: argparse.ArgumentParser) -> None:
    """The options that say what a table's columns are."""
    parser.add_argument("source", help="a CSV, Parquet or NumPy file, or a preset such as etth1")
    add_columns(parser)
    add_settings(parser)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """The options for the columns and the length of windows."""
    parser.add_argument("--time", help="time column, or date,time columns")
    parser.add_argument("--id", help="column that tells series apart")
    parser.add_argument("--static", help="columns that become conditions: a,b")
    parser.add_argument("--channels", help="columns to model: a,b (the others)")
    parser.add_argument("--length", help="steps per window (24)")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Any setting by its full name."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any setting, such as train.steps=2000; may be given often",
    )


def add_quotes(parser: argparse.ArgumentParser) -> None:
    """Whether formulas are quoted in tables."""
    parser.add_argument(
        "--quote-formulas",
        action="store_true",
        help="write names and labels that a spreadsheet takes for formulas as texts",
    )


def data_texts(options: argparse.Namespace) -> dict[str, str]:
    """The settings that the options of :func:`add_data` stand for, as texts."""
    names = ("time", "id", "static", "channels", "length")
    given = {f"data.{name}": getattr(options, name) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """Reads ``name=value`` pairs.

    Raises:
      PacodiError: for a pair without an equals sign.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise PacodiError(f"--set {pair!r}: write NAME=VALUE, such as train.steps=2000.")
        found[name.strip()] = value.strip()
    return found


def require_text(flag: str, value: str | None) -> None:
    """Refuses a path that is there but empty: it would stand for the current folder.

    Raises:
      PacodiError: naming the flag.
    """
    if value is not None and not value.strip():
        raise PacodiError(f"{flag} is empty; name a folder, such as {flag}=runs/mine.")


def folder_of(path: Path) -> Path:
    """The absolute path of a folder on the command line.

    Raises:
      PacodiError: if it is empty or a file.
    """
    if not str(path) or path.is_file():
        raise PacodiError(f"{str(path)!r} is not a folder; name one to write into.")
    return path.expanduser().absolute()
