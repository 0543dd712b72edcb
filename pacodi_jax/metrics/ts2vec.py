"""TS2Vec, the encoder behind Context-FID: dilated convolutions trained by contrast of crops.

Two overlapping crops of a window, each half masked, must agree where they overlap: with the same
step of the same window against other steps (temporal contrast) and against other windows
(instance contrast), at every scale of a max-pooling pyramid. The weights that encode are the
plain average over training. After Yue et al., "TS2Vec: Towards Universal Representation of Time
Series", AAAI 2022, with the settings of its release.

Crops vary in length, programs must not. A crop here keeps its place in a buffer of the window's
length and everything outside it is set to zero before each convolution, which is what zero
padding at the crop's ends does: the numbers are those of the cropped window, compiled once.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

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
#: Numbers in the training windows up to which the release trains for the shorter time.
SMALL = 100_000


class Crop(NamedTuple):
    """Two crops, [outer_left, right) and [left, outer_right); both show [left, right)."""

    outer_left: Array
    left: Array
    right: Array
    outer_right: Array
    offset: Array


def default_steps(windows: np.ndarray) -> int:
    """Returns the release's number of training steps for windows ``(N, L, C)``: 200 or 600."""
    return 200 if windows.size <= SMALL else 600


def _uniform(key: Key, shape: tuple[int, ...], fan_in: int) -> Array:
    bound = fan_in**-0.5
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


def _init_affine(key: Key, taps: int, inputs: int, outputs: int, fan_in: int) -> Params:
    weight_key, bias_key = jax.random.split(key)
    weight = _uniform(weight_key, (taps, inputs, outputs), fan_in)
    return {"weight": weight, "bias": _uniform(bias_key, (outputs,), fan_in)}


def init(key: Key, length: int, channels: int) -> Params:
    """Returns fresh weights, uniform on ±1/√fan_in, for windows ``(length, channels)``.

    A convolution whose dilation reaches past the window only ever meets its centre tap; the outer
    taps would multiply zeros and are left out.
    """
    input_key, *block_keys = jax.random.split(key, DEPTH + 2)
    blocks = []
    for i, block_key in enumerate(block_keys):
        first, second, project = jax.random.split(block_key, 3)
        taps = KERNEL if 2**i < length else 1
        width = DIMENSIONS if i == DEPTH else HIDDEN
        block = {
            "first": _init_affine(first, taps, HIDDEN, width, KERNEL * HIDDEN),
            "second": _init_affine(second, taps, width, width, KERNEL * width),
        }
        if i == DEPTH:
            block["project"] = _init_affine(project, 1, HIDDEN, width, HIDDEN)
        blocks.append(block)
    return {"input": _init_affine(input_key, 1, channels, HIDDEN, channels), "blocks": blocks}


def shapes(length: int, channels: int) -> Params:
    """Returns the shapes of the weights for windows ``(length, channels)``."""
    return jax.eval_shape(lambda key: init(key, length, channels), jax.random.key(0))


def _convolve(affine: Params, x: Array, dilation: int) -> Array:
    """Same-length dilated convolution of ``x (B, L, F)`` as one matrix product per tap."""
    weight = affine["weight"]
    if len(weight) == 1:
        return x @ weight[0] + affine["bias"]
    before = jnp.pad(x, ((0, 0), (dilation, 0), (0, 0)))[:, :-dilation]
    after = jnp.pad(x, ((0, 0), (0, dilation), (0, 0)))[:, dilation:]
    taps = jnp.concatenate([before, x, after], axis=-1)
    return taps @ weight.reshape(-1, weight.shape[-1]) + affine["bias"]


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
    x = _convolve(params["input"], windows, 1) * keep[..., None]
    for i, block in enumerate(params["blocks"]):
        y = _convolve(block["first"], jax.nn.gelu(x, approximate=False) * inside[..., None], 2**i)
        y = _convolve(block["second"], jax.nn.gelu(y, approximate=False) * inside[..., None], 2**i)
        x = y + (_convolve(block["project"], x, 1) if "project" in block else x)
    return x


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
      first: ``(B, T, F)``, what both views show at its start.
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


def draw_crop(key: Key, length: int, batch: int) -> Crop:
    """Draws the two crops of a step; ``offset (batch,)`` shifts each window under them."""
    size_key, left_key, outer_left_key, outer_right_key, offset_key = jax.random.split(key, 5)
    size = jax.random.randint(size_key, (), 2, length + 1)
    left = jax.random.randint(left_key, (), 0, length - size + 1)
    outer_left = jax.random.randint(outer_left_key, (), 0, left + 1)
    outer_right = jax.random.randint(outer_right_key, (), left + size, length + 1)
    offset = jax.random.randint(offset_key, (batch,), -outer_left, length - outer_right + 1)
    return Crop(outer_left, left, left + size, outer_right, offset)


def _loss(params: Params, key: Key, windows: Array) -> Array:
    """The loss of one step on ``windows (B, L, C)``."""
    crop_key, keep_key, dropout_key = jax.random.split(key, 3)
    batch, length, _ = windows.shape
    crop = draw_crop(crop_key, length, batch)
    place = jnp.arange(length)
    rows = jnp.clip(place + crop.offset[:, None], 0, length - 1)
    shifted = jnp.take_along_axis(windows, rows[..., None], axis=1)
    inside = jnp.stack(
        [
            (place >= crop.outer_left) & (place < crop.right),
            (place >= crop.left) & (place < crop.outer_right),
        ]
    ).astype(windows.dtype)
    keep = jax.random.bernoulli(keep_key, 0.5, (2 * batch, length))
    views = apply(params, jnp.tile(shifted, (2, 1, 1)), keep, jnp.repeat(inside, batch, axis=0))
    views *= jax.random.bernoulli(dropout_key, 1 - DROPOUT, views.shape) / (1 - DROPOUT)
    views = views[:, jnp.minimum(place + crop.left, length - 1)]
    return hierarchical_loss(views[:batch], views[batch:], crop.right - crop.left)


@jax.jit
def _train(key: Key, windows: Array, order: Array) -> Params:
    """Trains on the rows named by ``order (steps, batch)``; returns the averaged weights."""
    init_key, step_key = jax.random.split(key)
    params = init(init_key, *windows.shape[1:])
    optimiser = optax.adamw(LEARNING_RATE, weight_decay=WEIGHT_DECAY)

    def step(carry: tuple, inputs: tuple) -> tuple:
        params, moments, average = carry
        number, rows = inputs
        key = jax.random.fold_in(step_key, number)
        grads = jax.grad(_loss)(params, key, windows[rows])
        updates, moments = optimiser.update(grads, moments, params)
        params = optax.apply_updates(params, updates)
        average = optax.incremental_update(params, average, 1.0 / (number + 2.0))
        return (params, moments, average), None

    carry = (params, optimiser.init(params), params)
    (_, _, average), _ = jax.lax.scan(step, carry, (jnp.arange(len(order)), order))
    return average


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
    return _train(jax.random.key(seed), jnp.asarray(windows, jnp.float32), jnp.asarray(order))


@jax.jit
def _encode(params: Params, windows: Array) -> Array:
    whole = jnp.ones(windows.shape[:2])
    return apply(params, windows, whole, whole).max(axis=1)


def encode(params: Params, windows: np.ndarray) -> np.ndarray:
    """Returns one representation a window, ``(N, 320)``: the maximum over all steps."""
    size = min(ENCODE_CHUNK, len(windows))
    pad = -len(windows) % size
    rows = jnp.asarray(np.concatenate([windows, windows[:pad]]), jnp.float32)
    chunks = rows.reshape(-1, size, *rows.shape[1:])
    return np.concatenate([np.asarray(_encode(params, chunk)) for chunk in chunks])[: len(windows)]
