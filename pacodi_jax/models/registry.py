"""Every family of models, by name."""

from pacodi_jax.errors import Registry
from pacodi_jax.models import diffusion_ts, freqdiff, monolithic, pacodi, temporal
from pacodi_jax.models.protocol import Family

FAMILIES: Registry[Family] = Registry(
    "model.name",
    {
        module.FAMILY.name: module.FAMILY
        for module in (pacodi, temporal, monolithic, diffusion_ts, freqdiff)
    },
)
