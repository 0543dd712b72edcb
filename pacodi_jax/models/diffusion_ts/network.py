"""The network of Diffusion-TS: an encoder, and a decoder that sums up trend, season and rest.

Its release accepts a padding mask and ignores it, so there is none here.
"""

from functools import partial
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from einops import rearrange

from pacodi_jax.networks.attention import attend
from pacodi_jax.networks.layers import modulate
from pacodi_jax.networks.uniform import Convolution, Linear, uniform
from pacodi_jax.types import Array, Key

_EPSILON = 1e-5
_POWERS = 3


class Parts(NamedTuple):
    """What a clean window is made of, ``(B, L, C)`` each."""

    trend: Array
    season: Array
    rest: Array

    @property
    def clean(self) -> Array:
        """x̂₀, their sum."""
        return self.trend + self.season + self.rest


def time_code(t: Array, width: int) -> Array:
    """Sines, then cosines, of t·10^(−4 i/(D/2 − 1)): ``(B,)`` to ``(B, width)``."""
    half = width // 2
    rates = np.exp(-np.log(1e4) * np.arange(half) / (half - 1)).astype(np.float32)
    angles = t.astype(jnp.float32)[:, None] * rates
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


def harmonics(length: int) -> np.ndarray:
    """Cosines, then sines, of the F bins between DC and Nyquist: ``(L, 2F)``."""
    angles = 2 * np.pi * np.outer(np.arange(length), np.arange(1, (length + 1) // 2)) / length
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def kept_bins(length: int) -> int:
    """k = ⌊ln F⌋, how many of the F bins between DC and Nyquist make the season."""
    return int(np.log(max((length + 1) // 2 - 1, 1)))


def season(x: Array) -> Array:
    """Σ 2|X_f| cos(2π f n/L + arg X_f) over the k largest bins of each row: ``(..., L)``.

    There is no 1/L: a cosine of amplitude 1 at a kept bin comes back with amplitude L. It is
    written as 2·Re(X_f e^{2πi f n/L}), whose gradient exists at X_f = 0, and as two products with
    sines and cosines. Which bins are kept is not differentiated.
    """
    length = x.shape[-1]
    if not kept_bins(length):
        return jnp.zeros_like(x)
    waves = harmonics(length)
    spectrum = jnp.matmul(x, waves, precision="highest")  # real parts, then minus imaginary ones
    real, imag = jnp.split(spectrum, 2, axis=-1)
    power = jax.lax.stop_gradient(real**2 + imag**2)
    kept = power >= _largest(power, kept_bins(length))
    chosen = jnp.where(jnp.concatenate([kept, kept], axis=-1), spectrum, 0.0)
    return 2 * jnp.matmul(chosen, waves.T, precision="highest")


def _largest(x: Array, rank: int) -> Array:
    """The value of this rank on the last axis, ``(..., 1)``."""
    for _ in range(rank - 1):  # at most five rounds: quicker than a sort
        x = jnp.where(x >= jnp.max(x, axis=-1, keepdims=True), -1.0, x)
    return jnp.max(x, axis=-1, keepdims=True)


class TimeNorm(nn.Module):
    """AdaLN: norm(x)·(1 + scale) + shift, both linear in the code of time and condition."""

    @nn.compact
    def __call__(self, x: Array, code: Array) -> Array:
        """Maps ``(B, L, D)`` under a code ``(B, D)``."""
        scale, shift = jnp.split(Linear(2 * x.shape[-1], name="modulation")(code), 2, axis=-1)
        return modulate(x, shift, scale, _EPSILON)


class Attention(nn.Module):
    """Multi-head attention; keys and values are those of ``source``, or of x itself."""

    heads: int

    @nn.compact
    def __call__(self, x: Array, source: Array | None = None) -> Array:
        """Maps ``(B, L, D)``."""
        width = x.shape[-1]
        if source is None:
            query, key, value = jnp.split(Linear(3 * width, name="qkv")(x), 3, axis=-1)
        else:
            key, value = jnp.split(Linear(2 * width, name="kv")(source), 2, axis=-1)
            query = Linear(width, name="q")(x)
        by_head = partial(rearrange, pattern="b n (h d) -> b h n d", h=self.heads)
        result = attend(by_head(query), by_head(key), by_head(value))
        return Linear(width, name="out")(rearrange(result, "b h n d -> b n (h d)"))


class Perceptron(nn.Module):
    """D → 4D → D behind a layer norm, with the exact GELU."""

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, L, D)``."""
        width = x.shape[-1]
        gain = self.param("gain", nn.initializers.ones, (width,))
        offset = self.param("offset", nn.initializers.zeros, (width,))
        rows = [jnp.broadcast_to(part, (len(x), width)) for part in (offset, gain - 1)]
        hidden = Linear(4 * width, name="hidden")(modulate(x, *rows, _EPSILON))
        return Linear(width, name="out")(gelu(hidden))


def gelu(x: Array) -> Array:
    """x Φ(x), exactly."""
    return 0.5 * x * (1 + jax.lax.erf(x * np.float32(0.5**0.5)))


class Encoder(nn.Module):
    """One block of the encoder."""

    heads: int

    @nn.compact
    def __call__(self, x: Array, code: Array) -> Array:
        """Maps ``(B, L, D)``."""
        x = x + Attention(self.heads, name="self")(TimeNorm(name="self_norm")(x, code))
        return x + Perceptron(name="mlp")(x)


class Trend(nn.Module):
    """A polynomial τ, τ², τ³ without constant, its coefficients read from time and features."""

    channels: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, D, L)`` to ``(B, L, C)``."""
        length = x.shape[-1]
        slots = gelu(Convolution(_POWERS, name="powers")(x))
        coefficients = Convolution(self.channels, name="channels")(slots.swapaxes(1, 2))
        tau = np.arange(1, length + 1) / (length + 1)
        basis = np.stack([tau ** (p + 1) for p in range(_POWERS)]).astype(np.float32)
        return jnp.einsum("bpc,pl->blc", coefficients, basis, precision="highest")


class Decoder(nn.Module):
    """One block of the decoder."""

    heads: int
    channels: int

    @nn.compact
    def __call__(
        self, x: Array, memory: Array, code: Array
    ) -> tuple[Array, tuple[Array, Array, Array]]:
        """Maps ``(B, L, D)`` under the encoder's output.

        Returns:
          The tokens, and the block's mean ``(B, C)``, trend ``(B, L, C)`` and season ``(B, D, L)``.
        """
        x = x + Attention(self.heads, name="self")(TimeNorm(name="self_norm")(x, code))
        x = x + Attention(self.heads, name="cross")(TimeNorm(name="cross_norm")(x, code), memory)
        halves = Linear(2 * x.shape[1], name="halves")(x.swapaxes(1, 2))
        first, second = jnp.split(halves, 2, axis=-1)
        trend = Trend(self.channels, name="trend")(first)
        x = x + Perceptron(name="mlp")(x)
        mean = jnp.mean(x, axis=1)
        found = Linear(self.channels, name="mean")(mean), trend, season(second)
        return x - mean[:, None], found


def _positions(key: Key, shape: tuple[int, ...]) -> Array:
    return jax.random.uniform(key, shape, jnp.float32, -0.02, 0.02)


class Network(nn.Module):
    """x̂₀ of a noisy window, in parts.

    Attributes:
      channels: C.
      width: D, even, of a token.
      heads: must divide the width.
      encoders: blocks of the encoder.
      decoders: blocks of the decoder.
      condition_width: E; 0 for none.
    """

    channels: int
    width: int
    heads: int
    encoders: int
    decoders: int
    condition_width: int = 0

    @nn.compact
    def __call__(
        self, x: Array, t: Array, condition: Array | None = None, drop: Array | None = None
    ) -> Parts:
        """Splits noisy windows ``(B, L, C)`` at times ``(B,)`` in 0…T−1.

        Args:
          x: the noisy windows.
          t: their times.
          condition: ``(B, E)``; without it every example has the null condition.
          drop: ``(B,)`` bool, examples whose condition is replaced by the null condition.
        """
        code = nn.silu(time_code(t, self.width) + self._label(condition, drop))
        tokens = Convolution(self.width, name="embed")(x)
        shape = x.shape[1], self.width
        memory = tokens + self.param("encoder_positions", _positions, shape)
        for i in range(self.encoders):
            memory = Encoder(self.heads, name=f"encoder_{i}")(memory, code)
        tokens = tokens + self.param("decoder_positions", _positions, shape)
        found = []
        for i in range(self.decoders):
            block = Decoder(self.heads, self.channels, name=f"decoder_{i}")
            tokens, parts = block(tokens, memory, code)
            found.append(parts)
        means, trends, seasons = zip(*found, strict=True)
        weights = self.param("means", uniform(self.decoders), (self.decoders,))
        rest = Convolution(self.channels, name="rest")(tokens)
        level = jnp.mean(rest, axis=1, keepdims=True)
        mixed = sum(w * mean for w, mean in zip(weights, means, strict=True))[:, None]
        waves = Linear(self.channels, use_bias=False, name="season")(sum(seasons).swapaxes(1, 2))
        return Parts(sum(trends) + mixed + level, waves, rest - level)

    def _label(self, condition: Array | None, drop: Array | None) -> Array | float:
        """The embedding of the condition, in the label slot that the release leaves vacant."""
        if condition is None or not self.condition_width:
            return 0.0
        label = Linear(self.width, name="condition")(condition.astype(jnp.float32))
        return label if drop is None else jnp.where(drop[:, None], 0.0, label)
