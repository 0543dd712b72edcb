"""``pacodi train``: learns from a table, then draws its first windows."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pacodi_jax.cli.options import (
    Parser,
    add_data,
    add_quotes,
    data_texts,
    folder_of,
    guarded,
    parse_settings,
    require_text,
)


def _parse(argv: Sequence[str], prog: str) -> argparse.Namespace:
    parser = Parser(
        prog,
        "Trains a model on a table and draws windows from it. Run again, it goes on where it was.",
        f"{prog} mine.csv --time=date --out=runs/mine --set train.steps=2000",
    )
    add_data(parser)
    parser.add_argument("--out", help="folder of the run (runs/NAME)")
    parser.add_argument("--model", help="family of models (pacodi)")
    parser.add_argument("--size", help="tiny, small, base or large (small)")
    parser.add_argument("--variant", help="sde or ddpm (sde)")
    parser.add_argument("--seed", help="of training and samples (0)")
    parser.add_argument("-n", "--samples", type=int, help="windows to draw at the end (1000)")
    add_quotes(parser)
    parser.add_argument("--score", action="store_true", help="score the samples, too")
    return parser.parse_args(argv)


def _config(options: argparse.Namespace) -> Any:
    """The settings of the preset or the table, changed as asked."""
    from pacodi_jax.configs import presets

    arguments = {name: getattr(options, name) for name in ("model", "size", "variant")}
    texts = data_texts(options) | parse_settings(options.set)
    if options.seed is not None:
        texts["seed"] = options.seed
    return presets.config_of(options.source, arguments).parsed(texts)


def _run(argv: Sequence[str], prog: str) -> int:
    options = _parse(argv, prog)
    from pacodi_jax.cli import work
    from pacodi_jax.cli.memory import reuse_memory
    from pacodi_jax.run import folder

    config = _config(options)
    name = Path(options.source).name.split(".")[0]
    require_text("--out", options.out)
    out = folder_of(Path(options.out or f"runs/{name}"))
    work.cache_programs()
    reuse_memory()
    wish = work.Wish(options.samples, quote=options.quote_formulas)
    steps = ("train", "sample", "evaluate") if options.score else ("train", "sample")
    work.check_wish(config, wish, steps, prog)
    with work.owning(out):
        if not work.train(config, out, wish):
            return 0
        how = config.sample.to_dict()
        trained, asked = folder.load(out), replace(wish, seed=config.seed)
        work.sample(trained, out / "samples", asked, how, again=False, beside=config)
        if options.score:
            work.evaluate(out, config, how, again=False)
    return 0


def main(argv: Sequence[str], prog: str = "pacodi train") -> int:
    """Runs the command; returns its exit code."""
    return guarded(lambda: _run(argv, prog))
