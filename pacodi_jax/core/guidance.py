"""Classifier-free guidance: a map from denoisers to a denoiser."""

import jax

from pacodi_jax.types import Array, Denoiser, Prediction, Quadratures


def classifier_free(conditional: Denoiser, unconditional: Denoiser, scale: float) -> Denoiser:
    """Extrapolates from the unconditional to the conditional prediction (Ho & Salimans, 2022).

    ε̂ = ε̂_∅ + scale·(ε̂_c − ε̂_∅), and x̂₀ alike. Scale 0 and 1 are the unconditional and the
    conditional denoiser themselves, at the cost of one evaluation.
    """
    if scale == 0:
        return unconditional
    if scale == 1:
        return conditional

    def guided(state: Quadratures, t: Array) -> Prediction:
        return jax.tree.map(
            lambda free, bound: free + scale * (bound - free),
            unconditional(state, t),
            conditional(state, t),
        )

    return guided
