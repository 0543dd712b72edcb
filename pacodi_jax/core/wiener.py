"""Wiener coordinates: every bin has its own diffusion time, an angle.

Per slot (bin, quadrature, channel), let the training spectrum have mean m and variance v, and the
noise variance V. With T = α²v + σ²V, ::

    z = (x − αm)/√T,    θ = atan2(σ√V, α√v),    z = cos θ·x₀′ + sin θ·ε′,

where x₀′ and ε′ have unit variance. The network is fed z and predicts the velocity
u = E[cos θ·ε′ − sin θ·x₀′ | z] = dz/dθ, from which ::

    ε̂ = √V (sin θ·z + cos θ·u),    x̂₀ = m + √v (cos θ·z − sin θ·u).

If a Gaussian process has a diagonal spectral covariance, u = 0: a network that outputs zero is the
best denoiser, and training adds only what a diagonal linear filter misses. Slots with V = 0 have
z = u = 0 and stay at m.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.core.checks import check_finite, is_concrete
from pacodi_jax.core.spectrum import live, precision
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Array, Key, Prediction, Quadratures

FLOOR = 1e-6
_STILL = 1e-6  # added to sin 2θ, so that the mean speed is never 0


class Moments(NamedTuple):
    """Mean m and variance v of the training spectra, ``(K, C)`` per part. Fitted on train only."""

    mean: Quadratures
    variance: Quadratures


def fit(spectra: Quadratures, floor: float = FLOOR) -> Moments:
    """Fits the moments to training spectra, ``(N, K, C)`` per part.

    v is floored at ``floor`` times the channel's mean variance, so that an empty bin has a
    well-defined angle.

    Raises:
      PacodiError: for a floor that is not positive, spectra that are not finite, or a channel that
        does not vary at all; values are checked outside ``jit`` only.
    """
    if not floor > 0:
        raise PacodiError(f"floor={floor}; accepted: a small positive fraction, for example 1e-6.")
    if spectra.real.ndim != 3 or spectra.real.shape[0] < 1:
        raise PacodiError(f"spectra have shape {spectra.real.shape}; expected (N, K, C), N >= 1.")
    mean = jax.tree.map(lambda x: x.mean(axis=0), spectra)
    check_finite("the mean of spectra.real", mean.real)
    check_finite("the mean of spectra.imag", mean.imag)
    return _floored(mean, jax.tree.map(lambda x: x.var(axis=0), spectra), floor)


def _floored(mean: Quadratures, variance: Quadratures, floor: float) -> Moments:
    """Moments with the variance floored.

    Raises:
      PacodiError: for a channel that does not vary at all.
    """
    lowest = floor * 0.5 * (variance.real.mean(axis=0) + variance.imag.mean(axis=0))
    if is_concrete(lowest) and not (np.asarray(lowest) > 0).all():
        channel = int(np.argmin(np.asarray(lowest)))
        raise PacodiError(
            f"spectra do not vary in channel {channel}; take constant channels out before fitting."
        )
    return Moments(mean, jax.tree.map(lambda v: jnp.maximum(v, lowest), variance))


class Sums:
    """The moments of spectra that come in blocks: count, mean and squared distances, in double.

    Two blocks are joined by Chan's rule: with δ the difference of the means of n and m spectra, the
    squared distances add up to S + S′ + δ²·nm/(n + m).
    """

    def __init__(self) -> None:
        self._count = 0
        self._mean: Any = None
        self._squares: Any = None

    def add(self, spectra: Quadratures) -> None:
        """Adds ``(n, K, C)`` per part."""
        block = [np.asarray(part, np.float64) for part in spectra]
        mean = np.stack([part.mean(axis=0) for part in block])
        squares = np.stack([part.var(axis=0) * len(part) for part in block])
        if self._mean is None:
            self._mean, self._squares = np.zeros_like(mean), np.zeros_like(squares)
        count = len(block[0])
        whole, step = self._count + count, mean - self._mean
        self._squares += squares + step**2 * self._count * count / whole
        self._mean += step * count / whole
        self._count = whole

    def moments(self, floor: float = FLOOR) -> Moments:
        """The moments of all spectra so far, as :func:`fit` gives them."""
        mean, variance = (
            Quadratures(*jnp.asarray(parts, jnp.result_type(float)))
            for parts in (self._mean, self._squares / self._count)
        )
        return _floored(mean, variance, floor)


def angle(alpha: Array, sigma: Array, moments: Moments, variance: Quadratures) -> Quadratures:
    """θ = atan2(σ√V, α√v): 0 for a clean state, π/2 for pure noise, 0 where V = 0."""
    return jax.tree.map(
        lambda v, noise: jnp.arctan2(sigma * jnp.sqrt(noise), alpha * jnp.sqrt(v)),
        moments.variance,
        variance,
    )


def _deviation(alpha: Array, sigma: Array, moments: Moments, variance: Quadratures) -> Quadratures:
    """√T = √(α²v + σ²V)."""
    return jax.tree.map(
        lambda v, noise: jnp.sqrt(alpha**2 * v + sigma**2 * noise), moments.variance, variance
    )


def to_z(
    state: Quadratures, alpha: Array, sigma: Array, moments: Moments, variance: Quadratures
) -> Quadratures:
    """z = (x − αm)/√T, and 0 where V = 0."""
    deviation = _deviation(alpha, sigma, moments, variance)
    return jax.tree.map(
        lambda x, m, d, noise: jnp.where(noise > 0, (x - alpha * m) / d, 0),
        state,
        moments.mean,
        deviation,
        variance,
    )


def from_z(
    z: Quadratures, alpha: Array, sigma: Array, moments: Moments, variance: Quadratures
) -> Quadratures:
    """x = αm + √T·z, and m where V = 0."""
    deviation = _deviation(alpha, sigma, moments, variance)
    return jax.tree.map(
        lambda z, m, d, noise: jnp.where(noise > 0, alpha * m + d * z, m),
        z,
        moments.mean,
        deviation,
        variance,
    )


def predict(
    z: Quadratures,
    velocity: Quadratures,
    theta: Quadratures,
    moments: Moments,
    variance: Quadratures,
) -> Prediction:
    """ε̂ = √V (sin θ·z + cos θ·u) and x̂₀ = m + √v (cos θ·z − sin θ·u)."""
    noise = jax.tree.map(
        lambda z, u, a, v: jnp.sqrt(v) * (jnp.sin(a) * z + jnp.cos(a) * u),
        z,
        velocity,
        theta,
        variance,
    )
    clean = jax.tree.map(
        lambda z, u, a, m, v, noise: (
            m + jnp.where(noise > 0, jnp.sqrt(v) * (jnp.cos(a) * z - jnp.sin(a) * u), 0)
        ),
        z,
        velocity,
        theta,
        moments.mean,
        moments.variance,
        variance,
    )
    return Prediction(noise, clean)


def velocity(
    prediction: Prediction, theta: Quadratures, moments: Moments, variance: Quadratures
) -> Quadratures:
    """u = cos θ·ε̂/√V − sin θ·(x̂₀ − m)/√v from both estimates, 0 where V = 0.

    For a sample's true noise and clean spectrum this is the regression target. It needs both
    estimates: recovering u from ε̂ alone divides by cos θ.
    """
    return jax.tree.map(
        lambda e, x, a, m, v, w: jnp.where(
            w > 0, jnp.cos(a) * e * jnp.sqrt(w) - jnp.sin(a) * (x - m) / jnp.sqrt(v), 0
        ),
        prediction.noise,
        prediction.clean,
        theta,
        moments.mean,
        moments.variance,
        precision(variance),
    )


def pace(theta: Quadratures, variance: Quadratures) -> Quadratures:
    """The speed of each slot's angle, relative to the mean over live slots; 0 where V = 0.

    With λ = log(α/σ), dθ/dλ = −½ sin 2θ. A sample's z moves by u·dθ, so an error in u matters only
    while the angle of its slot changes. If no angle changes, all live slots weigh the same.
    """
    channels = theta.real.shape[-1]
    on = jax.tree.map(lambda w: jnp.broadcast_to(w, (w.shape[0], channels)), live(variance))
    speed = jax.tree.map(lambda a, m: m * (jnp.sin(2 * a) + _STILL), theta, on)
    mean = sum(x.sum() for x in speed) / sum(m.sum() for m in on)
    return jax.tree.map(lambda x: x / mean, speed)


def start(
    key: Key, alpha: Array, sigma: Array, moments: Moments, variance: Quadratures
) -> Quadratures:
    """Draws the first state x = αm + √T·z with z ~ N(0, 1); with α > 0, N(0, V) is less exact."""
    keys = Quadratures(*jax.random.split(key))
    z = jax.tree.map(lambda key, m: jax.random.normal(key, m.shape, m.dtype), keys, moments.mean)
    return from_z(z, alpha, sigma, moments, variance)
