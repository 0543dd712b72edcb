"""PaCoDi: two transformer branches, one per quadrature, that meet (Cai et al., KDD '26)."""

from pacodi_jax.models import views
from pacodi_jax.models.protocol import Shape
from pacodi_jax.models.settings import SpectralSettings
from pacodi_jax.models.spectral_family import family
from pacodi_jax.models.views import View
from pacodi_jax.networks import DualBranch
from pacodi_jax.types import Quadratures


def _view(settings: SpectralSettings, shape: Shape, variance: Quadratures) -> View:
    network = DualBranch(
        shape.channels,
        interaction=settings.model.interaction,
        length=shape.length,
        **views.network_options(settings.model, shape),
    )
    return views.dual_branch(network, variance)


FAMILY = family("pacodi", _view)
