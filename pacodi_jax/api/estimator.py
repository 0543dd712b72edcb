"""The estimator: it learns from a table and draws new ones; and how one is loaded."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pacodi_jax.api import given, parameters
from pacodi_jax.data import Dataset
from pacodi_jax.errors import PacodiError
from pacodi_jax.report.progress import progress_bar
from pacodi_jax.run import export, folder, sealed
from pacodi_jax.run.ownership import owned
from pacodi_jax.run.trained import Trained
from pacodi_jax.series.methods import SeriesMethods
from pacodi_jax.settings import Config

if TYPE_CHECKING:
    from pacodi_jax.report.judgement import Verdict

StrPath = str | os.PathLike[str]


class PaCoDi(SeriesMethods):
    """Synthetic time series: fits a table, draws windows in its columns, dtypes and units.

    Args:
      length: steps per window.
      time: the time column, or a date and a time column.
      id: the column that tells series apart.
      static: columns that are constant per window; they become conditions.
      channels: the columns to model; by default all numbers that have no other role.
      model: the family of models: ``"pacodi"``, ``"temporal"``, ….
      size: of the model: ``"tiny"``, ``"small"``, ``"base"`` or ``"large"``.
      seed: of training and, by default, of samples.
      settings: any other setting by its full name, such as ``{"train.steps": 2000}``.

    Attributes:
      trained_: the trained model, after :meth:`fit` or :func:`load`.
      history_: how training ended: the last step and the skipped ones; None after :func:`load`.

    Examples:
      ```python
      model = PaCoDi(length=48, time="date", settings={"train.steps": 4000})
      model.fit("mine.csv")
      new = model.sample(1000)
      year = model.simulate(8760, start="2027-01-01")
      mended = model.impute("gaps.csv")
      tomorrow = model.forecast("mine.csv", horizon=24)
      ```
    """

    trained_: Trained
    history_: dict[str, int] | None
    _dataset: Dataset | None

    def __init__(
        self,
        *,
        length: int = 24,
        time: str | Sequence[str] = (),
        id: str = "",
        static: str | Sequence[str] = (),
        channels: str | Sequence[str] = (),
        model: str = "pacodi",
        size: str = "small",
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.length = length
        self.time = time
        self.id = id
        self.static = static
        self.channels = channels
        self.model = model
        self.size = size
        self.seed = seed
        self.settings = settings

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the estimator by name, as scikit-learn has it."""
        names = (*parameters.SHORT, "model", "size", "settings")
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> Self:
        """Changes arguments of the estimator; it has to be fitted again.

        Raises:
          PacodiError: for a name that is no argument.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise PacodiError(
                    f"PaCoDi has no argument {name!r}; it has {', '.join(known)}. Other settings "
                    "go into settings={…}."
                )
            setattr(self, name, value)
        for fitted in ("trained_", "history_", "_dataset"):
            self.__dict__.pop(fitted, None)
        return self

    @property
    def config(self) -> Config:
        """All settings of the estimator, checked.

        Raises:
          PacodiError: for a setting that is unknown or cannot work.
        """
        return self._config({})

    def _config(self, data: Mapping[str, Any]) -> Config:
        """The settings, with those that the data bring where the estimator leaves them open."""
        return parameters.settings(self.get_params(), PaCoDi().get_params(), data)

    def fit(
        self,
        data: Any,
        *,
        workdir: StrPath | None = None,
        progress: bool = True,
    ) -> Self:
        """Learns from a table.

        Args:
          data: a DataFrame (pandas, Polars, …), the path of a CSV, Parquet or NumPy file, an array
            ``(T, C)`` of one series or ``(N, L, C)`` of windows, or a name of the catalogue, such
            as ``"etth1"`` or ``"sines"``.
          workdir: a folder for checkpoints and metrics. The same call goes on where a stopped one
            was. Without it nothing is written.
          progress: show a progress bar.

        Returns:
          The estimator.

        Raises:
          PacodiError: for anything that is wrong with the data or the settings.
        """
        from pacodi_jax.train.display import Bar, Silent
        from pacodi_jax.train.from_config import train

        settings, table = given.source(data)
        place = None if workdir is None else Path(workdir).expanduser().absolute()
        with contextlib.nullcontext() if place is None else owned(place):
            outcome = train(
                self._config(settings),
                place,
                table=table,
                display=Bar() if progress else Silent(),
            )
        if outcome.model is None:  # another process of several holds the model
            raise PacodiError("only process 0 of a job has the trained model; sample there.")
        self.trained_ = outcome.model
        self.history_ = {"steps": outcome.run.step, "skipped": int(outcome.run.state.skipped)}
        self._dataset = outcome.dataset
        return self

    @property
    def _model(self) -> Trained:
        if "trained_" not in self.__dict__:
            raise PacodiError("this PaCoDi is not fitted yet; call fit(data), or load a model.")
        return self.trained_

    def sample(
        self,
        count: int | None = None,
        *,
        seed: int | None = None,
        static: Mapping[str, Any] | None = None,
        text: str | None = None,
        start: Any = None,
        output: Literal["frame", "numpy"] = "frame",
        progress: bool = False,
        **how: Any,
    ) -> Any:
        """Draws new windows in the user's columns, order, dtypes and units.

        Args:
          count: how many windows; ``sample.count`` by default, which is 1000.
          seed: window i depends on (seed, i) alone; the estimator's seed by default.
          static: values of static columns, such as ``{"grade": "high"}``. Columns left out are
            drawn from their law in train.
          text: what the windows should look like, for a model that reads texts.
          start: the first stamp of every window, such as ``"2027-01-01"``, for a model trained
            with ``data.calendar``; by default first stamps are drawn from those of train.
          output: ``"frame"``, or ``"numpy"`` for an array ``(count, length, channels)``.
          progress: show a progress bar.
          **how: sampling choices of the model: for PaCoDi ``solver``, ``steps``, ``grid``,
            ``guidance``, ``eta``, ``posterior_variance`` and ``batch``.

        Returns:
          The user's kind of DataFrame with a ``window`` column, or an array.

        Raises:
          PacodiError: for a request that the model cannot answer.
        """
        if output not in ("frame", "numpy"):
            raise PacodiError(f"output={output!r}; accepted: 'frame', 'numpy'.")
        model = self._model
        count = model.config.sample.count if count is None else count
        request = {"seed": seed, "static": static, "text": text, "start": start, **how}
        if progress:
            with progress_bar("drawing", "window") as show:
                drawn = model.draw(count, progress=lambda n, of: show(n, of, ""), **request)
        else:
            drawn = model.draw(count, **request)
        if output == "numpy":
            return drawn.values
        return model.recipe.to_frame(drawn.values, stamps=drawn.stamps, static=drawn.columns)

    def score(
        self,
        real: Any = None,
        *,
        held_out: Any = None,
        windows: int | None = None,
        seeds: int | None = None,
        seed: int | None = None,
        progress: bool = True,
        **how: Any,
    ) -> "Verdict":
        """Judges the model's samples against real windows.

        Args:
          real: the training data again, for a model that was loaded; a model that was just fitted
            remembers them.
          held_out: data of the same columns that the model has not seen; by default the part that
            fitting kept aside.
          windows: at most so many per side; ``evaluate.windows`` by default, which is 3000.
          seeds: complete runs of every score, each with windows of its own; ``evaluate.seeds`` by
            default, which is 5.
          seed: of the draw; the estimator's by default.
          progress: show a progress bar.
          **how: sampling choices, as for :meth:`sample`.

        Returns:
          A verdict, which prints as a table; ``.frame``, ``.to_html(path)``.
        """
        from pacodi_jax.run.score import score

        model = self._model
        dataset = self._data(real)
        unseen = None if held_out is None else given.windows(self._model, held_out)
        asked = {"windows": windows, "seeds": seeds}
        changes = {name: value for name, value in asked.items() if value is not None}
        wanted = model.config.evaluate.replace(**changes)
        draw = {"seed": model.config.seed if seed is None else seed, "held_out": unseen, **how}
        if not progress:
            return score(model, dataset, wanted, **draw)
        with progress_bar() as show:
            return score(model, dataset, wanted, progress=show, **draw)

    def _data(self, real: Any) -> Dataset:
        """The training data: given, remembered, or found where the settings say."""
        kept = self.__dict__.get("_dataset")
        return kept if real is None and kept is not None else given.dataset(self._model, real)

    def save(self, path: StrPath) -> Path:
        """Writes the model as one file: weights, settings and the way back to the user's table.

        Nothing in it is code; :func:`load` reads it.
        """
        place = Path(path).expanduser()
        if place.is_dir():
            raise PacodiError(
                f"{place} is a folder; name a file, such as {place / 'model.pacodi'}."
            )
        return sealed.write(self._model, place)

    def export(
        self,
        path: StrPath,
        *,
        count: int = 100,
        platforms: Sequence[str] = export.PLATFORMS,
        static: Mapping[str, Any] | None = None,
        text: str | None = None,
        **how: Any,
    ) -> Path:
        """Writes the sampler as one StableHLO file that runs without this package.

        See :func:`pacodi_jax.run.export.export`.

        Args:
          path: the file.
          count: windows per call.
          platforms: where it is to run: ``"cpu"``, ``"cuda"``, ``"tpu"``.
          static: values of static columns, as for :meth:`sample`.
          text: a text, as for :meth:`sample`.
          **how: sampling choices, as for :meth:`sample`.
        """
        request = {"static": static, "text": text, **how}
        place = Path(path).expanduser()
        return export.export(self._model, place, count, platforms=platforms, **request)

    def __repr__(self) -> str:
        default = PaCoDi().get_params()
        told = [f"{k}={v!r}" for k, v in self.get_params().items() if v != default[k]]
        state = "not fitted"
        if "trained_" in self.__dict__:
            facts = self.trained_.facts
            state = (
                f"trained on {facts['data']}: {facts['steps']:,} steps, "
                f"{facts['parameters']:,} parameters, channels {', '.join(facts['channels'])}"
            )
        return f"PaCoDi({', '.join(told)}) <{state}>"


def load(path: StrPath) -> PaCoDi:
    """Loads a trained model from the file that :meth:`PaCoDi.save` wrote, or from a run folder.

    Nothing in the file is run as code. A damaged or edited model is refused.

    Raises:
      PacodiError: if there is no model, or it cannot be trusted.

    Examples:
      ```python
      new = load("load.pacodi").sample(100)
      ```
    """
    trained = folder.load(path)
    model = PaCoDi(**parameters.params(trained.config))
    model.trained_ = trained
    model.history_ = None
    model._dataset = None
    return model
