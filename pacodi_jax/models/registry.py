"""Every family of models, by name."""

from pacodi_jax.errors import Registry
from pacodi_jax.models import (
    diffusion_ts,
    freqdiff,
    monolithic,
    pacodi,
    t2s,
    temporal,
    timegan,
    timevae,
)
from pacodi_jax.models.protocol import Family

_ALL = (pacodi, temporal, monolithic, diffusion_ts, freqdiff, timevae, timegan, t2s)

FAMILIES: Registry[Family] = Registry(
    "model.name", {module.FAMILY.name: module.FAMILY for module in _ALL}
)
