"""Context-FID: the Fréchet distance between representations of real and synthetic windows."""

import numpy as np

from pacodi_jax.metrics import ts2vec
from pacodi_jax.metrics.inputs import checked


def frechet_distance(first: np.ndarray, second: np.ndarray, ridge: float = 0.0) -> float:
    """|μ₁ − μ₂|² + tr(Σ₁ + Σ₂ − 2(Σ₁Σ₂)^½) of the Gaussians fitted to two sets of rows.

    The trace of the root is the sum of the roots of the eigenvalues of Σ₁^½ Σ₂ Σ₁^½, which is
    symmetric: no complex parts to drop when the covariances are singular.

    Args:
      first: ``(N, D)``.
      second: ``(M, D)``.
      ridge: added to the diagonals of Σ₁ and Σ₂.
    """
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    shift = first.mean(axis=0) - second.mean(axis=0)
    covariances = [
        np.atleast_2d(np.cov(rows, rowvar=False)) + ridge * np.eye(rows.shape[1])
        for rows in (first, second)
    ]
    values, vectors = np.linalg.eigh(covariances[0])
    root = (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T
    product = np.linalg.eigvalsh(root @ covariances[1] @ root)
    overlap = np.sqrt(np.clip(product, 0, None)).sum()
    return float(shift @ shift + sum(np.trace(c) for c in covariances) - 2 * overlap)


@checked(at_least=10)
def context_fid(
    real: np.ndarray, synthetic: np.ndarray, *, seed: int, steps: int | None = None
) -> float:
    """Fréchet distance of TS2Vec representations; the encoder is trained here on ``real``.

    After Jeha et al., "PSA-GAN: Progressive Self Attention GANs for Synthetic Time Series", 2022.

    Args:
      real: ``(N, L, C)``, scaled to [0, 1].
      synthetic: ``(M, L, C)``, in the same scale.
      seed: of the encoder's training.
      steps: of that training; by default 600, or 200 for a small data set, as published.
    """
    params = ts2vec.train(seed, real, steps)
    return frechet_distance(ts2vec.encode(params, real), ts2vec.encode(params, synthetic))
