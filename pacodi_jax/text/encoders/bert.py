"""BERT's encoder as one pure function of its weights: tokens in, one unit vector a text out.

Devlin et al., 2019, https://arxiv.org/abs/1810.04805: post-norm blocks, learned positions, exact
GELU. The text's vector is the mean over its tokens, scaled to unit length, as in
Sentence-BERT (Reimers and Gurevych, 2019, https://arxiv.org/abs/1908.10084).
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp

from pacodi_jax.types import Array

_EPSILON = 1e-12
Weights = Mapping[str, Array]


def _dense(weights: Weights, name: str, inputs: Array) -> Array:
    return inputs @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normalise(weights: Weights, name: str, inputs: Array) -> Array:
    centred = inputs - inputs.mean(axis=-1, keepdims=True)
    scaled = centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + _EPSILON)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _attend(weights: Weights, name: str, inputs: Array, mask: Array, heads: int) -> Array:
    """Multi-head self-attention over ``(B, N, D)``; masked tokens are not attended to."""

    def split(part: str) -> Array:
        projected = _dense(weights, f"{name}.self.{part}", inputs)
        return projected.reshape(*projected.shape[:2], heads, -1)

    query, key, value = split("query"), split("key"), split("value")
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) * query.shape[-1] ** -0.5
    shares = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -jnp.inf))
    mixed = jnp.einsum("bhqk,bkhd->bqhd", shares, value).reshape(inputs.shape)
    output = _dense(weights, f"{name}.output.dense", mixed)
    return _normalise(weights, f"{name}.output.LayerNorm", output + inputs)


def embed(weights: Weights, tokens: Array, mask: Array, layers: int, heads: int) -> Array:
    """Returns unit vectors of texts.

    Args:
      weights: named as in a Hugging Face ``BertModel``.
      tokens: token numbers ``(B, N)``.
      mask: true where there is a token ``(B, N)``.
      layers: number of blocks.
      heads: number of attention heads.

    Returns:
      Vectors ``(B, D)`` of unit length.
    """
    hidden = weights["embeddings.word_embeddings.weight"][tokens]
    hidden += weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    hidden += weights["embeddings.token_type_embeddings.weight"][0]
    hidden = _normalise(weights, "embeddings.LayerNorm", hidden)
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        hidden = _attend(weights, f"{name}.attention", hidden, mask, heads)
        inner = _dense(weights, f"{name}.intermediate.dense", hidden)
        inner = jax.nn.gelu(inner, approximate=False)
        outer = _dense(weights, f"{name}.output.dense", inner)
        hidden = _normalise(weights, f"{name}.output.LayerNorm", outer + hidden)
    pooled = jnp.sum(hidden * mask[..., None], axis=1)
    return pooled / jnp.linalg.norm(pooled, axis=-1, keepdims=True)
