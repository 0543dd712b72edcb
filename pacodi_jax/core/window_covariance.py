"""The covariance of training windows, all steps and channels jointly, and its posterior.

Windows are handled as rows ``(R, C)``, coordinates in which noise is white; see
:mod:`pacodi_jax.core.conditioning`.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from einops import rearrange
from jax.scipy.linalg import solve_triangular

from pacodi_jax.types import Array

#: Up to so many numbers per window all eigenpairs are kept; beyond, the leading ones and a rest.
MOST, LEADING = 2048, 512


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


class Spread(NamedTuple):
    """Σ_t = F Fᵀ + diag(E), with F ``(R·C, r)`` and E ``(R·C,)``."""

    factor: Array
    rest: Array


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
        from sklearn.utils.extmath import randomized_svd  # slow to import, needed here alone

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
