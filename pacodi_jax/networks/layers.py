"""Small parts: dense layers, norms, and the codes of position, time and condition."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

from pacodi_jax.types import Array

#: Below this time the logarithmic clock of :func:`time_features` runs linearly.
CLOCK_FLOOR = 1e-4


class Dense(nn.Module):
    """x W + b with float32 parameters, computed in ``dtype``.

    All leading axes are folded into one first: XLA's weight gradient over two contracting axes
    is twice as slow on CPU.
    """

    features: int
    dtype: jnp.dtype = jnp.float32
    kernel_init: nn.initializers.Initializer = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(..., in)`` to ``(..., features)``."""
        kernel = self.param("kernel", self.kernel_init, (x.shape[-1], self.features), jnp.float32)
        bias = self.param("bias", nn.initializers.zeros, (self.features,), jnp.float32)
        rows = x.reshape(-1, x.shape[-1]).astype(self.dtype)
        result = rows @ kernel.astype(self.dtype) + bias.astype(self.dtype)
        return result.reshape(*x.shape[:-1], self.features)


def normalise(x: Array, epsilon: float = 1e-6) -> Array:
    """Layer norm without parameters over the last axis, in float32."""
    x = x.astype(jnp.float32)
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
    return centred / jnp.sqrt(variance + epsilon)


def modulate(x: Array, shift: Array, scale: Array) -> Array:
    """adaLN: norm(x)·(1 + scale) + shift, for ``x (B, N, D)`` and one ``(B, D)`` per example."""
    return normalise(x) * (1 + scale[:, None]) + shift[:, None]


def position_code(tokens: int, width: int) -> Array:
    """The sinusoidal code of token 0…N−1, wavelengths from 2π to 10⁴·2π: ``(N, width)``."""
    half = (width + 1) // 2
    rates = 1e-4 ** (np.arange(half) / half)
    angles = np.arange(tokens)[:, None] * rates
    code = np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)[:, :width]
    return jnp.asarray(code, jnp.float32)


def time_features(t: Array, width: int) -> Array:
    """Fourier features of ``t`` in [0, 1] and of its logarithm: ``(B,)`` to ``(B, about width)``.

    Noise levels change fastest near t = 0, where a clock linear in t stands still; the second
    clock log(1 + t/t₀)/log(1 + 1/t₀) resolves every decade down to t₀ = 1e-4.
    """
    count = max(1, width // 4)
    cycles = 0.5 * 64.0 ** (np.arange(count) / max(1, count - 1))
    slow = jnp.log1p(t / CLOCK_FLOOR) / np.log1p(1 / CLOCK_FLOOR)
    clocks = jnp.stack([t, slow], axis=-1).astype(jnp.float32)
    angles = 2 * np.pi * clocks[..., None] * cycles.astype(np.float32)
    waves = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)
    return waves.reshape(*t.shape, 4 * count)


class Perceptron(nn.Module):
    """Two dense layers of one width with a SiLU between, in float32."""

    width: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, in)`` to ``(B, width)``."""
        return Dense(self.width, name="out")(nn.silu(Dense(self.width, name="hidden")(x)))


class ConditionCode(nn.Module):
    """A condition vector as an embedding, and a learned embedding for its absence."""

    width: int

    @nn.compact
    def __call__(self, condition: Array, drop: Array) -> Array:
        """Embeds ``(B, E)`` as ``(B, width)``; rows where ``drop (B,)`` holds are the null."""
        null = self.param("null", nn.initializers.normal(0.02), (self.width,), jnp.float32)
        kept = jnp.where(drop[:, None], 0.0, condition.astype(jnp.float32))
        embedded = Perceptron(self.width, name="projection")(kept)
        return jnp.where(drop[:, None], null, embedded)
