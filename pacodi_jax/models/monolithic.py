"""An ablation of PaCoDi: one transformer over bins, both quadratures as features of one token.

It is not FreqDiff, whose tokens are L whitened coefficients; that is the family ``freqdiff``.
"""

from pacodi_jax.models import views
from pacodi_jax.models.protocol import Shape
from pacodi_jax.models.settings import SpectralSettings
from pacodi_jax.models.spectral_family import family
from pacodi_jax.models.views import View
from pacodi_jax.networks import SingleBranch
from pacodi_jax.types import Quadratures


def _view(settings: SpectralSettings, shape: Shape, variance: Quadratures) -> View:
    network = SingleBranch(2 * shape.channels, **views.network_options(settings.model, shape))
    return views.monolithic(network, variance)


FAMILY = family("monolithic", _view)
