"""Exact Gaussian processes: their denoiser, their flow, and their law pushed through a solver.

States are flat here: ``ravel_pytree`` of ``Quadratures`` of ``(K, C)``, D = 2KC numbers, of which
those with V = 0 are dead. In the eigenbasis of V^{-1/2} Cov V^{-1/2} everything has closed form.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from pacodi_jax.core import spectrum, wiener
from pacodi_jax.core.guidance import fold
from pacodi_jax.core.solvers import SOLVERS, Problem, StepRule
from pacodi_jax.types import Denoiser, Guide, Prediction, Quadratures, Schedule


class Law(NamedTuple):
    """Mean (D,) and covariance (D, D)."""

    mean: jax.Array
    covariance: jax.Array


class Process(NamedTuple):
    """A Gaussian law of clean spectra, with the noise law of its windows."""

    law: Law
    variance: Quadratures
    channels: int

    @property
    def noise(self) -> np.ndarray:
        """V of every slot, flat (D,)."""
        parts = [np.repeat(np.asarray(part), self.channels, axis=1) for part in self.variance]
        return np.concatenate([part.ravel() for part in parts])

    def unravel(self, flat: jax.Array) -> Quadratures:
        """The two quadratures of a flat state."""
        real, imag = jnp.split(flat, 2)
        return Quadratures(real.reshape(-1, self.channels), imag.reshape(-1, self.channels))

    def modes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(to, back, Λ): x − αm = back @ y, y = to @ (x − αm); Var(y) = α²Λ + σ² for noisy x."""
        noise = self.noise
        live = noise > 0
        root = np.sqrt(noise)
        inverse = np.where(live, 1 / np.where(live, root, 1), 0)
        whitened = inverse[:, None] * np.asarray(self.law.covariance) * inverse
        values, vectors = np.linalg.eigh(whitened[np.ix_(live, live)])
        basis = np.zeros((noise.size, values.size))
        basis[live] = vectors
        return basis.T * inverse, root[:, None] * basis, values

    def denoiser(self, schedule: Schedule) -> Denoiser:
        """The exact one: w = T⁻¹(x − αm), ε̂ = σVw, x̂₀ = m + α Cov w."""
        to, back, values = (jnp.asarray(part) for part in self.modes())
        mean = jnp.asarray(self.law.mean)

        def denoise(state: Quadratures, t: jax.Array) -> Prediction:
            alpha, sigma = schedule.alpha(t), schedule.sigma(t)
            weight = to @ (ravel_pytree(state)[0] - alpha * mean)
            weight = weight / (alpha**2 * values + sigma**2)
            noise, clean = sigma * (back @ weight), mean + alpha * (back @ (values * weight))
            return Prediction(self.unravel(noise), self.unravel(clean))

        return denoise

    def log_density(self, schedule: Schedule) -> Callable[[Quadratures, jax.Array], jax.Array]:
        """log p_t of a noisy state on its live slots, up to a constant of V alone."""
        to, _, values = (jnp.asarray(part) for part in self.modes())

        def evaluate(state: Quadratures, t: jax.Array) -> jax.Array:
            alpha, sigma = schedule.alpha(t), schedule.sigma(t)
            mode = to @ (ravel_pytree(state)[0] - alpha * self.law.mean)
            spread = alpha**2 * values + sigma**2
            return -0.5 * jnp.sum(mode**2 / spread + jnp.log(spread))

        return evaluate

    def noisy(self, schedule: Schedule, t: float) -> Law:
        """The law at time t: mean αm, covariance α²C + σ²V."""
        alpha, sigma = schedule.alpha(t), schedule.sigma(t)
        noise = jnp.diag(jnp.asarray(self.noise))
        return Law(alpha * self.law.mean, alpha**2 * self.law.covariance + sigma**2 * noise)

    def moments(self) -> wiener.Moments:
        """The exact mean and diagonal variance; dead slots get an arbitrary positive one."""
        diagonal = np.diag(np.asarray(self.law.covariance))
        variance = np.where(diagonal > 0, diagonal, diagonal.max())
        return wiener.Moments(self.unravel(self.law.mean), self.unravel(jnp.asarray(variance)))

    def flow(self, schedule: Schedule, t: float, s: float | None) -> Callable:
        """The probability-flow map from time t to s, or to clean data if s is None."""
        to, back, values = self.modes()
        (a_t, o_t), (a_s, o_s) = (
            (1.0, 0.0) if time is None else (schedule.alpha(time), schedule.sigma(time))
            for time in (t, s)
        )
        stretch = np.sqrt((a_s**2 * values + o_s**2) / (a_t**2 * values + o_t**2))
        mean = self.law.mean
        return lambda x: a_s * mean + back @ (stretch * (to @ (x - a_t * mean)))


def basis(length: int, channels: int) -> np.ndarray:
    """The matrix (2KC, LC) that takes a flat window to its flat half spectrum."""

    def transform(window: jax.Array) -> jax.Array:
        return ravel_pytree(spectrum.to_spectrum(window.reshape(length, channels)))[0]

    with jax.enable_x64(True):
        return np.asarray(jax.jacfwd(transform)(jnp.zeros(length * channels)))


def from_windows(mean: np.ndarray, covariance: np.ndarray, length: int, channels: int) -> Process:
    """The spectral process of windows with flat mean (LC,) and covariance (LC, LC)."""
    transform = basis(length, channels)
    law = Law(jnp.asarray(transform @ mean), jnp.asarray(transform @ covariance @ transform.T))
    return Process(law, spectrum.noise_variance(length), channels)


def asymmetric(length: int, channels: int = 2, low: float = 0.5, high: float = 5.0) -> Process:
    """Nonzero mean, all slots correlated, data to noise between ``low`` and ``high`` per mode."""
    random = np.random.default_rng(length)
    size = length * channels
    rotation = np.linalg.qr(random.normal(size=(size, size)))[0]
    covariance = (rotation * np.geomspace(low, high, size)) @ rotation.T
    return from_windows(random.normal(1.0, 1.0, size), covariance, length, channels)


def correlated(length: int, channels: int = 2) -> Law:
    """Windows, flat (LC,): AR(1) in time, correlated channels, a mean that is not 0."""
    lags = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    apart = np.abs(np.subtract.outer(np.arange(channels), np.arange(channels)))
    mean = np.random.default_rng(length).normal(1.0, 1.0, length * channels)
    return Law(mean, np.kron(0.8**lags, 0.6**apart))


def circulant(length: int, decades: float = 6.0, channels: int = 2) -> Process:
    """Independent slots, the weakest bin ``decades`` orders of magnitude below the strongest."""
    bins = spectrum.bin_count(length)
    variance = spectrum.noise_variance(length)
    profile = np.logspace(1.0, 1.0 - decades, bins)[:, None] * np.linspace(1.0, 1.5, channels)
    flat = np.concatenate([(profile * np.asarray(part)).ravel() for part in variance])
    mean = np.where(flat > 0, np.sqrt(flat), 0.0)
    return Process(Law(jnp.asarray(mean), jnp.diag(jnp.asarray(flat))), variance, channels)


def autoregressive(length: int, coefficient: float) -> Process:
    """AR(1) windows of unit variance, one channel: Toeplitz, hence not diagonal in frequency."""
    lags = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    return from_windows(np.zeros(length), coefficient**lags, length, 1)


def build_rule(name: str, process: Process) -> StepRule:
    """A solver by its name, or by a name with its option after a colon: ``ancestral:large``."""
    solver, _, option = name.partition(":")
    if solver == "wiener_ab2":
        return SOLVERS[solver](process.moments())
    if solver == "ddim" and option:
        return SOLVERS[solver](float(option))
    return SOLVERS[solver](option) if option else SOLVERS[solver]()


def prior(process: Process, schedule: Schedule, *, matched: bool = False) -> Law:
    """Where sampling starts: N(0, V), or N(αm, α²v + σ²V) if ``matched``, as Wiener rules do."""
    noise = process.noise
    if not matched:
        return Law(jnp.zeros(noise.size), jnp.diag(jnp.asarray(noise)))
    alpha, sigma = schedule.alpha(1.0), schedule.sigma(1.0)
    spread = alpha**2 * jnp.diag(process.law.covariance) + sigma**2 * noise
    return Law(alpha * process.law.mean, jnp.diag(spread))


def propagator(
    rule: StepRule, process: Process, schedule: Schedule, guides: Sequence[Guide] = ()
) -> Callable[[Law, np.ndarray], tuple[Law, jax.Array]]:
    """Compiles what pushes a Gaussian law through a solver, step by step and exactly.

    A step with an exact Gaussian denoiser is affine in what it remembers, so Jacobians at the
    running mean are its matrices. What it injects is found by stepping with two keys. Guides must
    be affine too.

    Returns:
      A function of the law at the first time and the times. It gives the law at the end, and the
      largest departure of what was injected from a multiple of the noise law.
    """
    denoiser = fold(process.denoiser(schedule), guides)
    problem = Problem(denoiser, schedule, process.variance)
    keys = [jax.random.key(seed) for seed in (0, 1)]
    noise = [spectrum.sample_noise(key, process.variance, process.channels) for key in keys]

    def begin(x: jax.Array, t: jax.Array) -> tuple[Any, Quadratures]:
        state = process.unravel(x)
        return rule.init(problem, state, t), state

    def advance(unflatten: Callable, carry: tuple[Law, jax.Array], inputs: jax.Array) -> tuple:
        law, worst = carry
        t, s = inputs
        still = jax.tree.map(jnp.zeros_like, unflatten(law.mean)[0])
        fresh = [ravel_pytree((still, part))[0] for part in noise]
        spread = ravel_pytree((still, process.unravel(jnp.asarray(process.noise))))[0]

        def move(y: jax.Array, key: jax.Array) -> jax.Array:
            return ravel_pytree(rule.step(problem, key, *unflatten(y), t, s))[0]

        ends, apart = [move(law.mean, key) for key in keys], fresh[0] - fresh[1]
        gain = (ends[0] - ends[1]) @ apart / (apart @ apart)
        odd = jnp.max(jnp.abs(ends[0] - ends[1] - gain * apart))
        matrix = jax.jacfwd(move)(law.mean, keys[0])
        covariance = matrix @ law.covariance @ matrix.T + gain**2 * jnp.diag(spread)
        return (Law(ends[0] - gain * fresh[0], covariance), jnp.maximum(worst, odd)), None

    @jax.jit
    def run(start: Law, times: jax.Array) -> tuple[Law, jax.Array]:
        mean, unflatten = ravel_pytree(begin(start.mean, times[0]))
        matrix = jax.jacfwd(lambda x: ravel_pytree(begin(x, times[0]))[0])(start.mean)
        law = Law(mean, matrix @ start.covariance @ matrix.T)
        pairs = jnp.stack([times[:-1], times[1:]], axis=1)
        step = functools.partial(advance, unflatten)
        (law, worst), _ = jax.lax.scan(step, (law, jnp.zeros(())), pairs)

        def end(y: jax.Array) -> jax.Array:
            return ravel_pytree(rule.finish(problem, *unflatten(y), times[-1]))[0]

        matrix = jax.jacfwd(end)(law.mean)
        return Law(end(law.mean), matrix @ law.covariance @ matrix.T), worst

    return lambda start, times: run(start, jnp.asarray(times))


def propagate(
    rule: StepRule, process: Process, schedule: Schedule, start: Law, times: np.ndarray
) -> tuple[Law, jax.Array]:
    """:func:`propagator`, used once."""
    return propagator(rule, process, schedule)(start, times)


def covariance_error(law: Law, target: Law) -> float:
    """‖C − C*‖ / ‖C*‖ in the Frobenius norm."""
    gap = np.linalg.norm(np.asarray(law.covariance) - np.asarray(target.covariance))
    return float(gap / np.linalg.norm(np.asarray(target.covariance)))


def mean_error(law: Law, target: Law) -> float:
    """‖m − m*‖ / ‖m*‖."""
    gap = np.linalg.norm(np.asarray(law.mean) - np.asarray(target.mean))
    return float(gap / np.linalg.norm(np.asarray(target.mean)))


def entry_error(law: Law, target: Law) -> float:
    """The largest |C_ij − C*_ij| / √(C*_ii C*_jj) over live slots: no weak slot can hide."""
    scale = np.sqrt(np.diag(np.asarray(target.covariance)))
    live = scale > 0
    gap = np.abs(np.asarray(law.covariance) - np.asarray(target.covariance))[np.ix_(live, live)]
    return float((gap / np.outer(scale[live], scale[live])).max())
