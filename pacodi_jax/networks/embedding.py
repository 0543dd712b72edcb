"""Embeddings: patches of slots as tokens and back; codes of position, time and condition."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
from einops import rearrange

from pacodi_jax.networks.layers import Dense, Perceptron, modulate
from pacodi_jax.types import Array

#: Below this time the logarithmic feature of :func:`time_features` is linear in t.
CLOCK_FLOOR = 1e-4

#: Wider conditions are scaled down, see :class:`ConditionCode`.
WIDE = 128


def to_patches(x: Array, size: int) -> Array:
    """Groups ``(B, N, F)`` into patches of ``size`` slots, zero-padded: ``(B, ⌈N/P⌉, P·F)``."""
    padded = jnp.pad(x, ((0, 0), (0, -x.shape[1] % size), (0, 0)))
    return rearrange(padded, "b (n p) f -> b n (p f)", p=size)


def from_patches(patches: Array, features: int) -> Array:
    """Splits patches into slots, the padding of :func:`to_patches` included: ``(B, N·P, F)``."""
    return rearrange(patches, "b n (p f) -> b (n p) f", f=features)


def position_code(tokens: int, width: int) -> Array:
    """The sinusoidal code of token 0…N−1, wavelengths from 2π to 10⁴·2π: ``(N, width)``."""
    half = (width + 1) // 2
    rates = 1e-4 ** (np.arange(half) / half)
    angles = np.arange(tokens)[:, None] * rates
    code = np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)[:, :width]
    return jnp.asarray(code, jnp.float32)


def time_features(t: Array, width: int) -> Array:
    """Fourier features of ``t`` in [0, 1] and of its logarithm: ``(B,)`` to ``(B, about width)``.

    Noise levels change fastest near t = 0, where features linear in t hardly change. The second
    clock, log(1 + t/t₀)/log(1 + 1/t₀), resolves every decade down to t₀ = 1e-4.
    """
    count = max(1, width // 4)
    cycles = 0.5 * 64.0 ** (np.arange(count) / max(1, count - 1))
    slow = jnp.log1p(t / CLOCK_FLOOR) / np.log1p(1 / CLOCK_FLOOR)
    clocks = jnp.stack([t, slow], axis=-1).astype(jnp.float32)
    angles = 2 * np.pi * clocks[..., None] * cycles.astype(np.float32)
    waves = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)
    return rearrange(waves, "... clock wave -> ... (clock wave)")


class ConditionCode(nn.Module):
    """The embedding of a condition vector, and a learned embedding of the null condition.

    A text states many facts at once, so the hidden layer is wide; it costs little, because it runs
    once per example and not once per token. A step of Adam moves every weight by about the learning
    rate, and so the sum over E standardised inputs by up to E times as much. Wide conditions are
    therefore scaled by 128/E, which keeps their embedding stable (docs/reference/text.md).
    """

    width: int

    @nn.compact
    def __call__(self, condition: Array, drop: Array) -> Array:
        """Embeds ``(B, E)`` as ``(B, width)``; rows with ``drop (B,)`` get the null condition."""
        null = self.param("null", nn.initializers.normal(0.02), (self.width,), jnp.float32)
        scale = min(1.0, WIDE / condition.shape[-1])
        kept = jnp.where(drop[:, None], 0.0, scale * condition.astype(jnp.float32))
        embedded = Perceptron(self.width, 8 * self.width, name="projection")(kept)
        return jnp.where(drop[:, None], null, embedded)


class Embed(nn.Module):
    """Patches of slots as tokens, with a position code.

    Attributes:
      width: of a token.
      dtype: of the product.
    """

    width: int
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, patches: Array) -> Array:
        """Maps ``(B, N, P·F)`` to ``(B, N, width)``."""
        tokens = Dense(self.width, self.dtype, name="patch")(patches)
        return tokens.astype(jnp.float32) + position_code(patches.shape[1], self.width)


class Project(nn.Module):
    """Tokens back to patches of slots; zero-initialised, so that an untrained network returns 0.

    Attributes:
      features: P·F, numbers per patch.
    """

    features: int

    @nn.compact
    def __call__(self, tokens: Array, code: Array) -> Array:
        """Maps ``(B, N, D)`` and the code ``(B, D)`` to ``(B, N, features)``."""
        zeros = nn.initializers.zeros
        modulation = Dense(2 * tokens.shape[-1], kernel_init=zeros, name="modulation")(code)
        shift, scale = jnp.split(modulation, 2, axis=-1)
        return Dense(self.features, kernel_init=zeros, name="patch")(modulate(tokens, shift, scale))
