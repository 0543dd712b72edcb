"""The score network of FreqDiff: a post-norm transformer over L tokens."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from einops import rearrange

from pacodi_jax.networks.layers import Dense
from pacodi_jax.networks.uniform import Linear, uniform
from pacodi_jax.types import Array, Key

_LEVELS = 1 << 16


def dropout(keys: Array | None, site: int, rate: float, x: Array) -> Array:
    """Drops units of ``(B, ...)`` at a rate, by one key per example ``(B,)``; none without keys.

    Half a word of random bits decides each unit, so the rate is met to 1/65536.
    """
    if keys is None or not rate:
        return x
    size = int(np.prod(x.shape[1:]))
    dropped = round(rate * _LEVELS)

    def kept(key: Key) -> Array:
        words = jax.random.bits(jax.random.fold_in(key, site), (-(-size // 2),), jnp.uint32)
        halves = jax.lax.bitcast_convert_type(words, jnp.uint16).reshape(-1)[:size]
        return halves.reshape(x.shape[1:]) >= dropped

    return jnp.where(jax.vmap(kept)(keys), x / (1 - dropped / _LEVELS), 0.0)


class Attention(nn.Module):
    """Self-attention with dropout of its weights."""

    heads: int
    rate: float

    @nn.compact
    def __call__(self, x: Array, keys: Array | None) -> Array:
        """Maps ``(B, L, D)``."""
        width = x.shape[-1]
        mixed = Dense(3 * width, kernel_init=nn.initializers.xavier_uniform(), name="qkv")(x)
        parts = jnp.split(mixed, 3, axis=-1)
        query, key, value = (rearrange(p, "b n (h d) -> b h n d", h=self.heads) for p in parts)
        scores = jnp.einsum("bhqd,bhkd->bhqk", query * query.shape[-1] ** -0.5, key)
        weights = dropout(keys, 0, self.rate, jax.nn.softmax(scores, axis=-1))
        result = rearrange(jnp.einsum("bhqk,bhkd->bhqd", weights, value), "b h n d -> b n (h d)")
        return Dense(width, kernel_init=uniform(width), name="out")(result)


class Layer(nn.Module):
    """norm(x + attention(x)), then norm(x + MLP(x)), with ReLU and dropout."""

    heads: int
    hidden: int
    rate: float

    @nn.compact
    def __call__(
        self, carry: tuple[Array, Array], keys: Array | None
    ) -> tuple[tuple[Array, Array], None]:
        """Maps ``(tokens (B, L, D), the layer's number)``."""
        x, number = carry
        if keys is not None:
            keys = jax.vmap(lambda key: jax.random.fold_in(key, number))(keys)
        width = x.shape[-1]
        attended = Attention(self.heads, self.rate, name="attention")(x, keys)
        x = nn.LayerNorm(epsilon=1e-5)(x + dropout(keys, 1, self.rate, attended))
        hidden = nn.relu(Linear(self.hidden, name="hidden")(x))
        result = Linear(width, name="out")(dropout(keys, 2, self.rate, hidden))
        x = nn.LayerNorm(epsilon=1e-5)(x + dropout(keys, 3, self.rate, result))
        return (x, number + 1), None


class Network(nn.Module):
    """The score of a noisy state, one token per live slot of the half spectrum.

    All layers start from the same weights, as PyTorch's encoder makes them.

    Attributes:
      channels: C.
      width: D, of a token.
      depth: layers.
      heads: must divide the width.
      hidden: width of the MLPs.
      rate: of dropout.
    """

    channels: int
    width: int
    depth: int
    heads: int
    hidden: int
    rate: float

    @nn.compact
    def __call__(self, x: Array, t: Array, frequencies: Array, keys: Array | None = None) -> Array:
        """Maps states ``(B, L, C)`` at times ``(B,)`` in (0, 1] to their scores.

        Args:
          x: the noisy states.
          t: their times.
          frequencies: ``(⌈D/2⌉,)``, of the time code; they are not learned.
          keys: one per example ``(B,)``, for dropout; None leaves it out.
        """
        angles = 2 * np.pi * t[:, None] * frequencies
        waves = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)[:, : self.width]
        code = Linear(self.width, name="time")(waves)
        table = self.param("positions", nn.initializers.normal(1.0), (x.shape[1], self.width))
        tokens = Linear(self.width, name="embed")(x) + within(table, self.width**0.5)
        layers = nn.scan(
            Layer,
            variable_axes={"params": 0},
            split_rngs={"params": False},
            in_axes=nn.broadcast,
            length=self.depth,
        )(self.heads, self.hidden, self.rate, name="layers")
        (tokens, _), _ = layers((tokens + code[:, None], jnp.zeros((), jnp.int32)), keys)
        return Linear(self.channels, name="unembed")(tokens)


def within(table: Array, radius: float) -> Array:
    """Rows of at most this norm; the factor is not differentiated, as in PyTorch's embedding."""
    norm = jnp.linalg.norm(table, axis=-1, keepdims=True)
    return table * jax.lax.stop_gradient(jnp.minimum(1.0, radius / jnp.maximum(norm, 1e-7)))
