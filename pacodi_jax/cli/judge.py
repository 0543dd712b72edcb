"""Judges synthetic windows of any generator by two files.

Files are arrays (.npy, .npz) of windows (N, L, C) or (N, L), or tables (.csv, .parquet) with one
row per step: a 'window' column says which rows belong together, or --length cuts windows.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pacodi_jax.cli.options import Parser, guarded
from pacodi_jax.errors import printable

if TYPE_CHECKING:
    from pacodi_jax.report.judgement import Verdict


def _parser(prog: str) -> argparse.ArgumentParser:
    example = f"{prog} real.npy synthetic.npy --held-out later.npy --out verdict"
    parser = Parser(prog, str(__doc__), example)
    add = parser.add_argument
    add("real", type=Path, help="windows the generator was trained on")
    add("synthetic", type=Path, nargs="+", help="windows it made, in the same units; or several")
    add("--held-out", type=Path, help="real windows it did not see")
    add("--out", type=Path, default=Path("judge"), help="folder of the report (judge)")
    add("--length", type=int, help="steps per window, for tables without a 'window' column")
    add("--seeds", type=int, default=5, help="complete runs of every score (5)")
    add("--windows", type=int, default=3000, help="the most windows per side (3000)")
    add("--protocol", default="judge", help="a label shown with every score (judge)")
    add("--cache", type=Path, help="folder of encoders, floors and ceilings")
    add("--quick", action="store_true", help="a tenth of the training, 1000 windows; labelled")
    return parser


def run(arguments: argparse.Namespace) -> list[Path]:
    """Reads, scores and writes; returns the paths of what was written."""
    from pacodi_jax import report
    from pacodi_jax.cli.memory import reuse_memory
    from pacodi_jax.report.comparison import compare, names_of
    from pacodi_jax.report.judgement import judge

    reuse_memory()
    options = vars(arguments).copy()
    out = options.pop("out")
    report.check_writable(out)  # now, not after minutes of scoring
    made = options.pop("synthetic")
    if len(made) == 1:
        verdict = judge(synthetic=made[0], **options, progress=True)
        _tell(verdict)
        return verdict.write(out)
    found = compare(
        synthetic=dict(zip(names_of(made), made, strict=True)), **options, progress=True
    )
    for name, verdict in found.verdicts.items():
        print(f"== {printable(name)}")
        _tell(verdict)
    return found.write(out)


def _tell(verdict: "Verdict") -> None:
    """Prints the notes and the sentences of a verdict."""
    print(*map(printable, (*verdict.notes, *(verdict.panel.verdict or ()))), sep="\n")


def main(argv: Sequence[str], prog: str = "python -m pacodi_jax.judge") -> int:
    """The command; returns the exit code, 2 for a mistake in the input."""
    return guarded(lambda: print("wrote", *run(_parser(prog).parse_args(argv))))


def command() -> int:
    """The command with its arguments read from ``sys.argv``."""
    return main(sys.argv[1:])
