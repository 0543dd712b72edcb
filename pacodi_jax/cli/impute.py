"""``pacodi impute``: fills the gaps of a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pacodi_jax.cli import series
from pacodi_jax.cli.options import guarded

if TYPE_CHECKING:
    from pacodi_jax.run.trained import Trained
    from pacodi_jax.series.answers import Answer


def _run(argv: Sequence[str], prog: str) -> None:
    parser = series.options(
        prog,
        "Fills missing cells and skipped rows; what was observed is untouched. A table and a "
        "picture.",
        f"{prog} runs/mine gaps.csv --quantiles 0.1,0.9",
        table="the table with gaps",
    )
    parser.add_argument("--draws", type=int, default=20, help="completions (20)")
    parser.add_argument("--quantiles", help="further columns, such as 0.1,0.9")
    parser.add_argument("--each", action="store_true", help="write the draws, not their median")
    parser.add_argument("--noise", type=float, help="standard deviation of the observations (0)")
    given = parser.parse_args(argv)
    quantiles = series.quantiles_of(given.quantiles) or ()

    def ask(trained: "Trained", common: dict[str, Any]) -> "Answer":
        from pacodi_jax.series import answers

        return answers.mend(
            trained,
            given.table,
            draws=given.draws,
            quantiles=quantiles,
            each=given.each,
            noise=given.noise,
            **common,
        )

    def draw(trained: "Trained", answer: "Answer", place: Path) -> Path:
        shown = 4 * trained.config.data.length
        return series.show_fan(
            answer,
            trained.recipe.channels,
            place / "impute.png",
            before=shown,
            after=0,
            title=f"the {shown} steps with the most gaps",
        )

    series.run(given, "impute", ask, draw)


def main(argv: Sequence[str], prog: str = "pacodi impute") -> int:
    """Runs the command; returns its exit code."""
    return guarded(lambda: _run(argv, prog))
