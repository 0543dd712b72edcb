"""The host's side of training: dispatch, watch, record, save, stop."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.checkpoint import Checkpoints
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Generator
from pacodi_jax.networks.products import largest_result, matmul_flops
from pacodi_jax.report.numbers import duration
from pacodi_jax.run import room
from pacodi_jax.settings import TrainSettings
from pacodi_jax.train import device_loop, estimate, pace
from pacodi_jax.train.display import Display
from pacodi_jax.train.log import Metrics
from pacodi_jax.train.signals import Signals
from pacodi_jax.train.sources import Source

#: Seconds the first chunk may take, compiling included, before a job counts as stuck.
_COMPILING = 1800.0
#: A loss beyond this is that of no model of scaled data.
_HOPELESS = 1e8


class Run(NamedTuple):
    """How a run ended.

    Attributes:
      step: the last step taken.
      state: the training state there, numpy arrays.
      first: the step it started from; equal to ``step`` if there was nothing left to do.
      signal: the signal that ended it, or None.
    """

    step: int
    state: Any
    first: int
    signal: str | None


class Sinks(NamedTuple):
    """Where training leaves what it has to tell.

    Attributes:
      identity: JSON facts that travel with every checkpoint.
      store: the checkpoints; None keeps none.
      metrics: the file of metrics.
      display: what people see.
    """

    identity: dict[str, Any]
    store: Checkpoints | None
    metrics: Metrics
    display: Display


class Session:
    """One stretch of training, from where it starts or resumes to where it ends.

    What the host has to do between two chunks waits in ``later`` until the next one is under way:
    the devices never wait for a file.

    Args:
      settings: the ``train`` section.
      sinks: where it leaves what it has to tell.
      signals: know whether a signal asks for the end.
      validate: ``validate(state) -> score``; None scores by the training loss.
      watchdog: seconds without a finished chunk that end one process of several; 0 is never.
    """

    def __init__(
        self,
        settings: TrainSettings,
        sinks: Sinks,
        signals: Signals,
        validate: Callable[[Any], float] | None,
        watchdog: float,
    ):
        self.settings, self.signals, self.validate = settings, signals, validate
        self.identity, self.store, self.metrics, self.display = sinks
        alone = jax.process_count() == 1
        self.watchdog = parallel.Watchdog(0.0 if alone else watchdog, _COMPILING)
        self.chunk = settings.chunk or pace.TIMED
        self.since_log, self.since_save = device_loop.Tally(), device_loop.Tally()
        self.later: list[Callable[[], None]] = []
        self.chunks = 0
        self.skipped = 0
        self.losses: list[float] = []  # the first that was told, and the last
        self.stopped = False
        self.processor = time.process_time()  # of this process when a line was last told

    def run(
        self,
        generator: Generator,
        source: Source,
        step: int,
        state: Any,
    ) -> Run:
        """Takes all steps that are left, or those before a signal."""
        backend = self.settings.backend
        live, data = parallel.replicate(state, backend), source.data(step, backend)
        program = parallel.map_step(
            device_loop.chunk(generator, source.batch, self.settings.max_skips),
            backend,
            own_data=source.own,
        )
        traced = jax.make_jaxpr(program)(live, data, np.int32(0))
        if jax.default_backend() == "cpu":  # elsewhere the device itself says what it lacks
            room.require(
                2 * largest_result(traced.jaxpr),
                f"a step of train.batch={self.settings.batch}",
                "Lower train.batch, model.width or data.length.",
            )
        flops = matmul_flops(traced.jaxpr) * parallel.traced_devices(backend)
        held = parallel.bytes_per_device(data)
        self.display.say(estimate.before(generator.weights(state), state, held, flops))
        with self.watchdog:
            compiled, live = self._compile(program, live, data)
            parallel.meet("compiled")
            end, state = self._steps(compiled, live, source, step)
        self._refuse_divergence()
        stopped = self.signals.received or "a signal to another process"
        return Run(end, state, step, stopped if self.stopped else None)

    def _compile(self, program: Any, live: Any, data: Any) -> tuple[Callable, Any]:
        """Returns the compiled step and the state; refuses what no device can hold.

        Where a step compiles at its first call alone, its memory is not known before.
        """
        begun = time.perf_counter()
        if not parallel.compiles_ahead(self.settings.backend):
            live, _ = jax.block_until_ready(program(live, data, np.int32(0)))
            self.display.say(f"compiled in {duration(time.perf_counter() - begun)}")
            return program, live
        compiled = program.lower(live, data, np.int32(0)).compile()
        needed = estimate.of_compiled(compiled)
        self.display.say(
            f"compiled in {duration(time.perf_counter() - begun)}; {needed.words} per device"
        )
        room.require_on_device(needed.held, needed.added, f"train.batch={self.settings.batch}")
        return compiled, live

    def _steps(self, program: Callable, live: Any, source: Source, step: int) -> tuple[int, Any]:
        """Dispatches chunk after chunk; returns the last step and the state there."""
        state, ended = None, time.perf_counter()
        self.processor = time.process_time()
        while step < self.settings.steps and not self.stopped:
            count = self._length(step, source.steps)
            begun = time.perf_counter()
            data = source.data(step, self.settings.backend)
            live, sums = program(live, data, np.int32(count))
            self._catch_up()
            sums, step = self._wait(live, sums)
            now = time.perf_counter()
            idle, seconds, ended = begun - ended, now - ended, now
            self.chunks += 1
            if self.chunks == 2:  # the first one still connects devices and warms caches
                self._settle(count, seconds, step)
            self._note(step, count, sums, seconds, idle)
            self.stopped = bool(parallel.agree(float(self.signals.received is not None)))
            state = self._look(live, step)
        self._finish()
        return step, state

    def _length(self, step: int, block: int) -> int:
        """Returns the steps of the next chunk, which ends where something is due, or a block."""
        settings = self.settings
        due = [self.chunk, settings.every("checkpoint_every"), *([block] if block else [])]
        due += [settings.every("validate_every")] if self.validate else []
        return min(settings.steps - step, *(every - step % every for every in due))

    def _wait(self, live: Any, sums: device_loop.Sums) -> tuple[device_loop.Sums, int]:
        """Waits for a chunk; returns its metrics and the step it reached."""
        counters = (live.step, live.skipped, live.consecutive_skips)
        sums, (step, skipped, row) = parallel.unreplicate((sums, counters), self.settings.backend)
        self.watchdog.beat()
        if row >= self.settings.max_skips:
            self._finish()
            raise PacodiError(self._divergence(int(step), int(row), int(skipped)))
        self.skipped = int(skipped)
        return sums, int(step)

    def _divergence(self, step: int, row: int, skipped: int) -> str:
        before = self.since_save.means().get("loss", float("nan"))
        known = f"The loss was {before:.4g} before: the" if np.isfinite(before) else "Perhaps the"
        kept = self.store.check() if self.store else None
        return (
            f"the loss or its gradient was not finite at {row} steps in a row, the last at step "
            f"{step} ({skipped} in all). {known} learning rate may be too high, or the data hold "
            f"extreme values. No bad step was applied; the last checkpoint is "
            f"{'none yet' if kept is None else f'step {kept}'}. Lower train.learning_rate or "
            "train.clip and begin another --workdir."
        )

    def _refuse_divergence(self) -> None:
        """Refuses to call trained what ended far from where any model begins, and did not fall."""
        if self.stopped or not self.losses:
            return
        first, last = self.losses[0], self.losses[-1]
        if last > max(_HOPELESS, first / 10):
            raise PacodiError(
                f"training diverged: the loss is {last:.3g} at the end, after {first:.3g} at the "
                "beginning, and no model was written. Lower train.learning_rate or train.clip and "
                "begin in another folder."
            )

    def _settle(self, count: int, seconds: float, step: int) -> None:
        """Says how long the run will take and chooses the length of chunks, if that is free."""
        left = self.settings.steps - step
        size = self.settings.batch
        if left:
            self.display.say(estimate.after(count, seconds, left, size))
        if not self.settings.chunk:
            length = pace.chunk_length(seconds / count, self.settings.every("log_every"))
            self.chunk = int(parallel.agree(length))

    def _note(
        self, step: int, count: int, sums: device_loop.Sums, seconds: float, idle: float
    ) -> None:
        """Adds a chunk to the tallies, and tells them when a line is due."""
        self.since_log.add(sums, count, seconds, idle)
        self.since_save.add(sums, count, seconds, idle)
        tally = self.since_log
        if tally.steps < self.settings.every("log_every") and step < self.settings.steps:
            return
        self.since_log = device_loop.Tally()
        metrics = tally.means()
        self.losses = [*self.losses[:1], metrics["loss"]]
        speed = tally.steps * self.settings.batch / tally.seconds
        before, self.processor = self.processor, time.process_time()
        line = (
            {"loss": metrics["loss"]}
            | metrics
            | {
                "windows_per_second": speed,
                "idle": tally.idle / tally.seconds,
                "processor_seconds": self.processor - before,
                "skipped": self.skipped,
            }
        )
        left = (self.settings.steps - step) * tally.seconds / tally.steps
        self._postpone(self.metrics.write, step, line)
        self._postpone(self._show, step, metrics["loss"], speed, left)

    def _show(self, step: int, loss: float, speed: float, left: float) -> None:
        saved = self.store.check() if self.store else None
        self.display.show(step, loss, speed, left, saved)

    def _look(self, live: Any, step: int) -> Any:
        """Validates and saves where that is due; returns the state if it was looked at."""
        settings, last = self.settings, step == self.settings.steps
        save = self.stopped or last or step % settings.every("checkpoint_every") == 0
        judge = self.validate is not None and (last or step % settings.every("validate_every") == 0)
        if not save and not judge:
            return None
        state = parallel.unreplicate(live, settings.backend)
        if self.store is None:
            return state
        score = self.since_save.means()["loss"] if self.validate is None else None
        if self.validate is not None and judge:
            score = self.validate(state)
            self._postpone(self.metrics.write, step, {"validation": score})
        if save:
            self._postpone(self.store.save, step, state, self.identity, score)
            self.since_save = device_loop.Tally()
        return state

    def _postpone(self, task: Callable, *arguments: Any) -> None:
        self.later.append(lambda: task(*arguments))

    def _catch_up(self) -> None:
        """Does what has waited, and hears at once of a save that failed."""
        for task in self.later:
            task()
        self.later = []
        if self.store is not None:
            self.store.check()

    def _finish(self) -> None:
        """Leaves only when the last checkpoint is durable, all processes together."""
        self._catch_up()
        if self.store is not None:
            self.store.finish()
        self.watchdog.beat()
        parallel.agree(0.0)
