"""The figures of whole series, against series of which they are known."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def bench(benchmark):
    return benchmark("bench_series")


def test_seams_are_one_for_a_random_walk_and_more_where_windows_jump(bench):
    walk = np.cumsum(np.random.default_rng(0).normal(size=(400, 96, 2)), axis=1)
    for found in bench.seams(walk, 8, 16).values():
        assert found == pytest.approx(1, abs=0.03)
    walk[:, 16::8] += 3
    assert min(bench.seams(walk, 8, 16).values()) > 1.5


def test_seams_of_another_shape_and_the_same_energy_differ_in_the_mean_alone(bench):
    """Steps of a heavy-tailed walk of unit variance, but normal ones where windows meet."""
    rng = np.random.default_rng(0)
    steps = rng.laplace(scale=0.5**0.5, size=(4000, 96, 1))
    steps[:, 16::8] = rng.normal(size=steps[:, 16::8].shape)
    found = bench.seams(np.cumsum(steps, axis=1), 8, 16)
    assert found["mean"] == pytest.approx((4 / np.pi) ** 0.5, abs=0.02)  # √(2/π) over √½
    assert found["rms"] == pytest.approx(1, abs=0.02)


def test_autocorrelation_is_that_of_an_ar1_process(bench):
    rng, series = np.random.default_rng(0), np.zeros((50, 4000, 1))
    for t in range(1, 4000):
        series[:, t] = 0.9 * series[:, t - 1] + rng.normal(size=(50, 1))
    for lag in (1, 5):
        assert bench.autocorrelation(series, lag)[0] == pytest.approx(0.9**lag, abs=0.02)


def test_profiles_find_the_mean_day_and_week(bench):
    stamps = pd.date_range("2024-01-03 05:00", periods=24 * 70, freq="h")
    day = np.sin(2 * np.pi * stamps.hour / 24)
    week = np.where(stamps.day_of_week >= 5, 1.0, 0.0)
    series = np.asarray(day + week)[None, :, None]
    found = bench.profile(series, stamps, "day")
    np.testing.assert_allclose(
        found[:, 0] - found.mean(), np.sin(np.pi * np.arange(24) / 12), atol=1e-9
    )
    weekly = bench.profile(series, stamps, "week")[:, 0].reshape(7, 24).mean(axis=1)
    np.testing.assert_allclose(weekly, [0, 0, 0, 0, 0, 1, 1], atol=1e-9)
    assert bench.alike(found, found) == pytest.approx([1.0])
