"""Softmax attention in the layout ``(batch, head, token, dim)``, in a form per platform."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from einops import rearrange
from jax.ad_checkpoint import checkpoint_name

from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.networks import choices
from pacodi_jax.networks.layers import KEPT
from pacodi_jax.types import Array

#: At most this many queries share one pass over the keys in the chunked form.
CHUNK = 128


def scores(query: Array, key: Array) -> Array:
    """QKᵀ/√d in float32, ``(batch, head, query, key)``."""
    query = query * query.shape[-1] ** -0.5
    return jnp.einsum("bhqd,bhkd->bhqk", query, key, preferred_element_type=jnp.float32)


def average(scores: Array, value: Array) -> Array:
    """softmax(scores)V; the softmax is float32."""
    weights = jax.nn.softmax(scores, axis=-1).astype(value.dtype)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, value)


@jax.custom_vjp
def plain(query: Array, key: Array, value: Array) -> Array:
    """softmax(QKᵀ/√d)V; all weights W = softmax(QKᵀ/√d) are kept for the backward pass.

    Its derivative is written out, so that the softmax is not recomputed. With the gradient G of
    the result, dV = WᵀG, dS = W∘(GVᵀ − rowsum(W∘GVᵀ))/√d, dQ = dS·K and dK = dSᵀQ. A written
    derivative (``custom_vjp``) has no forward mode: ``jax.jvp`` and ``jax.jacfwd`` are refused.
    """
    return average(scores(query, key), value)


def _plain_forward(query: Array, key: Array, value: Array) -> tuple[Array, tuple[Array, ...]]:
    weights = checkpoint_name(jax.nn.softmax(scores(query, key), axis=-1), KEPT)
    result = jnp.einsum("bhqk,bhkd->bhqd", weights.astype(value.dtype), value)
    return result, (query, key, value, weights)


def _plain_backward(kept: tuple[Array, ...], slope: Array) -> tuple[Array, Array, Array]:
    query, key, value, weights = kept
    steep = jnp.einsum("bhqd,bhkd->bhqk", slope, value, preferred_element_type=jnp.float32)
    inner = weights * (steep - jnp.sum(weights * steep, axis=-1, keepdims=True))
    inner = (inner * query.shape[-1] ** -0.5).astype(query.dtype)
    of_query = jnp.einsum("bhqk,bhkd->bhqd", inner, key)
    return of_query, _over_queries(inner, query), _over_queries(weights.astype(slope.dtype), slope)


def _over_queries(weights: Array, rows: Array) -> Array:
    """Returns Wᵀ·rows, ``(batch, head, key, dim)``."""
    if not choices.writes_transposes():
        return jnp.einsum("bhqk,bhqd->bhkd", weights, rows)
    if weights.shape[3] <= rows.shape[3]:  # transpose the smaller of the two
        turned = jax.lax.optimization_barrier(rearrange(weights, "b h q k -> b h k q"))
        return jnp.einsum("bhkq,bhqd->bhkd", turned, rows)
    turned = jax.lax.optimization_barrier(rearrange(rows, "b h q d -> b h d q"))
    return rearrange(jnp.einsum("bhdq,bhqk->bhdk", turned, weights), "b h d k -> b h k d")


plain.defvjp(_plain_forward, _plain_backward)


def chunked(query: Array, key: Array, value: Array) -> Array:
    """The same result with the scores of one block of queries in memory, recomputed backwards."""
    tokens = query.shape[2]
    blocks = -(-tokens // CHUNK)
    size = -(-tokens // blocks)
    padded = jnp.pad(query, ((0, 0), (0, 0), (0, blocks * size - tokens), (0, 0)))
    blockwise = rearrange(padded, "b h (block q) d -> block b h q d", block=blocks)
    one_block = jax.checkpoint(lambda block: average(scores(block, key), value))
    result = jax.lax.map(one_block, blockwise)
    return rearrange(result, "block b h q d -> b h (block q) d")[:, :, :tokens]


def cudnn(query: Array, key: Array, value: Array) -> Array:
    """The fused kernel of NVIDIA's cuDNN, for half precision on a GPU; not yet run on one."""
    if not choices.fuses(query.shape[-1], query.dtype):
        raise PacodiError(
            "attention='cudnn' needs an NVIDIA GPU of compute capability 8.0 or more, "
            f"dtype='bfloat16' and width/heads a multiple of 8 up to {choices.FUSED_WIDTH}; here "
            f"are {choices.platform()!r}, {query.dtype.name!r} and {query.shape[-1]}: take 'auto'."
        )
    by_token = [rearrange(array, "b h n d -> b n h d") for array in (query, key, value)]
    result = jax.nn.dot_product_attention(*by_token, implementation="cudnn")
    return rearrange(result, "b n h d -> b h n d")


FORMS: dict[str, Callable[..., Array]] = {"plain": plain, "chunked": chunked, "cudnn": cudnn}


def attend(query: Array, key: Array, value: Array, form: str = "auto") -> Array:
    """Returns softmax(QKᵀ/√d)V.

    Args:
      query: ``(batch, head, token, dim)``, as are ``key`` and ``value``.
      key: what is compared with the query.
      value: what is averaged.
      form: ``plain``, ``chunked``, ``cudnn``, or ``auto`` for the best on this platform.

    Returns:
      ``(batch, head, token, dim)`` in the dtype of ``value``.
    """
    if form == "auto":
        form = choices.attention(query.shape[2], query.shape[3], query.dtype)
    return checkpoint_name(choose("attention", form, FORMS)(query, key, value), KEPT)
