"""The best linear denoisers in closed form: the baseline that a trained network must beat.

For clean spectra with mean m and covariance S, and noise ε ~ N(0, V), the best linear estimate of
the noise in x = αX + σε is ::

    ε̂ = σ V (α²S + σ²V)⁻¹ (x − αm).

With the full S this is the best linear filter. With its diagonal alone it is the Wiener filter of
every slot by itself, which is what an untrained network in Wiener coordinates computes.
"""

import jax
import jax.numpy as jnp
from einops import pack, unpack

from pacodi_jax.core import diffusion
from pacodi_jax.types import Array, Denoiser, Key, Prediction, Quadratures, Schedule


def linear_denoiser(
    spectra: Quadratures, schedule: Schedule, variance: Quadratures, *, diagonal: bool = False
) -> Denoiser:
    """Returns the best linear denoiser of one window, fitted to training spectra.

    Args:
      spectra: ``(N, K, C)`` per part.
      schedule: gives α(t) and σ(t).
      variance: the noise law V, ``(K, 1)`` or ``(K, C)`` per part.
      diagonal: use only the diagonal of S, so that every slot is filtered by itself.
    """
    shape = spectra.real.shape[1:]
    deviation = jax.tree.map(lambda v: jnp.sqrt(jnp.broadcast_to(v, shape)), variance)
    mask = jax.tree.map(lambda d: (d > 0).astype(d.dtype), deviation)
    # In units of the noise, y = V^(-1/2) x, one eigenbasis of S serves all times.
    rate = jax.tree.map(lambda d, m: m / jnp.where(m > 0, d, 1.0), deviation, mask)
    rows = jax.vmap(lambda real, imag: _flat(Quadratures(real * rate.real, imag * rate.imag)))(
        *spectra
    )
    mean = rows.mean(0)
    covariance = jnp.cov(rows, rowvar=False, bias=True)
    if diagonal:
        values, basis = jnp.diag(covariance), jnp.eye(len(mean))
    else:
        values, basis = jnp.linalg.eigh(covariance)
    values = jnp.maximum(values, 0.0)

    def denoise(state: Quadratures, t: Array) -> Prediction:
        alpha, sigma = schedule.alpha(t), schedule.sigma(t)
        rest = _flat(jax.tree.map(jnp.multiply, state, rate)) - alpha * mean
        inner = basis @ ((basis.T @ rest) / (alpha**2 * values + sigma**2))
        noise = jax.tree.map(jnp.multiply, _parts(sigma * inner, shape), deviation)
        return Prediction(noise, diffusion.clean_from_noise(state, noise, alpha, sigma))

    return denoise


def noise_error(
    denoise: Denoiser,
    key: Key,
    schedule: Schedule,
    clean: Quadratures,
    variance: Quadratures,
    *,
    times: int = 32,
) -> Array:
    """Returns the mean noise loss on spectra ``(N, K, C)``, with times and noise fixed by ``key``.

    Window i is noised to the time t = t_min + (1 − t_min)(i mod ``times`` + ½)/``times``.
    """
    count = clean.real.shape[0]
    place = (jnp.arange(count) % times + 0.5) / times
    t = schedule.t_min + (1 - schedule.t_min) * place

    def one(key: Key, clean: Quadratures, t: Array) -> Array:
        noisy, noise = diffusion.perturb(key, schedule, clean, t, variance)
        return diffusion.noise_loss(denoise(noisy, t).noise, noise, variance)

    return jnp.mean(jax.vmap(one)(jax.random.split(key, count), clean, t))


def _flat(spectrum: Quadratures) -> Array:
    """Both quadratures side by side, ``(2·K·C,)``."""
    return pack(spectrum, "*")[0]


def _parts(flat: Array, shape: tuple[int, ...]) -> Quadratures:
    """The quadratures of ``(K, C)`` that :func:`_flat` put side by side."""
    return Quadratures(*unpack(flat, [shape, shape], "*"))
