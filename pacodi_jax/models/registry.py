"""Every family of models, by name."""

from pacodi_jax.errors import Registry
from pacodi_jax.models import monolithic, pacodi, t2s, temporal, timegan, timevae
from pacodi_jax.models.protocol import Family

FAMILIES: Registry[Family] = Registry(
    "model.name",
    {
        module.FAMILY.name: module.FAMILY
        for module in (
            pacodi,
            temporal,
            monolithic,
            timevae,
            timegan,
            t2s,
        )
    },
)
