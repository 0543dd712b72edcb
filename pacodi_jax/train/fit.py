"""Training from wherever a run stands to its end."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.checkpoint import Checkpoints
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Generator
from pacodi_jax.settings import Config, TrainSettings, first_difference
from pacodi_jax.train.display import Display, Silent
from pacodi_jax.train.host_loop import Run, Session, Sinks
from pacodi_jax.train.log import Metrics
from pacodi_jax.train.signals import Signals
from pacodi_jax.train.sources import Source


def fit(
    generator: Generator,
    source: Source,
    settings: TrainSettings,
    *,
    seed: int,
    identity: dict[str, Any] | None = None,
    workdir: Path | None = None,
    validate: Callable[[Any], float] | None = None,
    display: Display | None = None,
    signals: Signals | None = None,
    watchdog: float = 300.0,
) -> Run:
    """Trains ``generator`` until ``settings.steps``, or until a signal; resumes what was begun.

    Args:
      generator: what to train; its state has ``step``, ``skipped`` and ``consecutive_skips``.
      source: of the batches, the same on every process.
      settings: how long and how carefully.
      seed: of the initial weights and all randomness of training.
      identity: JSON facts that must be the same when the run is resumed; those of ``settings``
        that are free to change may differ.
      workdir: the run's folder; checkpoints and metrics are written there by process 0. None
        writes nothing, so nothing can be resumed.
      validate: ``validate(state) -> score`` by which the best checkpoint is chosen; by default
        the training loss since the last one.
      display: what shows the progress.
      signals: takes SIGTERM and SIGINT over while it trains, to stop at the end of a chunk; for
        commands, which own their process. None leaves signals alone.
      watchdog: seconds without a finished chunk that end one process of several; 0 is never.

    Raises:
      PacodiError: for data or batches that cannot be trained on, a checkpoint that cannot be
        restored or written, or too many steps in a row that were not finite.
    """
    refuse_uneven_batch(settings.batch)
    identity = identity or {}
    display = display if display is not None and parallel.is_primary() else Silent()
    kept = workdir if parallel.is_primary() else None
    with contextlib.ExitStack() as stack:
        if signals is not None:
            stack.enter_context(signals)
        store = None
        if kept is not None:
            store = stack.enter_context(Checkpoints(kept / "checkpoints", settings.keep))
        step, state = _start(generator, source, settings.batch, seed, identity, store)
        if step >= settings.steps:
            return Run(step, state, step, None)
        metrics = stack.enter_context(Metrics(kept, step))
        stack.callback(display.stop)
        display.start(step, settings.steps)
        sinks = Sinks(identity, store, metrics, display)
        session = Session(settings, sinks, signals or Signals(), validate, watchdog)
        return session.run(generator, source, step, state)


def refuse_uneven_batch(batch: int) -> None:
    """Refuses a global batch that cannot be shared out among all devices.

    Raises:
      PacodiError: naming the setting and the nearest batches that can.
    """
    devices = jax.device_count()
    if batch % devices:
        below = batch // devices * devices
        near = f"{below} or {below + devices}" if below else str(devices)
        raise PacodiError(
            f"train.batch={batch} does not divide among {devices} devices; use {near}."
        )


def _start(
    generator: Generator,
    source: Source,
    global_batch: int,
    seed: int,
    identity: dict[str, Any],
    store: Checkpoints | None,
) -> tuple[int, Any]:
    """Returns the step to start from and the state there, equal on all processes."""
    batch = source.example(global_batch // jax.device_count())
    key = jax.random.key(seed)
    template = jax.eval_shape(generator.init, key, batch)
    found = store.restore(template) if store else None
    if found:
        _require_same(identity, found.metadata, found.step)
    parallel.meet("data loaded, checkpoint restored")
    step = int(parallel.agree(found.step if found else -1))
    if found:
        state = found.state
    elif step >= 0:
        state = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), template)
    else:
        state = jax.tree.map(np.asarray, jax.jit(generator.init)(key, batch))
    return max(step, 0), parallel.broadcast(state)


def _require_same(identity: dict[str, Any], saved: dict[str, Any], step: int) -> None:
    for name, then, now in _differences(identity, saved):
        raise PacodiError(
            f"this run was begun with other {name} and is at step {step} "
            f"({_short(then)} then, {_short(now)} now). Use what it was begun with, or another "
            "folder."
        )


def _differences(identity: dict[str, Any], saved: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Facts that differ: the name, the saved value and the present one."""
    for name in sorted((identity.keys() | saved.keys()) - {"settings"}):
        if identity.get(name) != saved.get(name):
            yield name, saved.get(name), identity.get(name)
    if "settings" in identity.keys() & saved.keys():  # checkpoints of older versions have none
        then, now = (Config.make(facts["settings"]) for facts in (saved, identity))
        difference = first_difference(then, now)
        if difference is not None:
            yield difference


def _short(fact: Any) -> str:
    """Returns a fact, a fingerprint cut to its first digits."""
    return str(fact) if len(str(fact)) <= 32 else f"{str(fact)[:12]}…"
