"""What is done with a trained run: draw samples to files, and score them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pacodi_jax import report
from pacodi_jax.checkpoint import write_text
from pacodi_jax.data import Dataset
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics import memorisation
from pacodi_jax.metrics.cache import Cache, default_folder
from pacodi_jax.metrics.draws import LEAST
from pacodi_jax.metrics.panel import score_panel
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.metrics.verdict import settle
from pacodi_jax.report import pictures
from pacodi_jax.report.progress import progress_bar
from pacodi_jax.run import Trained
from pacodi_jax.text.encoders.interface import clean_text
from pacodi_jax.text.encoders.vocabulary import Vocabulary

#: Added to the run's seed, so that samples do not share training's random numbers.
SAMPLE_STREAM = 1


def sample_key(seed: int) -> jax.Array:
    """The key of a run's samples: ``load(workdir).sample(sample_key(seed), n)`` repeats them."""
    return jax.random.fold_in(jax.random.key(seed), SAMPLE_STREAM)


def sample_facts(
    trained: Trained,
    count: int,
    seed: int,
    *,
    text: str | None = None,
    static: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What decides the samples of a run, as ``samples.json`` tells it."""
    return {
        "windows": count,
        "seed": seed,
        "label": trained.label or "honest: nothing of a real window was used to sample",
        "sampler": trained.config.sample.to_dict(),
        "calibrated": trained.calibrated,
        "model": trained.card,
        "text": text,
        "reading": _reading(trained, text),
        "static": None if static is None else dict(static),
    }


def _reading(trained: Trained, text: str | None) -> dict[str, Any] | None:
    """How the words of a text are read, if the model knows only those of training."""
    if text is None or not trained.recipe.words:
        return None
    read = Vocabulary(trained.recipe.words).read(text)
    return {"text": read.text, "corrected": read.corrected, "ignored": list(read.ignored)}


def write_samples(
    trained: Trained,
    folder: Path,
    count: int,
    seed: int,
    *,
    condition: np.ndarray | None = None,
    dataset: Dataset | None = None,
    text: str | None = None,
    static: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Draws windows and writes them as the user's kind of table, as ``.npy`` and as a picture.

    Args:
      trained: the generator.
      folder: where to write ``samples.*``; made if it is not there.
      count: how many windows.
      seed: of the draw; the same seed draws the same windows.
      condition: ``(count, E)``, or one row ``(E,)`` for all; for a conditional model.
      dataset: if given, training windows spread over it are drawn beside the samples, whatever
        these were asked to be; the picture says so.
      text: that the condition stands for, if it does; told in ``samples.json``, in the picture and,
        if the user's table has a column of texts, in the table.
      static: the values of the static columns that it stands for, if it does; told in all three.

    Returns:
      The files written.
    """
    if count < 1:
        raise PacodiError(f"--samples={count}; accepted: 1, 2, 3, …")
    folder.mkdir(parents=True, exist_ok=True)
    scaled = trained.sample_scaled(sample_key(seed), count, condition)
    windows = trained.recipe.unscale(scaled)
    rows = None
    if static is not None:
        rows = trained.recipe.static_rows(static, count)
    elif text is not None:
        rows = trained.recipe.caption_rows(clean_text(text), count)
    table = trained.recipe.write(scaled, folder / f"samples{_table_kind(trained)}", static=rows)
    array = _write_array(windows, folder / "samples.npy")
    facts = sample_facts(trained, count, seed, text=text, static=static)
    described = folder / "samples.json"
    told = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    # Bytes of the command line that are no text: JSON has an escape for them, UTF-8 has not.
    write_text(described, told.encode(errors="backslashreplace").decode())
    title = " ".join(filter(None, [trained.label, _asked(text, static)]))
    picture = pictures.windows(
        windows,
        trained.recipe.channels,
        folder / "samples.png",
        real=None if dataset is None else _some_real(trained, dataset),
        real_title=_real_title(text, static),
        title=title,
    )
    return [table, array, described, picture]


def score_facts(trained: Trained, *, windows: int, seeds: int, seed: int) -> dict[str, Any]:
    """What decides the scores of a run, as ``scores.json`` tells it."""
    return {
        "model": trained.card,
        "sampler": trained.config.sample.to_dict(),
        "draw": {"windows_a_seed": windows, "seeds": seeds, "seed": seed},
    }


def write_scores(
    trained: Trained, dataset: Dataset, folder: Path, *, windows: int, seeds: int, seed: int
) -> list[Path]:
    """Draws windows, scores them on train and on held-out windows, and writes the report.

    Every seed has windows of its own, so that intervals hold the luck of the draw.

    Args:
      trained: the generator.
      dataset: what it was trained on, and what it never saw.
      folder: where to write ``scores.json``, ``scores.csv`` and ``report.html``.
      windows: at most so many a side.
      seeds: complete runs of every score.
      seed: of the draw.
    """
    recipe, live = trained.recipe, trained.recipe.scaler.live
    train = dataset.train.once()
    count = seeds * min(windows, len(train))
    condition = train.condition()
    if condition is not None:
        condition = condition[np.linspace(0, len(condition) - 1, count).astype(int)]
    # A constant channel is put back by the recipe, not made by the model: nothing to score.
    synthetic = trained.sample(sample_key(seed), count, condition)[..., live]
    real = recipe.unscale(train.values())[..., live]
    held_out = None
    if len(dataset.held_out) >= LEAST:
        held_out = recipe.unscale(dataset.held_out.values())[..., live]
    else:
        print(f"note: {len(dataset.held_out)} held-out windows; scored on train alone")
    with progress_bar() as progress:
        panel = score_panel(
            real,
            synthetic,
            held_out,
            budget=Budget(seeds=tuple(range(seeds)), windows=windows),
            cache=Cache(default_folder()),
            protocol=trained.label or f"honest, statistics={trained.card['statistics']}",
            names=list(recipe.live_channels),
            progress=progress,
        )
    panel |= score_facts(trained, windows=windows, seeds=seeds, seed=seed)
    panel = settle(panel, memorisation.audit(real, train.starts, synthetic, held_out))
    print("\n".join(panel["verdict"]))
    return report.write(
        folder, f"{recipe.source} by {trained.card['model']}", panel, real, synthetic
    )


def _table_kind(trained: Trained) -> str:
    """The source's kind of table; array sources get a CSV beside the ``.npy``."""
    return ".csv" if trained.recipe.kind in (".npy", ".npz") else trained.recipe.kind


def _asked(text: str | None, static: Mapping[str, Any] | None) -> str:
    """What was asked for, in a line for the picture."""
    if text:
        return f"“{_shortened(clean_text(text))}”"
    told = ", ".join(f"{name}={value}" for name, value in (static or {}).items())
    return _shortened("".join(c if c.isprintable() else " " for c in told))


def _some_real(trained: Trained, dataset: Dataset) -> np.ndarray:
    """Training windows from the first to the last, in the user's units."""
    train = dataset.train.once()
    return trained.recipe.unscale(train.take(np.linspace(0, len(train) - 1, 24).astype(int)))


def _real_title(text: str | None, static: Mapping[str, Any] | None) -> str:
    """What stands above real windows, which no request has chosen."""
    if text is None and static is None:
        return "real"
    return f"real, not chosen by the {'static columns' if text is None else 'text'}"


def _shortened(text: str, most: int = 200) -> str:
    """The text's first words, or the beginning of its first one if that alone is too long."""
    if len(text) <= most:
        return text
    words = text[: most + 1].rpartition(" ")[0]
    return f"{words or text[:most]} …"


def _write_array(windows: np.ndarray, path: Path) -> Path:
    temporary = path.with_name(f".{path.name}.part")
    with temporary.open("wb") as file:
        np.save(file, windows.astype(np.float32), allow_pickle=False)
    os.replace(temporary, path)
    return path
