"""Every family of models, by name."""

from pacodi_jax.errors import Registry
from pacodi_jax.models import diffusion_ts, monolithic, pacodi, temporal
from pacodi_jax.models.protocol import Family

FAMILIES: Registry[Family] = Registry(
    "model.name",
    {m.FAMILY.name: m.FAMILY for m in (pacodi, temporal, monolithic, diffusion_ts)},
)
