"""Means over octaves of tokens: the first ones alone, then patches that double in width."""

import jax.numpy as jnp
import numpy as np
from einops import rearrange

from pacodi_jax.types import Array

#: So many tokens stay alone; each octave above them has half as many patches.
ALONE = 32


def octaves(tokens: int) -> list[tuple[int, int, int]]:
    """``(begin, end, size)`` of each octave of ``tokens``; the last patch may be a part of one."""
    found, begin, size = [(0, min(ALONE, tokens), 1)], ALONE, 2
    while begin < tokens:
        end = min(begin + size * ALONE // 2, tokens)
        found.append((begin, end, size))
        begin, size = end, 2 * size
    return found


def summary_count(tokens: int) -> int:
    """P, the number of patches of ``tokens``."""
    return sum(-(-(end - begin) // size) for begin, end, size in octaves(tokens))


def summarise(tokens: Array) -> Array:
    """The means of the patches of ``(B, N, D)``: ``(B, P, D)``, P about 32 + 16 log₂(N/32).

    All tokens themselves where N is at most 32.
    """
    count = tokens.shape[1]
    if count <= ALONE:
        return tokens
    return jnp.concatenate([_means(tokens[:, b:e], size) for b, e, size in octaves(count)], axis=1)


def _means(tokens: Array, size: int) -> Array:
    count = tokens.shape[1]
    padded = jnp.pad(tokens, ((0, 0), (0, -count % size), (0, 0)))
    sums = rearrange(padded, "b (p s) d -> b p s d", s=size).sum(axis=2)
    held = np.minimum(size, count - size * np.arange(sums.shape[1])).astype(np.float32)
    return sums / held[:, None]
