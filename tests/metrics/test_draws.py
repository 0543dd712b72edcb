"""Every seed of a score judges windows of its own, as long as there are enough."""

import numpy as np
import pytest

from pacodi_jax.metrics import draws


@pytest.mark.parametrize("size", [40, 100])
def test_seeds_judge_windows_of_their_own_while_they_last(size):
    synthetic = np.arange(5 * size)
    chosen = [draws.own(synthetic, seed, size) for seed in range(5)]
    np.testing.assert_array_equal(np.sort(np.concatenate(chosen)), synthetic)


def test_a_seed_has_windows_from_everywhere():
    """Windows come sorted, and a run of neighbours is no sample."""
    chosen = draws.own(np.arange(5000), 1, 1000)
    np.testing.assert_allclose(np.quantile(chosen, [0.1, 0.5, 0.9]), [500, 2500, 4500], atol=200)


def test_where_there_are_no_more_every_seed_judges_all_of_them():
    synthetic = np.arange(70)
    first, second = draws.own(synthetic, 0, 70), draws.own(synthetic, 1, 70)
    assert (first != second).any()
    for chosen in (first, second):
        np.testing.assert_array_equal(np.sort(chosen), synthetic)


@pytest.mark.parametrize("seed", [0, 3, 123_456])
def test_no_window_is_judged_twice_by_a_seed(seed):
    chosen = draws.own(np.arange(100), seed, 60)
    assert len(np.unique(chosen)) == 60


def test_halves_of_few_windows_differ_from_seed_to_seed():
    chosen = {tuple(np.sort(draws.own(np.arange(100), seed, 50))) for seed in range(6)}
    assert len(chosen) == 6
