"""``pacodi forecast``: the next steps of every series of a table, with their uncertainty."""

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
        "Forecasts the steps after the end of every series of a table; a table and a picture.",
        f"{prog} runs/mine mine.csv --horizon 24",
        table="the table to go on from",
    )
    parser.add_argument("--horizon", type=int, default=24, help="steps (24)")
    parser.add_argument("--draws", type=int, default=200, help="continuations per series (200)")
    parser.add_argument("--quantiles", default="0.1,0.5,0.9", help="of the draws (0.1,0.5,0.9)")
    parser.add_argument("--each", action="store_true", help="write the draws, not their quantiles")
    parser.add_argument("--noise", type=float, help="standard deviation of the observations (0)")
    parser.add_argument("--text", help="what the steps should look like")
    given = parser.parse_args(argv)
    quantiles = series.quantiles_of(given.quantiles) or ()

    def ask(trained: "Trained", common: dict[str, Any]) -> "Answer":
        from pacodi_jax.series import answers

        return answers.predict(
            trained,
            given.table,
            horizon=given.horizon,
            draws=given.draws,
            quantiles=quantiles,
            each=given.each,
            noise=given.noise,
            text=given.text,
            **common,
        )

    def draw(trained: "Trained", answer: "Answer", place: Path) -> Path:
        return series.show_fan(
            answer,
            trained.recipe.channels,
            place / "forecast.png",
            before=3 * trained.config.data.length,
            after=given.horizon,
            title=f"the next {given.horizon} steps",
        )

    series.run(given, "forecast", ask, draw)


def main(argv: Sequence[str], prog: str = "pacodi forecast") -> int:
    """Runs the command; returns its exit code."""
    return guarded(lambda: _run(argv, prog))
