"""Observed values: one Kalman update of the clean estimate per evaluation of the denoiser.

White noise stays white under the orthonormal transform, so in time x_t = αx₀ + σε with ε ~ N(0, I).
Let S be the covariance of training windows, all steps and channels jointly. For a Gaussian process
of that covariance the clean window has, given x_t, the posterior covariance ::

    Σ_t = (S⁻¹ + c·I)⁻¹,    c = α²/σ².

Let x̂ be the denoiser's clean window and y = Mx₀ + e the observed entries, e ~ N(0, ρ). Then ::

    x̂ ← x̂ + Σ_t Mᵀ (M Σ_t Mᵀ + ρI)⁻¹ (y − M x̂),    ε̂ ← (x_t − αx̂)/σ

maps denoisers to denoisers, for any solver, without gradients through the network. It is exact for
Gaussian processes. Elsewhere the network brings what is not Gaussian through x̂, and S only says how
a correction spreads. S must be the covariance of windows: the diagonal one of the spectrum is
circulant and ties the last step of a window to its first.

Windows are handled as *rows* ``(R, C)``, coordinates in which noise is white: the L steps and, if
the imaginary DC slot is open (``statistics=generated``), one more row for it.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from einops import rearrange
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular
from sklearn.utils.extmath import randomized_svd

from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.core.spectrum import to_series, to_spectrum
from pacodi_jax.types import Array, Denoiser, Guide, Prediction, Quadratures, Schedule

#: Up to so many numbers per window all eigenpairs are kept; beyond, the leading ones and a rest.
MOST, LEADING = 2048, 512
#: The least variance of an observation, as a fraction of the mean of Σ_t's spectrum.
SOFTNESS = 1e-4
#: Rounds of Gauss–Newton where decoding is not linear.
ROUNDS = 2


class Covariance(NamedTuple):
    """S ≈ U diag(λ) Uᵀ + rest, of training windows as flat rows.

    Attributes:
      basis: U, ``(R·C, r)``.
      values: λ, ``(r,)``.
      rest: ``(C,)``, the variance per channel that the eigenpairs leave; 0 if all are kept.
    """

    basis: Array
    values: Array
    rest: Array


class Observed(NamedTuple):
    """What is known of one window, in the model's scale.

    Attributes:
      values: ``(L, C)``; what stands in cells that were not observed is ignored.
      mask: ``(L, C)`` bool, which cells were observed.
      noise: ``(C,)`` or ``(L, C)``, the standard deviation of the observations; 0 for exact ones.
    """

    values: Array | np.ndarray
    mask: Array | np.ndarray
    noise: Array | np.ndarray


class Spread(NamedTuple):
    """Σ_t = F Fᵀ + diag(E), with F ``(R·C, r)`` and E ``(R·C,)``."""

    factor: Array
    rest: Array


#: ``correct(rows (R, C), t) -> Δ (R, C)``: what observed values add to the clean estimate.
Correct = Callable[[Array, Array], Array]


def to_rows(spectrum: Quadratures, coding: LevelCoding) -> Array:
    """A spectrum ``(K, C)`` in coordinates where the noise is white, ``(R, C)``."""
    series = to_series(spectrum, coding.length)
    if coding.mode != "generated":
        return series
    return jnp.concatenate([series, spectrum.imag[:1]])


def from_rows(rows: Array, coding: LevelCoding) -> Quadratures:
    """The inverse of :func:`to_rows`; slots without noise are 0."""
    spectrum = to_spectrum(rows[: coding.length])
    if coding.mode != "generated":
        return spectrum
    return spectrum._replace(imag=spectrum.imag.at[0].set(rows[-1]))


def fit(rows: np.ndarray, most: int = MOST, leading: int = LEADING) -> Covariance:
    """Fits the covariance of training windows.

    Args:
      rows: ``(N, R, C)``, from :func:`to_rows`.
      most: up to so many numbers per window all eigenpairs are kept, found in double precision.
      leading: how many are kept beyond that, by a randomised decomposition; the variance that they
        leave is spread evenly over the steps of each channel.
    """
    count, steps, channels = rows.shape
    flat = rearrange(rows, "n r c -> n (r c)")
    if flat.shape[1] <= most:
        flat = flat.astype(np.float64)
        flat = (flat - flat.mean(axis=0)) / np.sqrt(count)
        values, basis = np.linalg.eigh(flat.T @ flat)
        rest = np.zeros(channels)
    else:
        flat = (flat - flat.mean(axis=0)) / np.float32(np.sqrt(count))
        found = randomized_svd(flat, min(leading, count), n_iter=4, random_state=0)
        basis, values = found[2].T, found[1] ** 2
        left = np.sum(flat**2, axis=0) - np.sum(basis**2 * values, axis=1)
        rest = rearrange(np.maximum(left, 0), "(r c) -> r c", r=steps).mean(axis=0)
    parts = (basis, np.maximum(values, 0), rest)
    return Covariance(*(jnp.asarray(part, jnp.result_type(float)) for part in parts))


def spread(covariance: Covariance, alpha: Array, sigma: Array) -> Spread:
    """Σ_t at signal level α and noise level σ.

    With S = UΛUᵀ + D and c = α²/σ², two applications of Woodbury's identity give ::

        Σ_t = D/(1 + cD) + W (Λ⁻¹ + Uᵀ diag(c/(1 + cD)) U)⁻¹ Wᵀ,    W = (1 + cD)⁻¹ U,

    which for D = 0 is U diag(λ/(1 + cλ)) Uᵀ.
    """
    basis, values, rest = covariance
    c = (alpha / sigma) ** 2
    rows = jnp.tile(rest, basis.shape[0] // rest.shape[0])
    if basis.shape[0] == basis.shape[1]:  # all eigenpairs are kept: D = 0
        return Spread(basis * jnp.sqrt(values / (1 + c * values)), rows)
    scaled = basis * jnp.sqrt(values)
    weighted = scaled / (1 + c * rows)[:, None]
    inner = jnp.eye(len(values)) + c * jnp.matmul(weighted.T, scaled, precision="highest")
    # inner = R Rᵀ, so that weighted R⁻ᵀ is the factor of weighted inner⁻¹ weightedᵀ.
    lower = jnp.linalg.cholesky(inner)
    return Spread(solve_triangular(lower, weighted.T, lower=True).T, rows / (1 + c * rows))


def weights(spread: Spread, observed: Observed) -> Array:
    """1/ρ of every cell, flat ``(L·C,)``; 0 where nothing was observed.

    ρ holds the noise of the observations, and never falls below a fraction of the mean of Σ_t's
    spectrum, so that single precision is enough.
    """
    total = jnp.sum(spread.factor**2) + jnp.sum(spread.rest)
    variance = observed.noise**2 + SOFTNESS * total / observed.mask.size
    return jnp.where(observed.mask, 1 / variance, 0).ravel()


def solve(spread: Spread, weight: Array, residual: Array) -> tuple[Array, Array]:
    """(z, v) such that Σ Mᵀ(MΣMᵀ + ρI)⁻¹ r = F z + E·v, for a residual r.

    With w = 1/(E + ρ) where a cell was observed and 0 elsewhere, one solve of the size of F's rank
    gives ::

        z = (I + Fᵀ diag(w) F)⁻¹ Fᵀ (w·r),    v = w·(r − F z).

    Args:
      spread: Σ_t of the cells that can be observed.
      weight: 1/ρ per cell, from :func:`weights`.
      residual: y − M x̂, 0 where nothing was observed, ``(L·C,)`` or several of them ``(L·C, n)``.
    """
    factor, rest = spread
    w = (weight / (1 + weight * rest)).reshape(-1, *[1] * (residual.ndim - 1))
    weighted = factor.T * w.reshape(-1)
    inner = jnp.eye(factor.shape[1]) + jnp.matmul(weighted, factor, precision="highest")
    right = jnp.matmul(weighted, residual, precision="highest")
    z = cho_solve(cho_factor(inner, lower=True), right)
    return z, w * (residual - jnp.matmul(factor, z, precision="highest"))


class Gains(NamedTuple):
    """The correction of one mask as a matrix per time.

    Attributes:
      times: ``(T,)``, the times of the solver.
      matrices: ``(T, L·C, L·C)``; columns of cells that were not observed are 0.
    """

    times: Array
    matrices: Array


def gains(
    covariance: Covariance, schedule: Schedule, times: Array, mask: Array, noise: Array
) -> Gains:
    """The matrices Σ_t Mᵀ(MΣ_tMᵀ + ρI)⁻¹M at every time, for windows that share a mask.

    Args:
      covariance: of training windows.
      schedule: of the process.
      times: at which the solver evaluates the denoiser, ``(T,)``.
      mask: ``(L, C)`` bool.
      noise: ``(C,)`` or ``(L, C)``, as in :class:`Observed`.
    """
    observed = Observed(jnp.zeros(mask.shape), mask, noise)
    columns = jnp.diag(mask.ravel().astype(covariance.basis.dtype))

    def matrix(t: Array) -> Array:
        found = spread(covariance, schedule.alpha(t), schedule.sigma(t))
        z, left = solve(found, weights(found, observed), columns)
        return jnp.matmul(found.factor, z, precision="highest") + found.rest[:, None] * left

    return Gains(times, jax.lax.map(matrix, times))


def linear(gains: Gains, values: Array) -> Correct:
    """The correction where a window is its rows, for one with ``values`` ``(L, C)``, finite ones.

    Args:
      gains: of the window's mask.
      values: ``(L, C)``; those of cells that were not observed are ignored.
    """

    def correct(rows: Array, t: Array) -> Array:
        matrix = gains.matrices[jnp.argmin(jnp.abs(gains.times - t))]
        residual = (values - rows).ravel()
        return jnp.matmul(matrix, residual, precision="highest").reshape(rows.shape)

    return correct


def gauss_newton(
    covariance: Covariance, schedule: Schedule, coding: LevelCoding, observed: Observed
) -> Correct:
    """The correction where a window is a nonlinear function of its rows (``generated``).

    Each round linearises x = g(q) at q_k: with J = g′(q_k), ::

        q_{k+1} = q̂ + Σ Jᵀ (J Σ Jᵀ + ρI)⁻¹ (y − g(q_k) + J (q_k − q̂)).
    """
    length = coding.length
    # A direction that moves neither level nor scale: its image is the window's scale times itself.
    wave = (-1.0) ** jnp.arange(length)
    wave = (wave - wave.mean())[:, None]

    def decode(rows: Array) -> Array:
        return coding.decode(from_rows(rows, coding))

    def correct(rows: Array, t: Array) -> Array:
        found = spread(covariance, schedule.alpha(t), schedule.sigma(t))
        probe = jnp.zeros_like(rows).at[:length].set(wave)

        def improve(_: int, delta: Array) -> Array:
            window, push = jax.linearize(decode, rows + delta)
            columns = jax.vmap(lambda column: push(column.reshape(rows.shape)).ravel(), 1, 1)
            scale = jnp.tile(push(probe)[0] / wave[0], length)
            rest = found.rest[: window.size]
            seen = Spread(columns(found.factor), rest * scale**2)
            residual = jnp.where(observed.mask, observed.values - window + push(delta), 0)
            z, left = solve(seen, weights(seen, observed), residual.ravel())
            moved = jnp.matmul(found.factor, z, precision="highest")
            return moved.at[: window.size].add(rest * scale * left).reshape(rows.shape)

        return jax.lax.fori_loop(0, ROUNDS, improve, jnp.zeros_like(rows))

    return correct


def guide(correct: Correct, schedule: Schedule, coding: LevelCoding) -> Guide:
    """Applies a correction to every prediction: Δ to x̂₀ and −(α/σ)Δ to ε̂.

    Args:
      correct: from :func:`linear` or :func:`gauss_newton`.
      schedule: of the process.
      coding: of the model's windows.
    """

    def guide(denoiser: Denoiser) -> Denoiser:
        def guided(state: Quadratures, t: Array) -> Prediction:
            found = denoiser(state, t)
            delta = from_rows(correct(to_rows(found.clean, coding), t), coding)
            ratio = schedule.alpha(t) / schedule.sigma(t)
            return Prediction(
                jax.tree.map(lambda e, d: e - ratio * d, found.noise, delta),
                jax.tree.map(jnp.add, found.clean, delta),
            )

        return guided

    return guide
