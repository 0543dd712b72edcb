"""Diffusion of spectra behind the Generator protocol: PaCoDi, and its relatives by another view."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from pacodi_jax.core import calibration, diffusion, guidance, wiener
from pacodi_jax.core.calibration import Calibration
from pacodi_jax.core.solvers import StepRule, draw
from pacodi_jax.core.spectrum import sample_noise, to_series, to_spectrum
from pacodi_jax.core.statistics import Statistics
from pacodi_jax.core.training_times import TimeSampler
from pacodi_jax.core.wiener import Moments
from pacodi_jax.models.state import Batch, TrainState, advance
from pacodi_jax.models.views import View
from pacodi_jax.types import Array, Denoiser, Key, Prediction, Quadratures, Schedule

PARAMETERISATIONS = ("wiener", "noise")
LOSSES = ("velocity", "noise")
WEIGHTINGS = ("simple", "angle", "elbo")
_DONOR = 0xD0  # folded into a window's key for its donor; its draw splits the same key in two


class Process(NamedTuple):
    """The forward process and what the network predicts of it.

    Attributes:
      schedule: the noise schedule.
      moments: of the training spectra.
      parameterisation: ``wiener`` (the network maps z to the velocity) or ``noise`` (x to ε).
      loss: ``velocity`` or ``noise``.
      weighting: ``simple`` (1), ``angle`` (a slot by the speed of its own clock) or ``elbo``.
      times: draws the training times.
      discrete_steps: T for DDPM, None for continuous time.
    """

    schedule: Schedule
    moments: Moments
    parameterisation: str
    loss: str
    weighting: str
    times: TimeSampler
    discrete_steps: int | None


class Sampler(NamedTuple):
    """How samples are drawn: the step rule, its falling times, the guidance scale, the block."""

    rule: StepRule
    times: Array
    guidance: float
    block: int


@dataclass(frozen=True, eq=False)
class SpectralDiffusion:
    """A generator that diffuses spectra.

    Attributes:
      view: the network as a function of spectra.
      statistics: how windows become spectra and back.
      borrowed: real windows' mean and scale, ``(M, C)`` each, under ``oracle``; else None.
      condition_scale: mean ``(E,)`` and scale ``()`` by which conditions are standardised.
      calibration: what samples are corrected by, or None.
      process: the forward process and the training target.
      sampler: how samples are drawn.
      optimiser: an optax chain; averaging over devices, if any, is its first link.
      ema_decay: of the parameters that sampling uses.
      condition_dropout: how often an example's condition gives way to the null, drawn an example.
    """

    view: View
    statistics: Statistics
    borrowed: tuple[Array, Array] | None
    condition_scale: tuple[Array, Array] | None
    calibration: Calibration | None
    process: Process
    sampler: Sampler
    optimiser: optax.GradientTransformationExtraArgs
    ema_decay: float
    condition_dropout: float

    def init(self, key: Key, batch: Batch) -> TrainState:
        """Returns the state before the first step; ``batch`` gives the shapes."""
        network_key, training_key = jax.random.split(key)
        params = self.view.init(network_key, jax.vmap(self.statistics.encode)(batch.windows[:1]))
        return TrainState(
            step=jnp.zeros((), jnp.int32),
            params=params,
            ema=params,
            optimiser=self.optimiser.init(params),
            skipped=jnp.zeros((), jnp.int32),
            consecutive_skips=jnp.zeros((), jnp.int32),
            key=jax.random.key_data(training_key),
        )

    def update(self, state: TrainState, batch: Batch) -> tuple[TrainState, dict[str, Array]]:
        """One step on this device's part of the global batch."""
        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), state.step)
        loss, gradients = jax.value_and_grad(self.loss)(state.params, key, batch)
        metrics = {"loss": loss, "gradient_norm": optax.tree.norm(gradients)}
        return advance(state, gradients, loss, self.optimiser, self.ema_decay), metrics

    def loss(self, params: Any, key: Key, batch: Batch, kind: str | None = None) -> Array:
        """The mean loss of a batch; ``kind`` overrides which one (to compare models by noise)."""
        clock_key, example_key = jax.random.split(key)
        keys = jax.vmap(partial(jax.random.fold_in, example_key))(batch.slot)
        time_keys, noise_keys, drop_keys = jax.vmap(partial(jax.random.split, num=3))(keys).T
        t = self.process.times(clock_key, time_keys, batch.slot)
        clean = jax.vmap(self.statistics.encode)(batch.windows)
        noisy, noise = jax.vmap(self._perturb)(noise_keys, clean, t)
        inputs = jax.vmap(self._network_input)(noisy, t)
        drop = self._dropped(drop_keys, batch)
        output = self.view.apply(params, inputs, t, self._standard(batch.condition), drop)
        losses = jax.vmap(partial(self._example_loss, kind or self.process.loss))(
            output, inputs, Prediction(noise, clean), t
        )
        return jnp.mean(losses)

    def _dropped(self, keys: Array, batch: Batch) -> Array | None:
        """Which examples train the null: some at random, of those that are not rehearsed."""
        if batch.condition is None:
            return None
        drop = jax.vmap(lambda key: jax.random.bernoulli(key, self.condition_dropout))(keys)
        return drop if batch.rehearsed is None else drop & ~batch.rehearsed

    def _standard(self, condition: Array | None) -> Any:
        if condition is None or self.condition_scale is None:
            return condition
        mean, scale = self.condition_scale
        return (condition - mean) / scale

    def _perturb(self, key: Key, clean: Quadratures, t: Array) -> tuple[Quadratures, Quadratures]:
        return diffusion.perturb(key, self.process.schedule, clean, t, self.statistics.variance)

    def _coordinates(self, t: Array) -> tuple[Array, Array, Moments, Quadratures]:
        schedule = self.process.schedule
        return schedule.alpha(t), schedule.sigma(t), self.process.moments, self.statistics.variance

    def _network_input(self, state: Quadratures, t: Array) -> Quadratures:
        if self.process.parameterisation == "noise":
            return state
        return wiener.to_z(state, *self._coordinates(t))

    def _prediction(self, output: Quadratures, inputs: Quadratures, t: Array) -> Prediction:
        """What the network's output says of one window's noise and clean spectrum."""
        alpha, sigma, moments, variance = self._coordinates(t)
        if self.process.parameterisation == "noise":
            return Prediction(output, diffusion.clean_from_noise(inputs, output, alpha, sigma))
        theta = wiener.angle(alpha, sigma, moments, variance)
        return wiener.predict(inputs, output, theta, moments, variance)

    def _example_loss(
        self, kind: str, output: Quadratures, inputs: Quadratures, truth: Prediction, t: Array
    ) -> Array:
        alpha, sigma, moments, variance = self._coordinates(t)
        theta = wiener.angle(alpha, sigma, moments, variance)
        velocity = kind == "velocity"
        if velocity:
            pair = output, wiener.velocity(truth, theta, moments, variance)
        else:
            pair = self._prediction(output, inputs, t).noise, truth.noise
        if self.process.weighting == "angle":
            roots = jax.tree.map(jnp.sqrt, wiener.pace(theta, variance))
            pair = tuple(jax.tree.map(jnp.multiply, part, roots) for part in pair)
        loss = (diffusion.slot_loss if velocity else diffusion.noise_loss)(*pair, variance)
        if self.process.weighting != "elbo":
            return loss
        steps = self.process.discrete_steps
        before = None if steps is None else t - 1 / steps
        return loss * diffusion.elbo_weight(self.process.schedule, t, before)

    def denoiser(self, params: Any, condition: Array | None = None) -> Denoiser:
        """The network as a denoiser of one window, under one condition ``(E,)`` or none."""

        def denoise(state: Quadratures, t: Array) -> Prediction:
            inputs = self._network_input(state, t)
            one = jax.tree.map(lambda x: x[None], inputs)
            row = None if condition is None else self._standard(condition)[None]
            output = self.view.apply(params, one, t[None], row, None)
            return self._prediction(jax.tree.map(lambda x: x[0], output), inputs, t)

        return denoise

    def _draw_one(
        self, params: Any, key: Key, condition: Array | None, borrowed: tuple[Array, Array] | None
    ) -> Array:
        denoiser = self.denoiser(params)
        if condition is not None:
            bound = self.denoiser(params, condition)
            denoiser = guidance.classifier_free(bound, denoiser, self.sampler.guidance)
        start_key, step_key = jax.random.split(key)
        spectrum = draw(
            self.sampler.rule,
            denoiser,
            self.process.schedule,
            self.statistics.variance,
            step_key,
            self._start(start_key),
            self.sampler.times,
        )
        return self._corrected(self.statistics.decode(spectrum, *(borrowed or ())))

    def _corrected(self, window: Array) -> Array:
        """A drawn window ``(L, C)`` after calibration."""
        if self.calibration is None:
            return window
        return to_series(calibration.apply(self.calibration, to_spectrum(window)), len(window))

    def calibrated(self, key: Key, params: Any, windows: Array, draws: int) -> Calibration:
        """Fits the correction of samples to training windows ``(N, L, C)`` and to fresh draws."""
        bare = replace(self, calibration=None)
        spectra = jax.jit(jax.vmap(to_spectrum))
        return calibration.fit(spectra(windows), spectra(bare.sample(key, params, draws)))

    def _start(self, key: Key) -> Quadratures:
        """The first state: in Wiener coordinates from the fitted moments, else from N(0, V)."""
        if self.process.parameterisation == "noise":
            channels = self.process.moments.mean.real.shape[1]
            return sample_noise(key, self.statistics.variance, channels)
        return wiener.start(key, *self._coordinates(self.sampler.times[0]))

    @cached_property
    def _draw_block(self) -> Callable[..., Array]:
        """Draws a block of windows: one compiled program for all blocks."""
        return jax.jit(jax.vmap(self._draw_one, in_axes=(None, 0, 0, 0)))

    def sample(
        self,
        key: Key,
        params: Any,
        count: int,
        condition: Array | None = None,
        borrowed: tuple[Array, Array] | None = None,
    ) -> Array:
        """Draws ``count`` windows ``(count, L, C)``; window i depends only on (key, i).

        A block of windows is shared out among all devices of this process.

        Args:
          key: random key.
          params: of the network; training hands over the moving average.
          count: how many.
          condition: ``(count, E)``, a row for each window.
          borrowed: under ``oracle``, the mean and scale ``(count, C)`` that the windows shall
            wear; by default those of training windows drawn at random, with replacement.
        """
        devices = jax.local_devices()
        size = -(-min(self.sampler.block, count) // len(devices)) * len(devices)
        shares = NamedSharding(Mesh(np.asarray(devices), "block"), PartitionSpec("block"))
        blocks = []
        for first in range(0, count, size):
            rows = jnp.minimum(jnp.arange(first, first + size), count - 1)
            rows = jax.device_put(rows, shares)
            keys = jax.vmap(partial(jax.random.fold_in, key))(rows)
            worn = (
                self._borrow(keys)
                if borrowed is None
                else jax.tree.map(lambda real, rows=rows: jnp.asarray(real)[rows], borrowed)
            )
            given = None if condition is None else condition[rows]
            blocks.append(self._draw_block(params, keys, given, worn))
        return jnp.concatenate(blocks)[:count]

    def _borrow(self, keys: Array) -> tuple[Array, Array] | None:
        """Mean and scale of a training window for each key; neighbours would all be alike."""
        if self.borrowed is None:
            return None
        mean, scale = self.borrowed
        donors = jax.vmap(
            lambda key: jax.random.randint(jax.random.fold_in(key, _DONOR), (), 0, len(mean))
        )(keys)
        return mean[donors], scale[donors]
