"""BERT's encoder as one pure function of its weights: tokens in, one unit vector per text out.

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


def _block(weights: Weights, hidden: Array, mask: Array, heads: int) -> Array:
    """One post-norm block over ``(B, N, D)``."""
    hidden = _attend(weights, "attention", hidden, mask, heads)
    inner = jax.nn.gelu(_dense(weights, "intermediate.dense", hidden), approximate=False)
    outer = _dense(weights, "output.dense", inner)
    return _normalise(weights, "output.LayerNorm", outer + hidden)


def stack(weights: Weights, layers: int) -> tuple[Weights, Weights]:
    """Splits the weights of a Hugging Face ``BertModel`` into embeddings and stacked blocks."""
    first = "encoder.layer.0."
    names = [name.removeprefix(first) for name in weights if name.startswith(first)]
    outer = {name: weights[name] for name in weights if name.startswith("embeddings.")}
    blocks = {
        name: jnp.stack([weights[f"encoder.layer.{layer}.{name}"] for layer in range(layers)])
        for name in names
    }
    return outer, blocks


def states(outer: Weights, blocks: Weights, tokens: Array, mask: Array, heads: int) -> Array:
    """Returns the last hidden state of every token.

    Args:
      outer: weights of the embeddings, from :func:`stack`.
      blocks: weights of the blocks, stacked along a leading axis, from :func:`stack`.
      tokens: token numbers ``(B, N)``.
      mask: true where there is a token ``(B, N)``.
      heads: number of attention heads.

    Returns:
      ``(B, N, D)``.
    """
    hidden = outer["embeddings.word_embeddings.weight"][tokens]
    hidden += outer["embeddings.position_embeddings.weight"][: tokens.shape[1]]
    hidden += outer["embeddings.token_type_embeddings.weight"][0]
    hidden = _normalise(outer, "embeddings.LayerNorm", hidden)
    return jax.lax.scan(lambda h, block: (_block(block, h, mask, heads), None), hidden, blocks)[0]


def embed(outer: Weights, blocks: Weights, tokens: Array, mask: Array, heads: int) -> Array:
    """Returns unit vectors of texts ``(B, D)``, by the arguments of :func:`states`."""
    hidden = states(outer, blocks, tokens, mask, heads)
    pooled = jnp.sum(hidden * mask[..., None], axis=1)
    return pooled / jnp.linalg.norm(pooled, axis=-1, keepdims=True)
