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
import scipy.linalg
from jax.scipy.linalg import cho_factor, cho_solve

from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.core.spectrum import to_series, to_spectrum
from pacodi_jax.core.window_covariance import Covariance, Spread, spread
from pacodi_jax.types import Array, Denoiser, Guide, Prediction, Quadratures, Schedule

#: The least variance of an observation, as a fraction of the mean of Σ_t's spectrum.
SOFTNESS = 1e-4
#: Rounds of Gauss–Newton where decoding is not linear.
ROUNDS = 2


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
    """The correction of one mask at every time, K = Σ_t Mᵀ(MΣ_tMᵀ + ρI)⁻¹M.

    Of a covariance with all its eigenpairs K is a matrix. Of one with leading eigenpairs and a rest
    it is taken apart: K r = F z + local·(r − F z) with z = pull·r.

    Attributes:
      times: ``(T,)``, the times of the solver.
      pull: K itself ``(T, L·C, L·C)``, or the rows of z ``(T, r, L·C)``; columns of cells that were
        not observed are 0.
      push: F ``(T, L·C, r)``, or None.
      local: ``(T, L·C)``, or None.
    """

    times: Array
    pull: Array
    push: Array | None = None
    local: Array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(part.nbytes for part in self if part is not None)

    def apply(self, residual: Array, t: Array) -> Array:
        """K at one of the times, times a residual ``(L·C,)``."""
        at = jnp.argmin(jnp.abs(self.times - t))
        moved = jnp.matmul(self.pull[at], residual, precision="highest")
        if self.push is None or self.local is None:
            return moved
        moved = jnp.matmul(self.push[at], moved, precision="highest")
        return moved + self.local[at] * (residual - moved)


def gains(
    covariance: Covariance, schedule: Schedule, times: Array, mask: np.ndarray, noise: np.ndarray
) -> Gains:
    """The correction of windows that share a mask, at every time of the solver.

    It is solved for in double precision and outside of compiled programs, since the number of
    observed cells differs from mask to mask.

    Args:
      covariance: of training windows.
      schedule: of the process.
      times: at which the solver evaluates the denoiser, ``(T,)``.
      mask: ``(L, C)`` bool.
      noise: ``(C,)`` or ``(L, C)``, as in :class:`Observed`.
    """
    observed = Observed(jnp.zeros(mask.shape), mask, noise)
    whole = covariance.basis.shape[0] == covariance.basis.shape[1]
    found = []
    for t in times:
        around = spread(covariance, schedule.alpha(t), schedule.sigma(t))
        weight = weights(around, observed)
        doubles = (np.asarray(part, np.float64) for part in (*around, weight))
        parts = (_whole if whole else _apart)(*doubles)
        found.append([part.astype(covariance.basis.dtype) for part in parts])
    return Gains(times, *(jnp.asarray(np.stack(part)) for part in zip(*found, strict=True)))


def _whole(factor: np.ndarray, rest: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
    """K of Σ = F Fᵀ, by a system of the observed cells alone."""
    seen = np.flatnonzero(weight)
    across = factor @ factor[seen].T
    inside = across[seen] + np.diag(1 / weight[seen])
    matrix = np.zeros((len(factor), len(factor)))
    matrix[:, seen] = scipy.linalg.solve(inside, across.T, assume_a="pos").T
    return (matrix,)


def _apart(factor: np.ndarray, rest: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
    """What K of Σ = F Fᵀ + diag(E) is made of, by a system of the rank of F; see :func:`solve`."""
    w = weight / (1 + weight * rest)
    weighted = factor.T * w
    inner = np.eye(factor.shape[1]) + weighted @ factor
    return scipy.linalg.solve(inner, weighted, assume_a="pos"), factor, rest * w


def linear(gains: Gains, values: Array) -> Correct:
    """The correction where a window is its rows, for one with ``values`` ``(L, C)``, finite ones.

    Args:
      gains: of the window's mask.
      values: ``(L, C)``; those of cells that were not observed are ignored.
    """

    def correct(rows: Array, t: Array) -> Array:
        return gains.apply((values - rows).ravel(), t).reshape(rows.shape)

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
