"""One per-device step, mapped over every device of every host by ``pmap`` or ``shard_map``.

The state is replicated: each device holds all of it, takes its own slice of the global batch and
averages its gradients with the others, so after every step all copies are equal again.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.types import Array

#: The name of the mapped axis: index i is device i of ``jax.devices()``.
AXIS = "devices"


def average(tree: Any) -> Any:
    """Returns the mean of every leaf over all devices; call it inside a mapped step."""
    return jax.lax.pmean(tree, AXIS)


def average_gradients(
    optimiser: optax.GradientTransformation | None = None,
) -> optax.GradientTransformationExtraArgs:
    """Returns ``optimiser`` fed with gradients averaged over devices: ḡ = (1/N) Σ_d g_d.

    The scalar ``value`` (the loss, which ``reduce_on_plateau`` watches) is averaged with them.
    Gradients are averaged before they are accumulated. Otherwise the accumulators would differ
    between devices, and a checkpoint of one device would lose the others.

    Args:
      optimiser: receives the averages; by default they are returned as they are.
    """
    inner = optax.with_extra_args_support(optimiser or optax.identity())

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        if "value" in extra:
            extra["value"] = average(extra["value"])
        flat, unravel = ravel_pytree(updates)  # one message instead of one per leaf
        return inner.update(unravel(average(flat)), state, params, **extra)

    return optax.GradientTransformationExtraArgs(inner.init, update)


def device_slice(batch: Array) -> Array:
    """Returns this device's share ``(B/N, …)`` of a global batch ``(B, …)``, by device index.

    Raises:
      PacodiError: if the global batch does not divide among the devices.
    """
    devices = jax.lax.axis_size(AXIS)
    share, rest = divmod(batch.shape[0], devices)
    if rest or not share:
        raise PacodiError(
            f"a batch of {batch.shape[0]} does not divide among {devices} devices; "
            f"use a multiple of {devices}."
        )
    return jax.lax.dynamic_slice_in_dim(batch, jax.lax.axis_index(AXIS) * share, share)


class _Backend(NamedTuple):
    """How a step is mapped, over how many devices it is traced, how values reach the devices."""

    map: Callable[[Callable, bool], Callable]
    width: Callable[[], int]
    replicate: Callable[[np.ndarray], Array]
    spread: Callable[[np.ndarray], Array]
    first: Callable[[Array], np.ndarray]


def _mesh() -> Mesh:
    return Mesh(np.asarray(jax.devices()), (AXIS,))


def _pmap(step: Callable, own_data: bool) -> Callable:
    return jax.pmap(step, axis_name=AXIS, in_axes=(0, 0, None), donate_argnums=0)


def _stack(value: np.ndarray) -> Array:
    """One copy per local device along a new leading axis, as ``pmap`` needs it."""
    return _part(np.broadcast_to(value, (jax.local_device_count(), *value.shape)))


def _part(value: np.ndarray) -> Array:
    """One row per local device, as ``pmap`` needs it."""
    mesh = Mesh(np.asarray(jax.local_devices()), (AXIS,))
    return jax.device_put(value, NamedSharding(mesh, PartitionSpec(AXIS)))


def _shard_map(step: Callable, own_data: bool) -> Callable:
    # check_vma=True would sum gradients of replicated parameters over devices by itself, and the
    # average after it would leave them N times too large; so collectives stay explicit.
    everywhere, apart = PartitionSpec(), PartitionSpec(AXIS)

    def on_row(state: Any, data: Any, count: Array) -> Any:
        return step(state, jax.tree.map(lambda leaf: leaf[0], data) if own_data else data, count)

    mapped = jax.shard_map(
        on_row,
        mesh=_mesh(),
        in_specs=(everywhere, apart if own_data else everywhere, everywhere),
        out_specs=everywhere,
        check_vma=False,
    )
    return jax.jit(mapped, donate_argnums=0)


def _spread(value: np.ndarray) -> Array:
    """One global array, whole on every device, as ``shard_map`` needs it."""
    sharding = NamedSharding(_mesh(), PartitionSpec())
    return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])


def _global_part(value: np.ndarray) -> Array:
    """One row per local device, as rows of a global array, as ``shard_map`` needs it."""
    sharding = NamedSharding(_mesh(), PartitionSpec(AXIS))
    return jax.make_array_from_process_local_data(sharding, value)


BACKENDS = {
    "pmap": _Backend(
        _pmap,
        jax.local_device_count,
        _stack,
        _part,
        lambda array: array.addressable_shards[0].data[0],
    ),
    "shard_map": _Backend(
        _shard_map,
        jax.device_count,
        _spread,
        _global_part,
        lambda array: array.addressable_shards[0].data,
    ),
}


def map_step(step: Callable, backend: str = "pmap", *, own_data: bool = False) -> Any:
    """Returns ``step(state, data, count) -> (state, metrics)`` mapped over all devices.

    Args:
      step: the per-device function; inside it :data:`AXIS` is bound. ``state`` is whole on every
        device, and what it returns must be equal on all of them.
      backend: ``'pmap'`` or ``'shard_map'``.
      own_data: whether each device has ``data`` of its own, not the same as all others.

    Returns:
      A compiled function of ``(state, data, count)``: the state from :func:`replicate`, the data
      from :func:`spread` if each device has its own and else from :func:`replicate`, the count a
      plain scalar. The buffers of ``state`` are donated: use the returned state instead.
    """
    return choose("parallel backend", backend, BACKENDS).map(step, own_data)


def traced_devices(backend: str = "pmap") -> int:
    """Returns over how many devices a batch is split when this process traces a mapped step.

    A running step splits it over all devices, but ``pmap`` under ``jax.make_jaxpr`` knows only the
    local ones.
    """
    return choose("parallel backend", backend, BACKENDS).width()


def compiles_ahead(backend: str = "pmap") -> bool:
    """Whether a mapped step can be compiled before its first call.

    ``pmap`` over several processes, lowered ahead, takes arrays of all devices, which no process
    has.
    """
    return backend != "pmap" or jax.process_count() == 1


def replicate(tree: Any, backend: str = "pmap") -> Any:
    """Returns ``tree`` with every leaf copied to all devices, as :func:`map_step` takes it."""
    place = choose("parallel backend", backend, BACKENDS).replicate
    return jax.tree.map(lambda leaf: place(np.asarray(leaf)), tree)


def spread(tree: Any, backend: str = "pmap") -> Any:
    """Returns ``tree`` with row i of every leaf on local device i, as :func:`map_step` takes it."""
    place = choose("parallel backend", backend, BACKENDS).spread
    return jax.tree.map(lambda leaf: place(np.asarray(leaf)), tree)


def unreplicate(tree: Any, backend: str = "pmap") -> Any:
    """Returns one device's copy of ``tree`` as numpy arrays that share no memory with it.

    They are copies, since the next step may reuse the donated buffers while a save still reads.
    """
    first = choose("parallel backend", backend, BACKENDS).first
    return jax.tree.map(lambda leaf: np.array(first(leaf), copy=True), tree)


def bytes_per_device(tree: Any) -> int:
    """How many bytes of placed arrays one device holds."""
    return sum(leaf.addressable_shards[0].data.nbytes for leaf in jax.tree.leaves(tree))
