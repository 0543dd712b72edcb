"""The estimator's methods for whole series, gaps and forecasts."""

import abc
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pacodi_jax.data import Dataset
from pacodi_jax.errors import PacodiError
from pacodi_jax.report.progress import progress_bar
from pacodi_jax.run.trained import Trained
from pacodi_jax.series import answers, tables
from pacodi_jax.series.answers import Answer

if TYPE_CHECKING:
    from pacodi_jax.report.judgement import Verdict

Output = Literal["frame", "numpy"]
#: How the estimator is scored, for the page of one that was not.
_EVALUATE = "verdict = model.score()\nmodel.show(path, verdict=verdict)"


class SeriesMethods(abc.ABC):
    """What an estimator answers beyond windows; a subclass holds the trained model."""

    @property
    @abc.abstractmethod
    def _model(self) -> Trained:
        """The trained model."""

    @abc.abstractmethod
    def _data(self, real: Any) -> Dataset:
        """The training data: given, remembered, or found where the settings say."""

    def show(
        self,
        path: str | os.PathLike[str],
        *,
        real: Any = None,
        verdict: "Verdict | None" = None,
        span: int | None = None,
        seed: int | None = None,
        progress: bool = True,
        **how: Any,
    ) -> Path:
        """Writes a page to look at the model: one HTML file, which needs no server or network.

        It holds windows to leaf through, a whole series to zoom, forecasts, spectra, correlations
        and scores.

        Args:
          path: of the HTML file.
          real: the training data again, for a model that was loaded; without them nothing real is
            shown.
          verdict: what :meth:`score` found, to be shown too.
          span: steps of the whole series; that of 40 windows by default.
          seed: of all draws; the estimator's by default.
          progress: show a progress bar.
          **how: sampling choices, as for ``sample``.

        Returns:
          The path.

        Raises:
          PacodiError: for data that are not the model's, or a file that cannot be written.
        """
        from pacodi_jax.series import show

        place = Path(path).expanduser()
        if place.is_dir():
            raise PacodiError(f"{place} is a folder; name a file, such as {place / 'show.html'}.")
        trained = self._model
        return show.write(
            trained,
            place,
            self._at_hand(real),
            span=span,
            seed=seed,
            panel=None if verdict is None else verdict.panel,
            evaluate=_EVALUATE,
            progress=progress,
            **how,
        )

    def _at_hand(self, real: Any) -> Dataset | None:
        """The training data, or None if none were given and none can be found."""
        try:
            return self._data(real)
        except PacodiError:
            if real is not None:
                raise
            return None

    def simulate(
        self,
        steps: int,
        *,
        start: Any = None,
        count: int = 1,
        seed: int | None = None,
        static: Mapping[str, Any] | None = None,
        text: str | None = None,
        overlap: int | None = None,
        output: Output = "frame",
        progress: bool = True,
        **how: Any,
    ) -> Any:
        """Draws whole series of any length, with true stamps.

        Windows are chained: each is drawn given the last steps of the one before, and its own date
        if the model knows the calendar.

        Args:
          steps: per series.
          start: the first stamp, such as ``"2027-01-01"``; that of the training table by default.
            Or a table of your columns: its series are continued after their last row.
          count: how many series; of a table, continuations per series.
          seed: series i depends on (seed, i) alone; the estimator's seed by default.
          static: values of static columns; those left out are drawn from train's law, per series.
          text: what the windows should look like, for a model that reads texts.
          overlap: steps that a window shares with the one before; half a window by default.
          output: ``"frame"``, or ``"numpy"`` for an array ``(count, steps, channels)``.
          progress: show a progress bar.
          **how: sampling choices, as for ``sample``.

        Returns:
          The user's kind of DataFrame. Several series are told apart by the id column, or by a
          column ``series`` where there is none; continuations by a column ``draw``.

        Raises:
          PacodiError: for a request that the model cannot answer.
        """
        _check_output(output)
        request: dict[str, Any] = {
            "start": start,
            "count": count,
            "seed": seed,
            "static": static,
            "text": text,
        }
        found = _shown(
            "simulating",
            progress,
            lambda show: answers.make(
                self._model, steps, overlap=overlap, progress=show, **request, **how
            ),
        )
        return self._given_back(found, output)

    def forecast(
        self,
        data: Any,
        *,
        horizon: int = 24,
        quantiles: Sequence[float] = (0.1, 0.5, 0.9),
        draws: int = 200,
        each: bool = False,
        noise: float | Mapping[str, float] | None = None,
        text: str | None = None,
        seed: int | None = None,
        overlap: int | None = None,
        output: Output = "frame",
        progress: bool = True,
        **how: Any,
    ) -> Any:
        """Forecasts the steps after the end of every series of a table.

        Args:
          data: a table of your columns (frame, array ``(T, C)``, file, catalogue name). Gaps in it
            are allowed. A horizon beyond half a window is reached by chaining.
          horizon: how many steps.
          quantiles: over the draws: columns such as ``load_q10``.
          draws: continuations per series.
          each: return the draws themselves, numbered in a column ``draw``.
          noise: standard deviation of the observations, one number or one per channel.
          text: what the steps should look like, for a model that reads texts.
          seed: the estimator's by default.
          overlap: steps that windows share; half a window by default.
          output: ``"frame"``, or ``"numpy"`` for the draws ``(draws, horizon, channels)``, of
            several series ``(series, draws, horizon, channels)``.
          progress: show a progress bar.
          **how: sampling choices, as for ``sample``.

        Raises:
          PacodiError: for a table that does not fit the model, or a request it cannot answer.
        """
        _check_output(output)
        request: dict[str, Any] = {
            "horizon": horizon,
            "draws": draws,
            "quantiles": quantiles,
            "each": each,
        }
        request |= {"noise": noise, "text": text, "seed": seed, "overlap": overlap}
        found = _shown(
            "forecasting",
            progress,
            lambda show: answers.predict(self._model, data, progress=show, **request, **how),
        )
        return self._given_back(found, output)

    def impute(
        self,
        data: Any,
        *,
        draws: int = 20,
        quantiles: Sequence[float] = (),
        each: bool = False,
        noise: float | Mapping[str, float] | None = None,
        seed: int | None = None,
        overlap: int | None = None,
        progress: bool = True,
        **how: Any,
    ) -> Any:
        """Fills the gaps of a table: missing cells, and rows that its time grid skips.

        What was observed is untouched. Gaps are filled by the median of draws.

        Args:
          data: a table of your columns (frame, array ``(T, C)``, file, catalogue name), of any
            length.
          draws: completions.
          quantiles: over the draws: further columns such as ``load_q10``.
          each: return the completions themselves, numbered in a column ``draw``.
          noise: standard deviation of the observations, one number or one per channel: draws allow
            for it.
          seed: the estimator's by default.
          overlap: steps that windows share; half a window by default.
          progress: show a progress bar.
          **how: sampling choices, as for ``sample``.

        Returns:
          The user's kind of table; for an array, an array of its shape, or with ``each`` of one
          more axis in front.

        Raises:
          PacodiError: for a table that does not fit the model, or a request it cannot answer.
        """
        request: dict[str, Any] = {
            "draws": draws,
            "quantiles": quantiles,
            "each": each,
            "noise": noise,
        }
        request |= {"seed": seed, "overlap": overlap}
        found = _shown(
            "filling",
            progress,
            lambda show: answers.mend(self._model, data, progress=show, **request, **how),
        )
        return self._given_back(found, "frame")

    def _given_back(self, found: Answer, output: Output) -> Any:
        if output == "numpy" or found.table is None:
            return found.array
        return tables.native(self._model.recipe, found.table, found.backend)


def _check_output(output: str) -> None:
    if output not in ("frame", "numpy"):
        raise PacodiError(f"output={output!r}; accepted: 'frame', 'numpy'.")


def _shown(what: str, progress: bool, work: Callable[[Any], Answer]) -> Answer:
    """Runs work under a progress bar, or without one."""
    if not progress:
        return work(None)
    with progress_bar(what, "window") as show:
        return work(lambda n, of: show(n, of, ""))
