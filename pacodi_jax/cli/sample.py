"""``pacodi sample``: draws windows from a trained model."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pacodi_jax.cli.options import (
    Parser,
    add_quotes,
    add_settings,
    folder_of,
    guarded,
    parse_settings,
    require_text,
)
from pacodi_jax.errors import PacodiError

if TYPE_CHECKING:
    from pacodi_jax.run.trained import Trained


def _parse(argv: Sequence[str], prog: str) -> argparse.Namespace:
    parser = Parser(
        prog,
        "Draws windows in the user's columns, types and units; a table, an array and a picture.",
        f"{prog} runs/mine -n 1000 --static grade=high --set sample.steps=50",
    )
    parser.add_argument("run", type=Path, help="folder of a run, or a .pacodi file")
    parser.add_argument("-n", "--samples", type=int, help="windows to draw (1000)")
    parser.add_argument("--static", help="column=value,column=value; the others as in train")
    parser.add_argument("--text", help="draw windows that this text describes")
    parser.add_argument("--start", help="first stamp of every window, such as 2027-01-01")
    parser.add_argument("--seed", type=int, help="of the draw (the run's)")
    parser.add_argument("--shard", help="i/n: draw part i of n of the windows alone, i from 0")
    parser.add_argument("--out", help="folder of the samples (RUN/samples, or RUN/samples-i-of-n)")
    add_quotes(parser)
    add_settings(parser)
    return parser.parse_args(argv)


def how_of(trained: "Trained", pairs: Sequence[str], *, counts: bool = False) -> dict[str, Any]:
    """The settings of the ``sample`` section in ``--set``; others cannot change any more.

    Args:
      trained: the model.
      pairs: as they were typed.
      counts: whether ``sample.count`` has a meaning for the command.
    """
    how = {}
    for name, text in parse_settings(pairs).items():
        section, _, key = name.partition(".")
        if section != "sample":
            raise PacodiError(f"--set {name}: the model is trained; only sample.* can change.")
        if key == "count" and not counts:
            raise PacodiError(f"--set {name}: this command has another flag for it, see --help.")
        how[key] = trained.config.sample.parse(key, text)
    return how


def _run(argv: Sequence[str], prog: str) -> None:
    options = _parse(argv, prog)
    from pacodi_jax.cli import work
    from pacodi_jax.cli.memory import reuse_memory
    from pacodi_jax.run import folder
    from pacodi_jax.run.shards import Shard

    require_text("--out", options.out)
    work.cache_programs()
    reuse_memory()
    trained = folder.load(options.run)
    asked = (options.samples, options.seed, options.text, options.static, options.start)
    shard = None if options.shard is None else Shard.parse(options.shard)
    wish = work.Wish(*asked, options.quote_formulas, shard)
    run = options.run.expanduser()
    beside = run if run.is_dir() else run.parent
    own = "samples" if shard is None else f"samples-{shard.number}-of-{shard.parts}"
    place = folder_of(Path(options.out)) if options.out else beside / own
    work.sample(trained, place, wish, how_of(trained, options.set, counts=True))


def main(argv: Sequence[str], prog: str = "pacodi sample") -> int:
    """Runs the command; returns its exit code."""
    return guarded(lambda: _run(argv, prog))
