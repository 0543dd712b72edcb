"""``pacodi export``: writes a sampler that runs without this package."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pacodi_jax.cli.news import tell
from pacodi_jax.cli.options import Parser, add_settings, guarded
from pacodi_jax.cli.sample import how_of


def _parse(argv: Sequence[str], prog: str) -> argparse.Namespace:
    parser = Parser(
        prog,
        "Writes the sampler of a trained model as one StableHLO file: seed -> windows.",
        f"{prog} runs/mine --out=sampler.stablehlo -n 100",
    )
    parser.add_argument("run", type=Path, help="folder of a run, or a .pacodi file")
    parser.add_argument("--out", type=Path, default=Path("sampler.stablehlo"), help="the file")
    parser.add_argument("-n", "--samples", type=int, default=100, help="windows per call (100)")
    parser.add_argument("--platforms", default="cpu,cuda,tpu", help="cpu,cuda,tpu")
    parser.add_argument("--static", help="column=value,column=value; the others as in train")
    parser.add_argument("--text", help="what the windows should look like")
    add_settings(parser)
    return parser.parse_args(argv)


def _run(argv: Sequence[str], prog: str) -> None:
    options = _parse(argv, prog)
    from pacodi_jax.run import export, folder

    trained = folder.load(options.run)
    static = None if options.static is None else trained.recipe.parse_static(options.static)
    written = export.export(
        trained,
        options.out.expanduser(),
        options.samples,
        platforms=options.platforms.split(","),
        static=static,
        text=options.text,
        **how_of(trained, options.set),
    )
    tell(written)


def main(argv: Sequence[str], prog: str = "pacodi export") -> int:
    """Runs the command; returns its exit code."""
    return guarded(lambda: _run(argv, prog))
