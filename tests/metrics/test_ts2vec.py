import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.metrics import ts2vec
from tests.metrics.windows import SMALL, waves


def _plain_loss(first, second):
    """The hierarchical loss of two views (B, T, F), level by level, with no masks."""

    def contrast(rows):
        similarity = rows @ rows.T
        half = len(rows) // 2
        lost = []
        for i in range(len(rows)):
            others = np.delete(similarity[i], i)
            lost.append(np.log(np.exp(others).sum()) - similarity[i, (i + half) % len(rows)])
        return np.mean(lost)

    total, levels = 0.0, 0
    while True:
        steps = first.shape[1]
        across = [contrast(np.concatenate([first[:, t], second[:, t]])) for t in range(steps)]
        total += 0.5 * np.mean(across)
        levels += 1
        if steps == 1:
            return total / levels
        along = [contrast(np.concatenate([a, b])) for a, b in zip(first, second, strict=True)]
        total += 0.5 * np.mean(along)
        even = steps // 2 * 2
        first, second = (np.maximum(v[:, 0:even:2], v[:, 1:even:2]) for v in (first, second))


@pytest.mark.parametrize("size", [2, 3, 6, 11])
def test_loss_on_a_buffer_is_the_loss_on_the_crop(size, x64):
    views = np.random.default_rng(size).standard_normal((2, 3, 11, 5))
    expected = _plain_loss(views[0, :, :size], views[1, :, :size])
    found = jax.jit(ts2vec.hierarchical_loss)(views[0], views[1], size)
    assert float(found) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("left", "right"), [(0, 9), (3, 5)])
def test_encoding_a_crop_in_its_buffer_is_encoding_the_crop(left, right):
    windows = jnp.asarray(waves(3, length=12))
    params = ts2vec.init(np.random.default_rng(0), 12, 4)
    inside = jnp.broadcast_to(jnp.arange(12), (3, 12))
    inside = ((inside >= left) & (inside < right)).astype(jnp.float32)
    encode = jax.jit(ts2vec.apply)
    buffered = encode(params, windows, jnp.ones((3, 12)), inside)[:, left:right]
    ones = jnp.ones((3, right - left))
    cropped = encode(params, windows[:, left:right], ones, ones)
    np.testing.assert_allclose(buffered, cropped, atol=2e-5)


def test_crops_overlap_and_stay_in_the_window():
    crops = ts2vec.draw_crops(np.random.default_rng(0), 7, 4, 500)
    assert (crops.outer_left <= crops.left).all()
    assert (crops.right <= crops.outer_right).all()
    assert set(np.unique(crops.right - crops.left)) == set(range(2, 8))
    assert (crops.offset + crops.outer_left[:, None] >= 0).all()
    assert (crops.offset + crops.outer_right[:, None] <= 7).all()


def test_steps_follow_the_size_of_the_data():
    assert ts2vec.default_steps(np.empty((100, 24, 7))) == 200
    assert ts2vec.default_steps(np.empty((3000, 24, 7))) == 600


def test_training_lowers_the_loss_and_repeats_by_seed():
    windows = waves(200)
    trained = ts2vec.train(0, windows, steps=SMALL.encoder_steps)
    again = ts2vec.train(0, windows, steps=SMALL.encoder_steps)
    jax.tree.map(np.testing.assert_array_equal, trained, again)
    fresh = ts2vec.init(np.random.default_rng(0), *windows.shape[1:])
    crops = ts2vec.draw_crops(np.random.default_rng(1), 16, 8, 20)
    loss = jax.jit(ts2vec._loss)
    means = []
    for params in (fresh, trained):
        each = [
            loss(params, jax.random.key(i), windows[8 * i : 8 * i + 8], ts2vec.Crops(*row))
            for i, row in enumerate(zip(*crops, strict=True))
        ]
        means.append(float(np.mean(each)))
    assert means[1] < 0.9 * means[0]


def test_encoding_does_not_depend_on_the_chunk():
    params = ts2vec.init(np.random.default_rng(0), 16, 4)
    windows = waves(ts2vec.ENCODE_CHUNK + 3)
    whole = ts2vec.encode(params, windows)
    assert whole.shape == (len(windows), ts2vec.DIMENSIONS)
    np.testing.assert_allclose(ts2vec.encode(params, windows[-5:]), whole[-5:], atol=1e-5)
