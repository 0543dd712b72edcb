"""The command ``pacodi``: one word per thing to do. What it does is imported when it is done."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple


class Command(NamedTuple):
    """A word of the command line.

    Attributes:
      module: its module has ``main(argv, prog) -> exit code``.
      help: what it does.
    """

    module: str
    help: str


COMMANDS = {
    "describe": Command("describe", "look at a table before training on it"),
    "train": Command("train", "learn from a table or a data set of the catalogue"),
    "sample": Command("sample", "draw windows from a trained model"),
    "simulate": Command("simulate", "draw whole series of any length, or continue a table"),
    "impute": Command("impute", "fill the gaps of a table"),
    "forecast": Command("forecast", "the next steps of a table, with their uncertainty"),
    "judge": Command("judge", "score anyone's synthetic data against real data"),
    "show": Command("show", "write a page to look at a trained model, one HTML file"),
    "export": Command("export", "write a sampler that runs without this package"),
    "flops": Command("flops", "count and time the networks"),
}

_USAGE = """usage: pacodi COMMAND …

Synthetic time series from your table, in its columns, types and units.

{commands}

example:
  pacodi describe mine.csv --time=date
  pacodi train mine.csv --time=date --out=runs/mine
  pacodi sample runs/mine -n 1000

pacodi COMMAND --help says more. Documentation: README.md.
"""


def usage() -> str:
    """What ``pacodi --help`` prints."""
    rows = [f"  {name:<10}{command.help}" for name, command in COMMANDS.items()]
    return _USAGE.format(commands="\n".join(rows))


def main(argv: Sequence[str]) -> int:
    """Runs a command; returns its exit code: 0, or 2 for a mistake in what was given."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(usage(), end="")
        return 0 if argv else 2
    if argv[0] == "--version":
        from pacodi_jax import __version__

        print(f"pacodi {__version__}")
        return 0
    name, *rest = argv
    if name not in COMMANDS:
        from pacodi_jax.errors import nearest

        known = ", ".join(COMMANDS)
        print(
            f"error: unknown command {name!r}; known: {known}.{nearest(name, COMMANDS)}",
            file=sys.stderr,
        )
        return 2
    module = import_module(f"pacodi_jax.cli.{COMMANDS[name].module}")
    run: Callable[[Sequence[str], str], int] = module.main
    return run(rest, f"pacodi {name}")


def command() -> int:
    """The command with its arguments read from ``sys.argv``."""
    return main(sys.argv[1:])


def script() -> None:
    """The console script."""
    from pacodi_jax.cli import start

    start.run("pacodi_jax.cli.pacodi")
