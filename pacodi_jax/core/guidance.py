"""Guides: maps from denoisers to denoisers. Any solver takes what they return."""

from collections.abc import Iterable
from functools import reduce

import jax

from pacodi_jax.types import Array, Denoiser, Guide, Prediction, Quadratures


def fold(denoiser: Denoiser, guides: Iterable[Guide]) -> Denoiser:
    """Applies guides in order, the first one closest to ``denoiser``.

    Args:
      denoiser: of one window, usually the network under its condition.
      guides: each takes the denoiser that the guides before it made.

    Returns:
      ``guides[-1](… guides[0](denoiser))``; ``denoiser`` itself without guides.

    Example:
      >>> from pacodi_jax.core.guidance import fold
      >>> fold("network", [lambda d: f"guided({d})", lambda d: f"observed({d})"])
      'observed(guided(network))'
    """
    return reduce(lambda guided, guide: guide(guided), guides, denoiser)


def classifier_free(unconditional: Denoiser, scale: float) -> Guide:
    """Extrapolates from the unconditional to the conditional prediction (Ho & Salimans, 2022).

    ε̂ = ε̂_∅ + scale·(ε̂_c − ε̂_∅), and x̂₀ likewise. Scale 0 is the unconditional denoiser itself and
    scale 1 the conditional one, so that both cost one evaluation instead of two.

    Args:
      unconditional: the denoiser under the null condition, ε̂_∅ and x̂₀_∅.
      scale: 0 ignores the condition, 1 follows it, more exaggerates it.

    Returns:
      A guide of the conditional denoiser.
    """

    def guide(conditional: Denoiser) -> Denoiser:
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

    return guide
