"""Many devices and many hosts: the only package that knows how work is spread over them."""

from pacodi_jax.parallel.blocks import in_blocks, rows_of_blocks
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
    bytes_per_device,
    compiles_ahead,
    device_slice,
    map_step,
    replicate,
    spread,
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
    "bytes_per_device",
    "compiles_ahead",
    "detect",
    "device_slice",
    "in_blocks",
    "initialise",
    "is_primary",
    "leave",
    "map_step",
    "meet",
    "replicate",
    "rows_of_blocks",
    "spread",
    "traced_devices",
    "unreplicate",
]
