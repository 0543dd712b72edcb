"""Solvers of the reverse process: one step rule per file, one loop, one registry.

``SOLVERS[name](**options)`` gives a step rule, :func:`time_grid` the times, :func:`draw` a sample.
"""

from collections.abc import Callable

from pacodi_jax.core.solvers.ancestral import ancestral
from pacodi_jax.core.solvers.ddim import ddim
from pacodi_jax.core.solvers.dpmpp_2m import dpmpp_2m
from pacodi_jax.core.solvers.euler_maruyama import euler_maruyama
from pacodi_jax.core.solvers.grids import GRIDS, time_grid
from pacodi_jax.core.solvers.heun import heun
from pacodi_jax.core.solvers.rule import Problem, StepRule, draw
from pacodi_jax.core.solvers.sde_dpmpp_2m import sde_dpmpp_2m
from pacodi_jax.core.solvers.wiener_ab2 import wiener_ab2
from pacodi_jax.errors import Registry

SOLVERS: Registry[Callable[..., StepRule]] = Registry(
    "solver",
    {
        "ancestral": ancestral,
        "ddim": ddim,
        "euler_maruyama": euler_maruyama,
        "heun": heun,
        "dpmpp_2m": dpmpp_2m,
        "sde_dpmpp_2m": sde_dpmpp_2m,
        "wiener_ab2": wiener_ab2,
    },
)

__all__ = ["GRIDS", "SOLVERS", "Problem", "StepRule", "draw", "time_grid"]
