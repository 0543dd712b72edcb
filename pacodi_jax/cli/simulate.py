"""``pacodi simulate``: whole series of any length, with true stamps."""

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
        "Draws whole series of any length, or continues those of a table; a table and a picture.",
        f"{prog} runs/mine --steps 8760 --start 2027-01-01",
    )
    parser.add_argument("--steps", type=int, required=True, help="per series")
    parser.add_argument("--start", help="first stamp (that of the training table)")
    parser.add_argument("--after", help="continue the series of this table instead")
    parser.add_argument("-n", "--count", type=int, default=1, help="series, or continuations (1)")
    parser.add_argument("--static", help="column=value,column=value; the others as in train")
    parser.add_argument("--text", help="what the series should look like, window by window")
    given = parser.parse_args(argv)

    def ask(trained: "Trained", common: dict[str, Any]) -> "Answer":
        from pacodi_jax.core.checks import check_count
        from pacodi_jax.series import answers

        if given.after is not None:
            check_count(given.steps, "steps")
            refuse(given)
            request = {"horizon": given.steps, "draws": given.count, "text": given.text}
            return answers.predict(trained, given.after, each=True, **request, **common)
        static = None if given.static is None else trained.recipe.parse_static(given.static)
        wish = {"start": given.start, "count": given.count, "static": static, "text": given.text}
        return answers.make(trained, given.steps, **wish, **common)

    def draw(trained: "Trained", answer: "Answer", place: Path) -> Path:
        from pacodi_jax.report import series_pictures
        from pacodi_jax.series.simulate import stamps_from

        picture, channels = place / "simulate.png", trained.recipe.channels
        if answer.history is not None:
            before, title = 3 * given.steps, f"{given.steps} steps after the table"
            return series.show_fan(
                answer, channels, picture, before=before, after=given.steps, title=title
            )
        real = series.real_series(trained, given.steps)
        return series_pictures.series(
            answer.values[0][0],
            channels,
            picture,
            stamps=stamps_from(trained.recipe.clock, given.start, given.steps),
            real=None if real is None else real[0],
            real_stamps=None if real is None else real[1],
        )

    series.run(given, "simulate", ask, draw)


def refuse(given: Any) -> None:
    """Refuses what a table that is continued brings itself."""
    from pacodi_jax.errors import PacodiError

    for name in ("start", "static"):
        if getattr(given, name) is not None:
            raise PacodiError(f"--{name} is read from the table that --after names; leave it.")


def main(argv: Sequence[str], prog: str = "pacodi simulate") -> int:
    """Runs the command; returns its exit code."""
    return guarded(lambda: _run(argv, prog))
