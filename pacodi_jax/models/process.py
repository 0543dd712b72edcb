"""The forward process of a model and what its network predicts of it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax.core import diffusion, wiener
from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.core.schedule import SCHEDULES
from pacodi_jax.core.spectrum import sample_noise
from pacodi_jax.core.training_times import TimeSampler, time_sampler
from pacodi_jax.core.wiener import Moments
from pacodi_jax.models.settings import Diffusion
from pacodi_jax.types import Array, Key, Prediction, Quadratures, Schedule


class Process(NamedTuple):
    """Noise, coordinates and targets of one model; all methods are for one window and jit.

    Attributes:
      settings: the ``diffusion`` section.
      schedule: the noise schedule.
      moments: of the training spectra.
      variance: the noise law.
    """

    settings: Diffusion
    schedule: Schedule
    moments: Moments
    variance: Quadratures

    @property
    def discrete_steps(self) -> int | None:
        """T for DDPM, None in continuous time."""
        return self.settings.ddpm_steps if self.settings.variant == "ddpm" else None

    def training_times(self, batch: int) -> TimeSampler:
        """Draws the times of a global batch."""
        return time_sampler(
            self.settings.times,
            self.schedule,
            self.moments,
            self.variance,
            strata=batch if self.settings.stratified else None,
            discrete_steps=self.discrete_steps,
        )

    def perturb(self, key: Key, clean: Quadratures, t: Array) -> tuple[Quadratures, Quadratures]:
        """``(noisy, noise)`` at time t."""
        return diffusion.perturb(key, self.schedule, clean, t, self.variance)

    def start(self, key: Key, t: Array) -> Quadratures:
        """The first state: in Wiener coordinates from the fitted moments, else from N(0, V)."""
        if self.settings.parameterisation == "noise":
            return sample_noise(key, self.variance, self.moments.mean.real.shape[1])
        return wiener.start(key, *self._coordinates(t))

    def _coordinates(self, t: Array) -> tuple[Array, Array, Moments, Quadratures]:
        return self.schedule.alpha(t), self.schedule.sigma(t), self.moments, self.variance

    def network_input(self, state: Quadratures, t: Array) -> Quadratures:
        """What the network is fed: the state, or its Wiener coordinates z."""
        if self.settings.parameterisation == "noise":
            return state
        return wiener.to_z(state, *self._coordinates(t))

    def prediction(self, output: Quadratures, inputs: Quadratures, t: Array) -> Prediction:
        """What the network's output says of a window's noise and clean spectrum."""
        alpha, sigma, moments, variance = self._coordinates(t)
        if self.settings.parameterisation == "noise":
            return Prediction(output, diffusion.clean_from_noise(inputs, output, alpha, sigma))
        theta = wiener.angle(alpha, sigma, moments, variance)
        return wiener.predict(inputs, output, theta, moments, variance)

    def loss(self, output: Quadratures, inputs: Quadratures, truth: Prediction, t: Array) -> Array:
        """The weighted loss of one window."""
        alpha, sigma, moments, variance = self._coordinates(t)
        theta = wiener.angle(alpha, sigma, moments, variance)
        velocity = self.settings.loss == "velocity"
        if velocity:
            pair = output, wiener.velocity(truth, theta, moments, variance)
        else:
            pair = self.prediction(output, inputs, t).noise, truth.noise
        if self.settings.weighting == "angle":
            roots = jax.tree.map(jnp.sqrt, wiener.pace(theta, variance))
            pair = tuple(jax.tree.map(jnp.multiply, part, roots) for part in pair)
        loss = (diffusion.slot_loss if velocity else diffusion.noise_loss)(*pair, variance)
        if self.settings.weighting != "elbo":
            return loss
        steps = self.discrete_steps
        before = None if steps is None else t - 1 / steps
        return loss * diffusion.elbo_weight(self.schedule, t, before)


def make_process(settings: Diffusion, coding: LevelCoding, moments: Moments) -> Process:
    """The process that the settings ask for."""
    return Process(settings, make_schedule(settings), moments, coding.variance)


def make_schedule(settings: Diffusion) -> Schedule:
    """The noise schedule; under DDPM it ends at the first grid time t = 1/T."""
    if settings.schedule == "ddpm_linear":
        return SCHEDULES["ddpm_linear"](settings.ddpm_steps)
    schedule = SCHEDULES[settings.schedule]()
    if settings.variant == "ddpm":
        return schedule._replace(t_min=1.0 / settings.ddpm_steps)
    return schedule
