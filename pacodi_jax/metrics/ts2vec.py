"""TS2Vec, the encoder of Context-FID: dilated convolutions trained by contrast of crops.

Two overlapping crops of a window, each half masked, are encoded. Where they overlap, a step of one
must match the same step of the other, against other steps (temporal contrast) and against other
windows (instance contrast), at every scale of a max-pooling pyramid. The weights that encode are
the plain average over training. After Yue et al., "TS2Vec: Towards Universal Representation of Time
Series", AAAI 2022, with the settings of its release.

Crops vary in length, but compiled shapes are fixed. A crop here keeps its place in a buffer of the
window's length, and everything outside it is set to zero before each convolution. This equals zero
padding at the crop's ends, so the numbers are those of the cropped window.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.metrics.descent import descend
from pacodi_jax.types import Array, Key

Params = dict[str, Any]

HIDDEN = 64
DEPTH = 10
DIMENSIONS = 320
KERNEL = 3
BATCH = 8
LEARNING_RATE = 1e-3
WEIGHT_DECAY = 0.01
DROPOUT = 0.1
ENCODE_CHUNK = 256
#: Training windows with at most this many values are trained for fewer steps, as in the release.
SMALL = 100_000


class Crops(NamedTuple):
    """Two crops, [outer_left, right) and [left, outer_right); both show [left, right).

    ``offset (batch,)`` shifts each window under them. Crops of many steps have one row per step.
    """

    outer_left: Any
    left: Any
    right: Any
    outer_right: Any
    offset: Any


def default_steps(windows: np.ndarray) -> int:
    """Returns the release's number of training steps for windows ``(N, L, C)``: 200 or 600."""
    return 200 if windows.size <= SMALL else 600


def _affine(rng: np.random.Generator, *shape: int, fan_in: int) -> Params:
    """Weights ``shape`` and a bias of its last size, uniform on ±1/√fan_in."""
    bound = fan_in**-0.5
    bias = (*shape[:-3], shape[-1])
    return {
        "weight": rng.uniform(-bound, bound, shape).astype(np.float32),
        "bias": rng.uniform(-bound, bound, bias).astype(np.float32),
    }


def _init_block(rng: np.random.Generator, *stack: int, taps: int, width: int) -> Params:
    """Residual blocks of two convolutions each, from 64 features to ``width``."""
    return {
        "first": _affine(rng, *stack, taps, HIDDEN, width, fan_in=KERNEL * HIDDEN),
        "second": _affine(rng, *stack, taps, width, width, fan_in=KERNEL * width),
    }


def init(rng: np.random.Generator, length: int, channels: int) -> Params:
    """Returns fresh weights, uniform on ±1/√fan_in, for windows ``(length, channels)``.

    Where the dilation is longer than the window, the outer taps of a convolution multiply zeros and
    are left out. So there are two stacks of blocks, near and far.
    """
    near = sum(2**i < length for i in range(DEPTH))
    taps = KERNEL if length > 2**DEPTH else 1
    return {
        "input": _affine(rng, 1, channels, HIDDEN, fan_in=channels),
        "near": _init_block(rng, near, taps=KERNEL, width=HIDDEN),
        "far": _init_block(rng, DEPTH - near, taps=1, width=HIDDEN),
        "last": _init_block(rng, taps=taps, width=DIMENSIONS),
        "project": _affine(rng, 1, HIDDEN, DIMENSIONS, fan_in=HIDDEN),
    }


def _convolve(affine: Params, x: Array, dilation: Array | int) -> Array:
    """Same-length dilated convolution of ``x (B, L, F)`` as one matrix product."""
    weight, length = affine["weight"], x.shape[1]
    if len(weight) > 1:
        padded = jnp.pad(x, ((0, 0), (length, length), (0, 0)))
        before, after = (
            jax.lax.dynamic_slice_in_dim(padded, length + shift, length, axis=1)
            for shift in (-dilation, dilation)
        )
        x = jnp.concatenate([before, x, after], axis=-1)
    return x @ weight.reshape(-1, weight.shape[-1]) + affine["bias"]


def _block(block: Params, x: Array, inside: Array, dilation: Array | int) -> Array:
    """Two convolutions, each of what lies inside the crop."""
    y = _convolve(block["first"], jax.nn.gelu(x, approximate=False) * inside, dilation)
    return _convolve(block["second"], jax.nn.gelu(y, approximate=False) * inside, dilation)


def apply(params: Params, windows: Array, keep: Array, inside: Array) -> Array:
    """Encodes each step of each window.

    Args:
      params: from ``init``.
      windows: ``(B, L, C)``.
      keep: ``(B, L)``, 0 where a step is hidden from the encoder.
      inside: ``(B, L)``, 0 outside the crop.

    Returns:
      Representations ``(B, L, 320)``; what lies outside the crop is meaningless.
    """
    inside = inside[..., None]
    x = _convolve(params["input"], windows, 1) * keep[..., None]

    def step(x: Array, inputs: tuple[Params, Array]) -> tuple[Array, None]:
        block, dilation = inputs
        return x + _block(block, x, inside, dilation), None

    near = len(params["near"]["first"]["bias"])
    dilations = 2 ** jnp.arange(DEPTH)
    x, _ = jax.lax.scan(step, x, (params["near"], dilations[:near]))
    x, _ = jax.lax.scan(step, x, (params["far"], dilations[near:]))
    return _convolve(params["project"], x, 1) + _block(params["last"], x, inside, 2**DEPTH)


def _contrast(similarity: Array, positive: Array, valid: Array) -> Array:
    """−log softmax of each row's positive among the valid others; 0 in rows that are not valid."""
    others = valid[..., None, :] & ~jnp.eye(similarity.shape[-1], dtype=bool)
    spread = jax.nn.logsumexp(jnp.where(others, similarity, -1e30), axis=-1)
    return jnp.where(valid, spread - positive, 0.0)


def _level(first: Array, second: Array, size: Array) -> Array:
    """½ instance + ½ temporal contrast of two views ``(B, T, F)``; ``size`` of T steps count."""
    valid = jnp.arange(first.shape[1]) < size
    positive = jnp.einsum("btf,btf->bt", first, second)
    across = jnp.concatenate([first, second], axis=0).swapaxes(0, 1)
    shown = jnp.broadcast_to(valid[:, None], across.shape[:2])
    instance = _contrast(across @ across.swapaxes(1, 2), jnp.tile(positive.T, 2), shown)
    along = jnp.concatenate([first, second], axis=1)
    shown = jnp.broadcast_to(jnp.tile(valid, 2), along.shape[:2])
    temporal = _contrast(along @ along.swapaxes(1, 2), jnp.tile(positive, 2), shown)
    pairs = jnp.maximum(size, 1) * 2 * len(first)
    return 0.5 * (instance.sum() + jnp.where(size > 1, temporal.sum(), 0.0)) / pairs


def hierarchical_loss(first: Array, second: Array, size: Array) -> Array:
    """The contrastive loss of two views over the max-pooling pyramid.

    Args:
      first: ``(B, T, F)``; its first ``size`` steps are those that both views show.
      second: ``(B, T, F)``, the same.
      size: scalar, how many of the T steps both views show; at least 2.

    Returns:
      The mean over levels of ½ instance + ½ temporal contrast (instance only at the top).
    """
    total, levels = jnp.zeros(()), jnp.zeros(())
    while first.shape[1] > 0:
        total += _level(first, second, size)
        levels += size > 0
        first, second, size = _halve(first), _halve(second), size // 2
    return total / levels


def _halve(x: Array) -> Array:
    even = x.shape[1] // 2 * 2
    return jnp.maximum(x[:, 0:even:2], x[:, 1:even:2])


def draw_crops(rng: np.random.Generator, length: int, batch: int, steps: int) -> Crops:
    """Draws the crops of all steps: a size from 2 up, its place, and how far each reaches out."""
    size = rng.integers(2, length + 1, steps)
    left = rng.integers(0, length - size + 1)
    outer_left = rng.integers(0, left + 1)
    outer_right = rng.integers(left + size, length + 1)
    offset = rng.integers(-outer_left[:, None], (length - outer_right + 1)[:, None], (steps, batch))
    return Crops(outer_left, left, left + size, outer_right, offset)


def _loss(params: Params, key: Key, windows: Array, crops: Crops) -> Array:
    """The loss of one step on ``windows (B, L, C)``."""
    batch, length, _ = windows.shape
    place = jnp.arange(length)
    rows = jnp.clip(place + crops.offset[:, None], 0, length - 1)
    shifted = jnp.take_along_axis(windows, rows[..., None], axis=1)
    first = (place >= crops.outer_left) & (place < crops.right)
    second = (place >= crops.left) & (place < crops.outer_right)
    inside = jnp.repeat(jnp.stack([first, second]), batch, axis=0)
    draws = jax.random.uniform(key, (2 * batch, length, 1 + DIMENSIONS))
    views = apply(params, jnp.tile(shifted, (2, 1, 1)), draws[..., 0] < 0.5, inside)
    views *= (draws[..., 1:] >= DROPOUT) / (1 - DROPOUT)
    views = views[:, jnp.minimum(place + crops.left, length - 1)]
    return hierarchical_loss(views[:batch], views[batch:], crops.right - crops.left)


@jax.jit
def _train(key: Key, params: Params, windows: Array, order: Array, crops: Crops) -> Params:
    """Trains on the rows named by ``order (steps, batch)``; returns the averaged weights."""

    def loss(params: Params, step: tuple[Array, Array, Crops]) -> Array:
        number, rows, crops = step
        return _loss(params, jax.random.fold_in(key, number), windows[rows], crops)

    optimiser = optax.adamw(LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    steps = (jnp.arange(len(order)), order, crops)
    return descend(loss, params, optimiser, steps, averaged=True)


def train(seed: int, windows: np.ndarray, steps: int | None = None) -> Params:
    """Trains an encoder on ``windows (N, L, C)`` and returns the average of its weights.

    Args:
      seed: of the weights, the order of the windows, the crops and the masks.
      windows: scaled to [0, 1].
      steps: of batch 8; by default the release's choice (``default_steps``).
    """
    steps = default_steps(windows) if steps is None else steps
    rng = np.random.default_rng(seed)
    batch = min(BATCH, len(windows))
    epoch = len(windows) // batch
    orders = [
        rng.permutation(len(windows))[: epoch * batch].reshape(epoch, batch)
        for _ in range(-(-steps // epoch))
    ]
    order = np.concatenate(orders)[:steps]
    crops = draw_crops(rng, windows.shape[1], batch, steps)
    params = init(rng, *windows.shape[1:])
    return _train(jax.random.key(seed), params, jnp.asarray(windows, jnp.float32), order, crops)


@jax.jit
def _encode(params: Params, windows: Array) -> Array:
    whole = jnp.ones(windows.shape[:2])
    return apply(params, windows, whole, whole).max(axis=1)


def encode(params: Params, windows: np.ndarray) -> np.ndarray:
    """Returns one representation per window, ``(N, 320)``: the maximum over all steps."""
    size = min(ENCODE_CHUNK, len(windows))
    pad = -len(windows) % size
    rows = jnp.asarray(np.concatenate([windows, windows[:pad]]), jnp.float32)
    chunks = rows.reshape(-1, size, *rows.shape[1:])
    return np.concatenate([np.asarray(_encode(params, chunk)) for chunk in chunks])[: len(windows)]
