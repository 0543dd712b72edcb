"""``pacodi describe``: looks at a table before training on it.

``python -m pacodi_jax.data describe --source=table --path=mine.csv`` is the same command.
"""

import argparse
import dataclasses
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from pacodi_jax.cli.options import Parser, add_columns, guarded
from pacodi_jax.errors import choose, printable

_HELP = ("-h", "--help")
_COLUMNS = ("time", "id", "static", "channels", "length")
_OTHERS = (
    "Every other setting of the data is an option, too: --max_gap=5 --split=series --missing=-200."
)


def _parse(argv: Sequence[str], prog: str, others: Iterable[str] = ()) -> argparse.Namespace:
    """The options; ``others`` are settings of the data that the help does not list."""
    parser = Parser(
        prog,
        "Says what a table holds, how it would be cut and scaled, and draws a picture of it.",
        f"{prog} mine.csv --time=date --length=48",
    )
    parser.add_argument("table", nargs="?", help="a file, or a preset such as etth1")
    add_columns(parser)
    for name in others:
        if name not in _COLUMNS:
            parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    parser.add_argument("--seed", help="of generated sources and splits over series")
    parser.add_argument("--png", type=Path, default=Path("describe.png"), help="the picture")
    parser.epilog = f"{parser.epilog}\n\n{_OTHERS}"
    return parser.parse_args(argv)


def _run(argv: Sequence[str], prog: str) -> None:
    if any(word in _HELP for word in argv):
        _parse(_HELP[:1], prog)  # ends here, before anything heavy is imported
    from pacodi_jax.cli import overrides
    from pacodi_jax.configs import presets
    from pacodi_jax.data import DataSettings, describe
    from pacodi_jax.run import parts
    from pacodi_jax.settings import Config

    spec, texts, rest = overrides.split(argv)
    names = [field.name for field in dataclasses.fields(DataSettings)]
    options = _parse(rest, prog, names)
    given = {f"data.{name}": getattr(options, name) for name in names} | {"seed": options.seed}
    if spec is not None:
        config = overrides.make(spec, texts)
    elif options.table is not None:
        config = presets.config_of(options.table, {}).parsed(texts)
    else:
        config = Config.default().parsed(texts)
    config = config.parsed({name: text for name, text in given.items() if text is not None})
    found = parts.load_windows(config)
    picture = describe.picture(found, options.png)
    print(printable(f"{describe.text(found)}\n\npicture     {picture}", keep="\n"))


def main(argv: Sequence[str], prog: str = "pacodi describe") -> int:
    """Runs the command; returns its exit code."""
    return guarded(lambda: _run(argv, prog))


def command() -> int:
    """``python -m pacodi_jax.data describe`` with its arguments read from ``sys.argv``."""
    word, *rest = sys.argv[1:] or [""]
    if word in ("-h", "--help"):
        return main([word], "python -m pacodi_jax.data describe")
    code = guarded(lambda: choose("command", word, {"describe": 0}))
    return code or main(rest, "python -m pacodi_jax.data describe")
