"""A run from its settings: data, generator and optimiser, training, and the model it gives."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax import files, parallel
from pacodi_jax.data import Dataset, WindowSet
from pacodi_jax.data.captioned import Captioned
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Arrays, Batch, Generator, Shape
from pacodi_jax.run import folder, parts
from pacodi_jax.run.conditions import TextLaw
from pacodi_jax.run.trained import Trained
from pacodi_jax.settings import Config
from pacodi_jax.train import environment, estimate, guidance, optimiser, refusals
from pacodi_jax.train.display import Display, Silent
from pacodi_jax.train.fit import fit, refuse_uneven_batch
from pacodi_jax.train.host_loop import Run
from pacodi_jax.train.signals import Signals
from pacodi_jax.train.sources import source_of

#: Numbers in the windows that are fitted to at once; of more, windows spread evenly over train.
_MANY = 1 << 28
#: Windows on which validation is taken, at most.
_JUDGED = 1024
#: Folded into the run's seed for the draws of calibration; samples have a stream of their own.
_CALIBRATION_STREAM = 2


class Outcome(NamedTuple):
    """What came of training.

    Attributes:
      run: how it ended.
      model: the trained model; None if a signal came first, and on all processes but the first.
      dataset: what it was trained on.
    """

    run: Run
    model: Trained | None
    dataset: Dataset


def train(
    config: Config,
    workdir: Path | None = None,
    *,
    table: Any = None,
    check: Callable[[Dataset], None] | None = None,
    display: Display | None = None,
    signals: Signals | None = None,
    watchdog: float = 300.0,
) -> Outcome:
    """Trains what ``config`` asks for, or goes on where it stopped.

    In a folder it writes ``config.json``, ``environment.json``, ``recipe.json``,
    ``metrics.jsonl``, ``checkpoints/`` and, once all steps are taken, ``model.pacodi`` and its
    card.

    Args:
      config: the settings.
      workdir: the run's folder; None trains in memory and writes nothing.
      table: a frame or an array in memory, instead of the source that the settings name.
      check: sees the data before a file is written or a step taken, and may raise.
      display: what shows the progress.
      signals: takes SIGTERM and SIGINT over while it trains; None leaves them alone.
      watchdog: seconds without a finished chunk that end one process of several; 0 is never.

    Raises:
      PacodiError: for anything that is wrong with the settings, the data or the folder.
    """
    display = display if display is not None and parallel.is_primary() else Silent()
    refuse_uneven_batch(config.train.batch)
    if workdir is not None:
        refusals.refuse_other_settings(workdir, config)
    dataset = parts.load_data(config, table)
    if check is not None:
        check(dataset)
    for note in _notes(dataset):
        display.say(f"note: {note}")
    arrays, shape = _prepare(config, dataset)
    generator = parts.build_generator(config, shape, arrays, optimiser.build)
    refusals.require_room(config, shape, generator)
    if workdir is not None and _is_begun(workdir, config):
        _describe(workdir, config, dataset)
    outcome = fit(
        generator,
        source_of(dataset.train, config),
        config.train,
        seed=config.seed,
        identity=_identity(config, dataset),
        workdir=workdir,
        validate=validator(generator, dataset.validation, config.train.batch),
        display=display,
        signals=signals,
        watchdog=watchdog,
    )
    refusals.refuse_skipped(outcome)
    if outcome.signal is not None or not parallel.is_primary():
        return Outcome(outcome, None, dataset)
    model = _model(config, dataset, generator, arrays, outcome)
    return Outcome(outcome, _finished(workdir, model, generator, dataset, display), dataset)


def _prepare(config: Config, dataset: Dataset) -> tuple[Arrays, Shape]:
    """What the family fits to the training windows, and the sizes of its model."""
    train = dataset.train
    condition, once = train.spread(_MANY).condition(), train.once()
    some = once.spread(_MANY)
    arrays = config.model.prepare(config.family, some.values(), condition)
    if len(some) < len(once):
        arrays = config.model.pass_over(config.family, arrays, once.touching())
    return arrays, Shape(train.length, train.channels, train.condition_width)


def _model(
    config: Config, dataset: Dataset, generator: Generator, arrays: Arrays, outcome: Run
) -> Trained:
    """The trained model, its samples not yet calibrated."""
    recipe = dataset.recipe
    weights = jax.tree.map(np.asarray, generator.weights(outcome.state))
    facts = {
        "model": config.model.name,
        "data": recipe.label,
        "licence": recipe.licence,
        "fingerprint": dataset.fingerprint,
        "protocol": config.data.protocol,
        "length": config.data.length,
        "channels": list(recipe.live_channels),
        "train_windows": len(dataset.train.once()),
        "encoder": dataset.train.encoder if isinstance(dataset.train, Captioned) else "",
        "condition_width": dataset.train.condition_width,
        "steps": outcome.step,
        "parameters": estimate.count(weights),
        "seed": config.seed,
        "calibration": 0,
    }
    return Trained(config, recipe, facts, arrays, weights, TextLaw.of(dataset.train))


def _finished(
    workdir: Path | None, model: Trained, generator: Generator, dataset: Dataset, display: Display
) -> Trained:
    """The model, calibrated if the settings ask for it and written to the folder of its run.

    A finished run keeps the model that it has, whatever samples are asked for now.
    """
    draws = model.config.train.calibration
    kept = None if workdir is None else _kept(workdir, model, draws)
    if kept is not None:
        return kept
    scale = guidance.choose(model, dataset)
    if scale is not None:
        display.say(f"texts are followed with guidance {scale:g}, chosen on validation")
        model = replace(model, facts=model.facts | {"guidance": scale})
    if workdir is not None:
        folder.write(workdir, model)
    if not draws:
        return model
    display.say(f"calibrating samples by {draws:,} draws")
    key = jax.random.fold_in(jax.random.key(model.config.seed), _CALIBRATION_STREAM)
    windows = dataset.train.once().spread(_MANY).values()
    given = model.request(model.config.seed, draws).vectors  # dates by train's law, if any
    arrays = generator.finish(key, model.weights, windows, draws, given)
    arrays = jax.tree.map(np.asarray, arrays)
    facts = model.facts | {"calibration": draws}
    model = Trained(model.config, model.recipe, facts, arrays, model.weights, model.texts)
    if workdir is not None:
        folder.write(workdir, model)
    return model


def _kept(workdir: Path, model: Trained, draws: int) -> Trained | None:
    """The model in the folder if it is this very one, undamaged and calibrated as asked."""
    try:
        found = folder.load(workdir)
    except PacodiError:
        return None
    own = {name: found.facts[name] for name in ("guidance",) if name in found.facts}
    same = found.facts == model.facts | {"calibration": draws} | own
    return found if same and (workdir / folder.MODEL).is_file() else None


def _identity(config: Config, dataset: Dataset) -> dict[str, Any]:
    """What must be the same for a run to go on: settings, series, texts, and who read them."""
    found = {"data": dataset.fingerprint, "settings": config.to_dict()}
    if isinstance(dataset.train, Captioned):
        found["text encoder"] = dataset.train.encoder
        found["texts"] = dataset.train.digest
    return found


def validator(
    generator: Generator, windows: WindowSet, batch: int
) -> Callable[[Any], float] | None:
    """Returns the score of a state on validation windows, times and noise fixed.

    The same draw at every call, so that scores differ by the weights alone. None without windows.

    Args:
      generator: the model.
      windows: the validation part.
      batch: the training batch, over which stratified times are spread.
    """
    if not len(windows):
        return None
    rounds = max(min(len(windows), _JUDGED) // batch, 1)
    judged = windows.pick(np.linspace(0, len(windows) - 1, rounds * batch).astype(int))
    condition = judged.condition()
    slots = np.broadcast_to(np.arange(batch, dtype=np.int32), (rounds, batch))
    batched = Batch(
        judged.values().reshape(rounds, batch, windows.length, -1),
        slots,
        None if condition is None else condition.reshape(rounds, batch, -1),
    )
    keys = jax.random.split(jax.random.key(0), rounds)

    @jax.jit
    def mean_score(state: Any, batched: Batch) -> jax.Array:
        scores = jax.lax.map(lambda kb: generator.validate(state, *kb), (keys, batched))
        return jnp.mean(scores)

    return lambda state: float(mean_score(state, batched))


def _is_begun(workdir: Path, config: Config) -> bool:
    """Whether this process begins the run or goes on with it, and so describes it."""
    return (
        parallel.is_primary()
        and max(refusals.stored_steps(workdir), default=-1) < config.train.steps
    )


def _notes(dataset: Dataset) -> list[str]:
    """What a user should know of the data before training."""
    report, found = dataset.report, []
    if report.rejected:
        found.append(report.malformed)
    if report.outside:
        found.append(report.beyond)
    if report.unread:
        found.append(
            f"{report.unread} of {len(dataset.validation)} validation windows have a text without "
            "any word of the training texts; the validation loss takes it as a text that says "
            "nothing"
        )
    return found


def _describe(workdir: Path, config: Config, dataset: Dataset) -> None:
    """Writes what the run is made of."""
    folder.describe(workdir, config, dataset.recipe)
    described = environment.describe(config.seed, dataset.fingerprint)
    files.write_text(workdir / "environment.json", json.dumps(described, indent=2) + "\n")
