"""T2S's networks: a convolutional autoencoder with a latent of fixed size, and a DiT in the latent.

Arrays carry features last: a latent is ``(30, 64)``, 30 positions of 64 numbers.
"""

from typing import Any

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
from einops import rearrange

from pacodi_jax.networks.attention import attend
from pacodi_jax.networks.layers import modulate
from pacodi_jax.types import Array

#: Positions and features of the latent, whatever the length of the window.
POSITIONS, FEATURES = 30, 64
_PATCH = 2
_TORCH = nn.initializers.variance_scaling(1 / 3, "fan_in", "uniform")
_XAVIER = nn.initializers.xavier_uniform()


def resampled(x: Array, positions: int) -> Array:
    """Linear interpolation of ``(B, n, F)`` to ``(B, positions, F)`` that keeps both ends."""
    steps = x.shape[1]
    place = np.linspace(0, steps - 1, positions)[:, None]
    weights = np.maximum(1 - np.abs(place - np.arange(steps)), 0).astype(np.float32)
    return jnp.einsum("pn,bnf->bpf", weights, x)


class Residuals(nn.Module):
    """Two residual units and a ReLU: x ← relu(x) + W relu(V * relu(x)).

    The authors' first ReLU works in place, so the skip adds relu(x), not x.
    """

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, n, D)`` to the same shape."""
        width = x.shape[-1]
        for number in range(2):
            x = nn.relu(x)
            inside = _conv(2 * width, 3, use_bias=False, name=f"wide_{number}")(x)
            x = x + _conv(width, 1, use_bias=False, name=f"narrow_{number}")(nn.relu(inside))
        return nn.relu(x)


class Encoder(nn.Module):
    """One channel to the latent before interpolation."""

    width: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, L, 1)`` to ``(B, L/4, 64)``."""
        x = nn.relu(_conv(self.width // 2, 4, strides=2, name="first")(x))
        x = nn.relu(_conv(self.width, 4, strides=2, name="second")(x))
        x = Residuals(name="residuals")(_conv(self.width, 3, name="third")(x))
        return _conv(FEATURES, 1, name="out")(x)


class Decoder(nn.Module):
    """The latent, interpolated to L/4 positions, to one channel."""

    width: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, L/4, 64)`` to ``(B, L, 1)``."""
        x = Residuals(name="residuals")(_conv(self.width, 3, name="first")(x))
        x = nn.relu(_doubling(self.width // 2, "second")(x))
        return _doubling(1, "third")(x)


def _conv(features: int, taps: int, strides: int = 1, **options: Any) -> nn.Conv:
    pad = (taps - 1) // 2
    return nn.Conv(features, (taps,), strides, ((pad, pad),), kernel_init=_TORCH, **options)


def _doubling(features: int, name: str) -> nn.ConvTranspose:
    return nn.ConvTranspose(features, (4,), (2,), ((2, 2),), kernel_init=_TORCH, name=name)


class Block(nn.Module):
    """adaLN-zero: its gates start at zero, so that an untrained block returns its tokens."""

    heads: int

    @nn.compact
    def __call__(self, tokens: Array, code: Array) -> Array:
        """Maps ``(B, N, D)`` and codes ``(B, D)`` to ``(B, N, D)``."""
        width, zeros = tokens.shape[-1], nn.initializers.zeros
        modulation = nn.Dense(6 * width, kernel_init=zeros, name="modulation")(nn.silu(code))
        shift, scale, gate, shift_2, scale_2, gate_2 = jnp.split(modulation, 6, axis=-1)
        mixed = _dense(3 * width, "qkv")(modulate(tokens, shift, scale))
        query, key, value = (
            rearrange(x, "b n (h d) -> b h n d", h=self.heads) for x in jnp.split(mixed, 3, axis=-1)
        )
        seen = rearrange(attend(query, key, value), "b h n d -> b n (h d)")
        tokens = tokens + gate[:, None] * _dense(width, "out")(seen)
        hidden = nn.gelu(_dense(2 * width, "hidden")(modulate(tokens, shift_2, scale_2)))
        return tokens + gate_2[:, None] * _dense(width, "mlp")(hidden)


def _dense(features: int, name: str) -> nn.Dense:
    return nn.Dense(features, kernel_init=_XAVIER, name=name)


class Flow(nn.Module):
    """The DiT: the latent as an image of 30 × 64, in 480 tokens of 2 × 2, to a velocity."""

    width: int
    depth: int
    heads: int

    @nn.compact
    def __call__(self, latent: Array, t: Array, condition: Array | None = None) -> Array:
        """The velocity ``(B, 30, 64)`` at times ``(B,)``; conditions ``(B, E ≤ D)``, or none."""
        sizes = {"p": _PATCH, "q": _PATCH}
        patches = rearrange(latent, "b (h p) (w q) -> b (h w) (p q)", **sizes)
        tokens = _dense(self.width, "embed")(_dense(_PATCH**2, "patch")(patches))
        tokens = tokens + positions(tokens.shape[1], self.width)
        code = time_code(t, self.width)
        if condition is not None:
            code = code.at[:, : condition.shape[-1]].add(condition)
        for number in range(self.depth):
            tokens = Block(self.heads, name=f"block_{number}")(tokens, code)
        out = _dense(_PATCH**2, "out")(nn.LayerNorm(epsilon=1e-6, name="norm")(tokens))
        return rearrange(out, "b (h w) (p q) -> b (h p) (w q)", h=POSITIONS // _PATCH, **sizes)


def _waves(angles: Array) -> Array:
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


def time_code(t: Array, width: int) -> Array:
    """Sines and cosines of 100 t/10000^{0 … 1}: ``(B,)`` to ``(B, width)``."""
    return _waves(100 * t[:, None] * 1e-4 ** np.linspace(0, 1, width // 2, dtype=np.float32))


def positions(tokens: int, width: int) -> Array:
    """The fixed code of token 0 … N − 1: ``(N, width)``."""
    rates = 1e-4 ** (np.arange(width // 2) / (width // 2))
    return _waves(jnp.asarray(np.arange(tokens)[:, None] * rates, jnp.float32))
