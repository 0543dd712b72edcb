"""Softmax attention in the layout ``(batch, head, token, dim)``, in the form that fits best."""

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

from pacodi_jax.errors import choose
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


def plain(query: Array, key: Array, value: Array) -> Array:
    """softmax(QKᵀ/√d)V; all scores are kept for the backward pass."""
    return average(checkpoint_name(scores(query, key), KEPT), value)


def chunked(query: Array, key: Array, value: Array) -> Array:
    """The same numbers with the scores of few queries in memory, remade going back."""
    batch, heads, tokens, dim = query.shape
    blocks = -(-tokens // CHUNK)
    size = -(-tokens // blocks)
    padded = jnp.pad(query, ((0, 0), (0, 0), (0, blocks * size - tokens), (0, 0)))
    blockwise = jnp.moveaxis(padded.reshape(batch, heads, blocks, size, dim), 2, 0)
    one_block = jax.checkpoint(lambda block: average(scores(block, key), value))
    result = jnp.moveaxis(jax.lax.map(one_block, blockwise), 0, 2)
    return result.reshape(batch, heads, blocks * size, dim)[:, :, :tokens]


def cudnn(query: Array, key: Array, value: Array) -> Array:
    """The fused kernel of NVIDIA's cuDNN, for half precision on a GPU."""
    by_token = [jnp.swapaxes(array, 1, 2) for array in (query, key, value)]
    result = jax.nn.dot_product_attention(*by_token, implementation="cudnn")
    return jnp.swapaxes(result, 1, 2)


FORMS = {"plain": plain, "chunked": chunked, "cudnn": cudnn}


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
        form = choices.attention(query.shape[2], query.dtype)
    return checkpoint_name(choose("attention", form, FORMS)(query, key, value), KEPT)
