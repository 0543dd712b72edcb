"""``pacodi flops``: counts and times the networks beside a temporal one.

python -m pacodi_jax.flops --lengths 24,64,128,256,512,1024,4096 [--out DIR]
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pacodi_jax.cli.options import Parser, guarded
from pacodi_jax.errors import PacodiError

_SIZES = [
    ("channels", 7, "channels of a window"),
    ("width", 128, "width of a token"),
    ("depth", 4, "blocks"),
    ("heads", 4, "attention heads"),
    ("tokens", 4096, "time steps of a timed batch, over all its windows"),
    ("rounds", 7, "timed rounds; 0 counts operations only"),
]


def _parse(arguments: Sequence[str], prog: str) -> argparse.Namespace:
    parser = Parser(
        prog,
        "Counts the operations of the networks per window length, and times them.",
        f"{prog} --lengths 24,128,1024 --rounds 0",
    )
    parser.add_argument("--lengths", required=True, help="window lengths, separated by commas")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("runs/flops"),
        help="folder for the table and picture (runs/flops)",
    )
    for name, value, text in _SIZES:
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{text} ({value})")
    return _checked(parser.parse_args(arguments))


def _checked(options: argparse.Namespace) -> argparse.Namespace:
    """The options, the lengths as numbers.

    Raises:
      PacodiError: for the first that cannot work.
    """
    try:
        options.lengths = [int(length) for length in options.lengths.split(",")]
    except ValueError:
        raise PacodiError(f"--lengths={options.lengths!r}: whole numbers and commas.") from None
    if min(options.lengths) < 1:
        raise PacodiError(f"--lengths has {min(options.lengths)}; a window has at least 1 step.")
    for name in ("channels", "width", "depth", "heads", "tokens"):
        if getattr(options, name) < 1:
            raise PacodiError(f"--{name}={getattr(options, name)} must be at least 1.")
    if options.rounds < 0:
        raise PacodiError(f"--rounds={options.rounds} must not be negative.")
    return options


def save(table: list[dict[str, Any]], settings: dict[str, Any], folder: Path) -> None:
    """Writes ``flops.json`` and ``flops.png``, each whole or not at all."""
    import jax

    from pacodi_jax import files
    from pacodi_jax.report.costs import draw

    content = {"settings": settings, "platform": jax.devices()[0].device_kind, "rows": table}
    print(files.write_text(folder / "flops.json", json.dumps(content, indent=1)))
    print(files.write(folder / "flops.png", lambda path: draw(table, path)))


def _run(arguments: Sequence[str], prog: str) -> None:
    options = _parse(arguments, prog)
    from pacodi_jax.cli import network_costs
    from pacodi_jax.cli.memory import reuse_memory
    from pacodi_jax.report import check_folder

    check_folder(options.out)  # before minutes of measuring
    reuse_memory()
    print(network_costs.LEGEND, network_costs.format_row(), sep="\n")
    table = network_costs.measure(options)
    settings = {k: v for k, v in vars(options).items() if k != "out"}
    save(table, settings, options.out)


def main(arguments: Sequence[str], prog: str = "python -m pacodi_jax.flops") -> int:
    """Runs the command and returns its exit code."""
    return guarded(lambda: _run(arguments, prog))


def command() -> int:
    """The command with its arguments read from ``sys.argv``."""
    return main(sys.argv[1:])
