"""Generalisation: the distance to unseen windows, beside that of train."""

import numpy as np
import pytest
import scipy.stats

from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.generalisation import generalisation, jackknife, stretches
from tests.metrics.windows import waves

BLOCKS = np.repeat(np.arange(5), 40)


def measured(synthetic, train=None, blocks=BLOCKS):
    train = waves(200, seed=1) if train is None else train
    unseen = waves(200, seed=2)
    return generalisation(train, synthetic, unseen, blocks, limit=200, encoder_steps=10)


def test_windows_that_share_rows_are_of_one_block():
    starts = np.array([0, 1, 5, 12, 22, 29, 40])
    np.testing.assert_array_equal(stretches(starts, 10), [0, 0, 0, 0, 1, 1, 2])


def test_the_interval_of_a_mean_is_students():
    values = np.random.default_rng(0).normal(size=7)
    left_out = (values.sum() - values) / 6
    low, high = jackknife(left_out, values.mean())
    expected = scipy.stats.t.interval(0.95, 6, values.mean(), values.std(ddof=1) / np.sqrt(7))
    np.testing.assert_allclose(np.log([low, high]), expected)


def test_train_itself_is_as_good_as_train():
    for one in measured(waves(200, seed=1)):
        assert one.ratio == pytest.approx(1.0)
        assert one.interval == pytest.approx((1.0, 1.0))
        assert one.blocks == 5


def test_fresh_windows_of_the_process_are_level_and_others_are_worse():
    fresh = {one.name: one for one in measured(waves(200, seed=3))}
    worse = {one.name: one for one in measured(waves(200, seed=3) ** 2)}
    assert fresh.keys() == worse.keys()
    for name, one in fresh.items():
        low, high = one.interval
        assert low < one.ratio < high
        assert 1 / 3 < one.ratio < 3, name
    for name in ("Context-FID", "Wasserstein (values)", "Wasserstein (windows)"):
        assert worse[name].interval[0] > 1.5
        assert worse[name].ratio > 3 * fresh[name].ratio
        assert worse[name].ratio == pytest.approx(worse[name].synthetic / worse[name].train)


def test_more_blocks_than_ten_are_joined():
    found = measured(waves(200, seed=3), blocks=np.arange(200) // 8)
    assert {one.blocks for one in found} == {10}


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        (np.zeros(200), "1 block of unseen windows has no interval.*data.block"),
        (np.zeros(3), r"blocks have shape \(3,\); expected one per window: 200"),
    ],
)
def test_unseen_windows_without_blocks_are_refused(blocks, words):
    with pytest.raises(PacodiError, match=words):
        measured(waves(200, seed=3), blocks=blocks)


def test_train_cannot_be_unseen():
    with pytest.raises(PacodiError, match="train and unseen windows are the same"):
        measured(waves(200, seed=3), train=waves(200, seed=2))
