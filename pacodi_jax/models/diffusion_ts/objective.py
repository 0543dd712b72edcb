"""The training loss of Diffusion-TS."""

import jax.numpy as jnp
import numpy as np

from pacodi_jax.models.diffusion_ts.network import harmonics
from pacodi_jax.types import Array


def error(clean: Array, truth: Array, fourier: bool = True) -> Array:
    """Mean over steps and channels of |x̂₀ − x₀| + λ (|Re ΔF| + |Im ΔF|), λ = √L/5: ``(B,)``.

    F is the complex transform over 1/L with all L bins; the release has L1 where the paper prints
    squares.

    Args:
      clean: x̂₀, ``(B, L, C)``.
      truth: x₀.
      fourier: whether the second term counts.
    """
    gap = clean - truth
    plain = jnp.mean(jnp.abs(gap), axis=(1, 2))
    if not fourier:
        return plain
    length = gap.shape[1]
    parts = jnp.matmul(gap.swapaxes(1, 2), half_transform(length), precision="highest")
    return plain + np.float32(length**0.5 / 5) * jnp.mean(jnp.sum(jnp.abs(parts), axis=2), axis=1)


def half_transform(length: int) -> np.ndarray:
    """x ↦ real and imaginary parts whose absolute sum is the mean of |Re F| + |Im F| over L bins.

    Paired bins stand for two, so they count double. Shape ``(L, L)``.
    """
    ends = [np.ones(length)]
    if length % 2 == 0:
        ends.append(np.cos(np.pi * np.arange(length)))
    columns = np.concatenate([np.stack(ends, axis=1), 2 * harmonics(length)], axis=1)
    return (columns / length**2).astype(np.float32)
