"""A sampler without this package: one StableHLO file for CPU, CUDA and TPU."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export as jax_export

from pacodi_jax import files
from pacodi_jax.core.checks import check_count
from pacodi_jax.data import bounds
from pacodi_jax.data.scaling import Scaler
from pacodi_jax.errors import PacodiError
from pacodi_jax.run.trained import Trained, sample_key
from pacodi_jax.types import Array

PLATFORMS = ("cpu", "cuda", "tpu")


def export(
    trained: Trained,
    path: Path,
    count: int,
    *,
    platforms: Sequence[str] = PLATFORMS,
    static: Mapping[str, Any] | None = None,
    text: str | None = None,
    **how: Any,
) -> Path:
    """Writes the sampler as a function ``seed -> windows`` by :mod:`jax.export`.

    The function takes an unsigned 32-bit seed and returns ``(count, L, C)`` float32 windows in the
    user's units. Window i of a seed is window i that the model itself draws, to rounding; whole
    numbers are not rounded. Conditions are those that the model's own seed draws, or as asked.

    Args:
      trained: the model.
      path: the file.
      count: windows per call.
      platforms: where it is to run.
      static: values of static columns, as for sampling.
      text: a text, as for sampling.
      **how: settings of the ``sample`` section that differ from the run's.

    Raises:
      PacodiError: if a platform is unknown or the sampler cannot be exported.
    """
    platforms = (platforms,) if isinstance(platforms, str) else tuple(platforms)
    for platform in platforms or ("",):
        if platform not in PLATFORMS:
            raise PacodiError(f"platform {platform!r}; accepted: {', '.join(PLATFORMS)}.")
    count = check_count(count)
    request = trained.request(trained.config.seed, count, static=static, text=text)
    function = _sampler(trained, count, request.vectors, trained.way(text, how))
    lowered = jax_export.export(jax.jit(function), platforms=platforms)
    exported = lowered(jax.ShapeDtypeStruct((), jnp.uint32))
    return files.write(path, lambda name: name.write_bytes(exported.serialize()))


def _sampler(
    trained: Trained, count: int, condition: np.ndarray | None, how: Mapping[str, Any]
) -> Callable[[Array], Array]:
    """The sampler as one pure function of the seed, weights and conditions baked in."""
    weights = jax.tree.map(jnp.asarray, trained.weights)
    given = None if condition is None else jnp.asarray(condition)
    block = trained.generator.traceable(weights, count, given, **how)
    scaler = trained.recipe.scaler

    def sample(seed: Array) -> Array:
        return unscale(scaler, block(sample_key(seed)))

    return sample


def load(path: Path) -> Any:
    """Loads an exported sampler as a function ``seed -> windows``."""
    exported = jax_export.deserialize(bytearray(path.read_bytes()))
    return lambda seed: exported.call(jnp.uint32(seed))


def unscale(scaler: Scaler, windows: Array) -> Array:
    """:meth:`Scaler.unscale` in JAX: ``(…, C_live)`` to the user's units, ``(…, C)``."""
    live = np.flatnonzero(scaler.live)
    if scaler.scores.size:
        windows = jnp.stack(
            [_curve(scaler, windows[..., i], channel) for i, channel in enumerate(live)], axis=-1
        )
    offset = jnp.asarray(scaler.offset, windows.dtype)
    out = jnp.broadcast_to(offset, (*windows.shape[:-1], len(offset)))
    out = out.at[..., live].add(windows * jnp.asarray(scaler.factor[live], windows.dtype))
    for i, found in scaler.links():
        out = out.at[..., live[i]].set(bounds.from_line(out[..., live[i]], found, jnp))
    return out


def _curve(scaler: Scaler, scores: Array, channel: int | np.integer) -> Array:
    """From normal scores to values along the knots, with the mean slope beyond both ends."""
    knots, values = scaler.scores, scaler.knots[:, channel]
    slope = np.ptp(values) / np.ptp(knots)
    inside = jnp.interp(scores, jnp.asarray(knots), jnp.asarray(values))
    return inside + (scores - jnp.clip(scores, knots[0], knots[-1])) * slope
