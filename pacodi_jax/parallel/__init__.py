"""Many devices, many hosts: the only place that knows how a step is spread over them."""

from pacodi_jax.parallel.hosts import (
    Job,
    agree,
    broadcast,
    detect,
    initialise,
    is_primary,
    leave,
    meet,
)
from pacodi_jax.parallel.mapping import (
    AXIS,
    BACKENDS,
    average,
    average_gradients,
    device_slice,
    map_step,
    replicate,
    traced_devices,
    unreplicate,
)
from pacodi_jax.parallel.watchdog import STUCK, Watchdog

__all__ = [
    "AXIS",
    "BACKENDS",
    "STUCK",
    "Job",
    "Watchdog",
    "agree",
    "average",
    "average_gradients",
    "broadcast",
    "detect",
    "device_slice",
    "initialise",
    "is_primary",
    "leave",
    "map_step",
    "meet",
    "replicate",
    "traced_devices",
    "unreplicate",
]
