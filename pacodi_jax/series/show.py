"""What is looked at of a trained model: windows, a whole series and forecasts, drawn anew."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd

from pacodi_jax import files
from pacodi_jax.core.conditioning import Observed
from pacodi_jax.data import Dataset
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.results import Panel
from pacodi_jax.report import viewer
from pacodi_jax.report.progress import progress_bar
from pacodi_jax.report.viewer import Content, Fans, Line
from pacodi_jax.report.viewer.payload import shown_steps
from pacodi_jax.run.trained import Trained, check_count
from pacodi_jax.series.simulate import simulate
from pacodi_jax.settings import check_seed

#: Folded into the seed, so that forecasts do not share the random numbers of samples.
FORECAST_STREAM = 5
#: Forecasts, and draws of each.
FORECASTS, DRAWS = 6, 40
#: Windows that the default series spans.
SPAN = 40
#: How a run is scored on the command line.
EVALUATE = "python -m pacodi_jax.main --workdir={} --mode=evaluate"


def write(trained: Trained, path: Path, dataset: Dataset | None, **request: Any) -> Path:
    """Writes the page; the arguments are those of :func:`gather`."""
    return files.write_text(path, viewer.page(gather(trained, dataset, **request)))


def gather(
    trained: Trained,
    dataset: Dataset | None,
    *,
    windows: int = 500,
    span: int | None = None,
    seed: int | None = None,
    panel: Panel | None = None,
    evaluate: str = EVALUATE.format("RUN"),
    notes: tuple[str, ...] = (),
    progress: bool = False,
    **how: Any,
) -> Content:
    """Draws everything that the page shows.

    Args:
      trained: the model.
      dataset: its data; without them the page shows what is synthetic alone.
      windows: to draw, and at most so many real ones beside them.
      span: steps of the whole series; that of 40 windows by default, or what a page holds.
      seed: of all draws; the run's by default.
      panel: scores that were kept.
      evaluate: what to call for scores, if none were.
      notes: what to say of parts that are missing.
      progress: show a progress bar for each kind of draw.
      **how: settings of the ``sample`` section that differ from the run's.
    """
    count = check_count(windows, "windows")
    span = _span(trained, span)
    seed = check_seed(trained.config.seed if seed is None else seed)
    live = trained.recipe.scaler.live
    with _bar("drawing", progress) as told:
        drawn = trained.draw(count, seed=seed, progress=told, **how)
    found: dict[str, Any] = {"synthetic": drawn.values[..., live]}
    if dataset is None:
        notes += ("The data of this model are not at hand, so nothing real is shown.",)
    else:
        found["real"] = _spread(dataset.train, count)[..., live]
    beyond, why = _beyond_windows(trained, dataset, span, seed, progress, how)
    title = f"{trained.recipe.source} by {trained.facts['model']}"
    known: dict[str, Any] = {
        "panel": panel,
        "evaluate": evaluate,
        "facts": trained.facts,
        "notes": notes + why,
    }
    return Content(title, trained.label, trained.recipe.live_channels, **found, **beyond, **known)


def _beyond_windows(
    trained: Trained,
    dataset: Dataset | None,
    span: int,
    seed: int,
    progress: bool,
    how: dict[str, Any],
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Whole series and forecasts, and why some are missing."""
    if not trained.config.model.reads_observed:
        name = trained.config.model.name
        return {}, (f"Models of the family {name!r} draw windows alone: no series or forecasts.",)
    found: dict[str, Any] = {}
    try:
        with _bar("simulating", progress) as told:
            found |= _lines(trained, dataset, span, seed, told, how)
        with _bar("forecasting", progress) as told:
            found["fans"] = _fans(trained, dataset, seed, told, how)
    except PacodiError as error:
        return found, (f"Not all of series and forecasts: {error}",)
    return found, ()


@contextmanager
def _bar(what: str, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar of windows, or none."""
    with progress_bar(what, "window") if wanted else nullcontext() as show:
        yield None if show is None else lambda done, total: show(done, total, "")


def _spread(windows: WindowSet, count: int) -> np.ndarray:
    """Windows from the first to the last, in the user's units."""
    own = windows.once()
    rows = np.linspace(0, len(own) - 1, min(count, len(own))).round().astype(int)
    return own.recipe.deliver(own.take(rows))


def _span(trained: Trained, span: int | None) -> int:
    """How long the whole series is: as asked, or as long as some tens of windows.

    Raises:
      PacodiError: for more than a page holds.
    """
    length = trained.config.data.length
    most = max(shown_steps(len(trained.recipe.live_channels)), length)
    if span is None:
        return min(SPAN * length, most)
    if check_count(span, "span") > most:
        raise PacodiError(f"span={span}: a page holds {most:,} steps of this many channels.")
    return span


def _lines(
    trained: Trained,
    dataset: Dataset | None,
    span: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    how: dict[str, Any],
) -> dict[str, Line]:
    """A synthetic series from the first stamp of train, and the real one."""
    live = trained.recipe.scaler.live
    made = simulate(trained, span, seed=seed, progress=progress, **how)
    found = {"whole": Line(made.values[0][:, live], _texts(made.stamps))}
    real = None if dataset is None else first_series(trained, dataset, span)
    if real is not None:
        found["beside"] = Line(real[0][:, live], _texts(real[1]))
    return found


def first_series(
    trained: Trained, dataset: Dataset, steps: int
) -> tuple[np.ndarray, pd.Index | None]:
    """The first steps of the first training series in the user's units, and their stamps."""
    train = dataset.train
    end = min(int(train.table.bounds[1]), steps)
    return trained.recipe.deliver(train.series[None, :end])[0], train.table.stamps(np.arange(end))


def _fans(
    trained: Trained,
    dataset: Dataset | None,
    seed: int,
    progress: Callable[[int, int], None] | None,
    how: dict[str, Any],
) -> Fans | None:
    """The second halves of some windows, drawn given the first; held-out ones if there are any."""
    if dataset is None or trained.config.data.length < 2:
        return None
    parts = {"held-out": dataset.held_out, "validation": dataset.validation}
    part = next((name for name, own in parts.items() if len(own)), "training")
    own = {**parts, "training": dataset.train}[part].once()
    rows = np.linspace(0, len(own) - 1, min(FORECASTS, len(own))).round().astype(int)
    own, length = own.pick(rows), trained.config.data.length
    truth, seen = own.take(np.arange(len(rows))), length - length // 2
    mask = np.broadcast_to(np.arange(length)[:, None] < seen, truth.shape)
    condition = own.condition() if trained.shape.condition_width else None
    if condition is not None and condition.shape[1] != trained.shape.condition_width:
        condition = None  # a text, which no one gives here

    def each(values: np.ndarray) -> np.ndarray:
        return np.repeat(values, DRAWS, axis=0)

    drawn = trained.draw_scaled(
        jax.random.fold_in(jax.random.key(seed), FORECAST_STREAM),
        DRAWS * len(rows),
        None if condition is None else each(condition),
        observed=Observed(each(truth), each(mask), each(np.zeros_like(truth))),
        progress=progress,
        **how,
    )
    if not np.isfinite(drawn).all():
        raise PacodiError("forecasts that are not finite; train longer (train.steps).")
    live, recipe = trained.recipe.scaler.live, trained.recipe
    values = recipe.deliver(drawn)[:, seen:, live].reshape(len(rows), DRAWS, length - seen, -1)
    stamps = own.table.stamps(own.starts)
    return Fans(recipe.deliver(truth)[..., live], values, _texts(stamps), part)


def _texts(stamps: pd.Index | None) -> list[str] | None:
    """Stamps as a reader writes them: dates, with the time of day if they have one."""
    if stamps is None:
        return None
    if not isinstance(stamps, pd.DatetimeIndex):
        return [f"{float(stamp):g}" for stamp in stamps]
    local = stamps.tz_localize(None) if stamps.tz is not None else stamps
    whole = bool((local == local.normalize()).all())
    return list(local.strftime("%Y-%m-%d" if whole else "%Y-%m-%d %H:%M"))
