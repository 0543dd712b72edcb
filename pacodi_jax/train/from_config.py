"""A run from its settings: data, generator and optimiser, training, and what it hands on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from ml_collections import ConfigDict

from pacodi_jax import models, parallel, run
from pacodi_jax.checkpoint import export, write_text
from pacodi_jax.data import Dataset, WindowSet, batches
from pacodi_jax.data.captioned import Captioned
from pacodi_jax.errors import PacodiError
from pacodi_jax.train import config as configuration
from pacodi_jax.train import environment, estimate, optimiser
from pacodi_jax.train.fit import fit, refuse_uneven_batch
from pacodi_jax.train.plan import Run, Settings
from pacodi_jax.types import Array

#: Settings that may change when a run is resumed; a data file may move, its content may not.
FREE = (
    "data.path",
    "train.steps",
    "train.chunk",
    "train.checkpoint_every",
    "train.keep",
    "train.log_every",
    "train.validate_every",
    "train.max_skips",
    "train.backend",
    "sample",
    "evaluate",
)
#: Windows on which validation is taken, at most.
_JUDGED = 1024
#: Folded into the run's seed for the draws of calibration; samples have a stream of their own.
_CALIBRATION_STREAM = 2


def train(
    config: ConfigDict,
    workdir: Path,
    watchdog: float = 300.0,
    check: Callable[[Dataset], None] | None = None,
) -> Run:
    """Trains what ``config`` asks for in ``workdir``, or goes on where it stopped.

    Writes ``config.json``, ``environment.json``, ``recipe.json``, ``metrics.jsonl``,
    ``checkpoints/`` and, once all steps are taken, ``model.safetensors`` with its card.

    Args:
      config: the settings.
      workdir: the run's folder.
      watchdog: seconds without a finished chunk that end one process of several; 0 is never.
      check: sees the data before a file is written or a step taken, and may raise.

    Raises:
      PacodiError: for anything that is wrong with the settings, the data or the folder.
    """
    refuse_uneven_batch(config.train.batch)
    refuse_other_settings(workdir, config)
    dataset = run.load_data(config)
    if check is not None:
        check(dataset)
    data = batches.resident(dataset.train)
    windows = jnp.asarray(dataset.train.once().values())
    coding, fitted = models.fit(config.diffusion.statistics, windows, data.condition)
    generator = run.build_generator(
        config,
        coding,
        fitted,
        condition_width=0 if data.condition is None else data.condition.shape[1],
        optimiser=build_optimiser(config),
    )
    if parallel.is_primary() and max(stored_steps(workdir), default=-1) < config.train.steps:
        _describe(workdir, config, dataset)
    outcome = fit(
        generator,
        data,
        lambda step: batches.indices(config.seed, step, config.train.batch, data.size),
        workdir,
        _settings(config, watchdog),
        _identity(dataset),
        validator(generator, dataset.validation, config.train.batch),
    )
    if parallel.is_primary() and outcome.signal is None:
        facts = run.card(config, dataset, outcome.step)
        facts |= {"parameters": estimate.count(outcome.state.params), "seed": config.seed}
        _hand_on(config, workdir, generator, fitted, outcome.state.ema, windows, facts)
    return outcome


def _hand_on(
    config: ConfigDict,
    workdir: Path,
    generator: models.SpectralDiffusion,
    fitted: models.Fitted,
    params: Any,
    windows: Array,
    facts: dict[str, Any],
) -> None:
    """Exports a trained model, and once more with its samples calibrated if they shall be.

    A finished run keeps the calibration that it has, whatever samples are asked for now.
    """
    draws = config.train.calibration
    if draws and _is_exported(workdir, facts, draws):
        return
    export(workdir, run.weights(fitted, params), facts | {"calibration": None})
    if not draws:
        return
    print(f"calibrating samples by {draws:,} draws", flush=True)
    key = jax.random.fold_in(jax.random.key(config.seed), _CALIBRATION_STREAM)
    found = generator.calibrated(key, params, windows, draws)
    facts = facts | {"calibration": {"draws": draws, "sampler": run.sampler(config)}}
    export(workdir, run.weights(fitted._replace(calibration=found), params), facts)


def _is_exported(workdir: Path, facts: dict[str, Any], draws: int) -> bool:
    """Whether the folder holds this very model, undamaged and calibrated by so many draws."""
    try:
        card = run.load(workdir).card
    except (PacodiError, OSError, ValueError, KeyError):
        return False
    found = card.get("calibration")
    return found is not None and card == facts | {"calibration": found} and found["draws"] == draws


def _identity(dataset: Dataset) -> dict[str, str]:
    """What must be the same for a run to go on: the series, its texts, and who read them."""
    found = {"data": dataset.fingerprint}
    if isinstance(dataset.train, Captioned):
        found["text encoder"] = dataset.train.encoder
        found["texts"] = dataset.train.digest
    return found


def build_optimiser(config: ConfigDict) -> Any:
    """The optimiser that a config asks for."""
    wanted = config.train
    return optimiser.build(
        learning_rate=wanted.learning_rate,
        steps=wanted.steps,
        warmup=wanted.warmup,
        decay=wanted.decay,
        floor=wanted.final_rate,
        patience=wanted.plateau_patience,
        factor=wanted.plateau_factor,
        threshold=wanted.plateau_threshold,
        beta2=wanted.beta2,
        weight_decay=wanted.weight_decay,
        clip=wanted.clip,
        accumulate=wanted.accumulate,
    )


def _settings(config: ConfigDict, watchdog: float) -> Settings:
    wanted = config.train
    return Settings(
        steps=wanted.steps,
        batch_size=wanted.batch,
        seed=config.seed,
        checkpoint_every=wanted.checkpoint_every,
        validate_every=wanted.validate_every,
        keep=wanted.keep,
        log_every=min(wanted.log_every, max(wanted.steps // 20, 1)),  # a curve even of a short run
        chunk=wanted.chunk,
        backend=wanted.backend,
        max_skips=wanted.max_skips,
        watchdog=watchdog,
    )


def validator(
    generator: models.SpectralDiffusion, windows: WindowSet, batch: int
) -> Callable[[Any], float] | None:
    """Returns the loss of the averaged weights on validation windows, times and noise fixed.

    The same draw at every call, so that scores differ by the weights alone. None without windows.

    Args:
      generator: the model.
      windows: the validation part.
      batch: the training batch, over which stratified times are spread.
    """
    if not len(windows):
        return None
    rounds = max(min(len(windows), _JUDGED) // batch, 1)
    chosen = np.linspace(0, len(windows) - 1, rounds * batch).astype(int).reshape(rounds, batch)
    condition = windows.condition()
    slots = jnp.broadcast_to(jnp.arange(batch, dtype=jnp.int32), (rounds, batch))
    parts = models.Batch(
        jnp.asarray(windows.take(chosen.ravel())).reshape(rounds, batch, windows.length, -1),
        slots,
        None if condition is None else jnp.asarray(condition)[chosen],
    )
    keys = jax.random.split(jax.random.key(0), rounds)

    @jax.jit
    def mean_loss(params: Any) -> jax.Array:
        return jnp.mean(jax.lax.map(lambda kb: generator.loss(params, *kb), (keys, parts)))

    return lambda state: float(mean_loss(state.ema))


def stored_steps(workdir: Path) -> list[int]:
    """The steps of a run's checkpoints, whole or damaged."""
    found = (workdir / "checkpoints").glob("[0-9]*")
    names = (path.name.removesuffix(".damaged") for path in found)
    return [int(name) for name in names if name.isdecimal()]


def refuse_other_settings(workdir: Path, config: ConfigDict) -> None:
    """Refuses to go on with a run under settings that would make it another run.

    A run that ended before its first checkpoint has nothing to go on with: it begins anew.

    Raises:
      PacodiError: naming the first setting that differs.
    """
    path = workdir / run.SETTINGS
    begun = stored_steps(workdir) or (workdir / run.WEIGHTS).exists()
    if not begun or not path.exists():
        return
    try:
        before = _flat(configuration.from_json(path.read_text()).to_dict())
    except (ValueError, TypeError) as error:
        raise PacodiError(f"{path} cannot be read ({error}); use another --workdir.") from error
    now = _flat(configuration.from_json(configuration.to_json(config)).to_dict())
    for name in sorted(before.keys() | now.keys()):
        free = any(name == f or name.startswith(f + ".") for f in FREE)
        if not free and before.get(name) != now.get(name):
            raise PacodiError(
                f"config.{name}={now.get(name)!r}, but the run in {path.parent} was begun with "
                f"{before.get(name)!r}. Use that, or another --workdir."
            )


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        inside = isinstance(value, dict)
        flat |= _flat(value, f"{prefix}{name}.") if inside else {f"{prefix}{name}": value}
    return flat


def _describe(workdir: Path, config: ConfigDict, dataset: Dataset) -> None:
    """Writes what the run is made of."""
    workdir.mkdir(parents=True, exist_ok=True)
    write_text(workdir / run.SETTINGS, configuration.to_json(config))
    write_text(workdir / run.RECIPE, dataset.recipe.to_json())
    if dataset.report.rejected:
        print(f"note: {dataset.report.malformed}")
    if dataset.report.unread:
        print(
            f"note: {dataset.report.unread} of {len(dataset.validation)} validation windows have a "
            "text without any word of the training texts; the validation loss takes it as a text "
            "that says nothing"
        )
    described = environment.describe(config.seed, dataset.fingerprint)
    write_text(workdir / "environment.json", json.dumps(described, indent=2) + "\n")
