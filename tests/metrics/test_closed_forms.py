import numpy as np
import pytest

from pacodi_jax import metrics
from pacodi_jax.metrics import neighbours
from pacodi_jax.metrics.audit import audit
from pacodi_jax.metrics.correlation import (
    autocorrelation,
    cross_correlation,
    own_mean_autocorrelation,
)
from pacodi_jax.metrics.spectra import phase_coherence
from tests.metrics.windows import waves


def _exact_gaussian(rng, mean, root, count=200):
    """Rows whose sample mean and covariance are exactly ``mean`` and ``root @ root.T``."""
    rows = rng.standard_normal((count, len(mean)))
    rows -= rows.mean(0)
    rows = rows @ np.linalg.inv(np.linalg.cholesky(np.cov(rows, rowvar=False))).T
    return mean + rows @ np.asarray(root).T


def test_frechet_distance_of_known_gaussians():
    rng = np.random.default_rng(0)
    first = _exact_gaussian(rng, np.array([1.0, 2.0, 0.0]), np.diag([1.0, 2.0, 3.0]))
    second = _exact_gaussian(rng, np.array([0.0, 2.0, 2.0]), np.diag([2.0, 2.0, 0.5]))
    # |Δμ|² + Σ(σ₁ − σ₂)², since the covariances commute.
    assert metrics.frechet_distance(first, second) == pytest.approx(5 + 1 + 0 + 6.25, rel=1e-9)


def test_frechet_distance_where_covariances_do_not_commute():
    rng = np.random.default_rng(1)
    first, second = np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([[2.0, 0.0], [-1.0, 0.5]])
    product = (first @ first.T) @ (second @ second.T)
    # For 2×2: tr√M = √(tr M + 2√det M).
    overlap = np.sqrt(np.trace(product) + 2 * np.sqrt(np.linalg.det(product)))
    expected = np.trace(first @ first.T) + np.trace(second @ second.T) - 2 * overlap
    rows = [_exact_gaussian(rng, np.zeros(2), root) for root in (first, second)]
    assert metrics.frechet_distance(*rows) == pytest.approx(expected, rel=1e-9)


def test_frechet_distance_of_singular_covariances_is_finite():
    rows = np.random.default_rng(0).standard_normal((50, 1)) @ np.ones((1, 4))
    assert metrics.frechet_distance(rows, rows) == pytest.approx(0.0, abs=1e-6)


def test_correlational_score_of_known_matrices():
    base = np.random.default_rng(0).standard_normal((500, 8, 1))
    same, opposite = np.concatenate([base, base], 2), np.concatenate([base, -base], 2)
    assert metrics.correlational_score(same, opposite, seed=0) == pytest.approx(0.2, rel=1e-3)
    assert metrics.correlational_score(same, same, seed=0) == pytest.approx(0.0, abs=1e-12)


def test_cross_correlation_is_numpys():
    windows = waves(50)
    expected = np.corrcoef(windows.reshape(-1, 4), rowvar=False)
    np.testing.assert_allclose(cross_correlation(windows), expected, atol=1e-9)


def test_autocorrelation_of_an_alternating_series():
    windows = np.tile(np.array([1.0, -1.0])[None, :, None], (10, 4, 1))
    np.testing.assert_allclose(autocorrelation(windows)[:, 0], (-1.0) ** np.arange(8), atol=1e-12)


def test_mse_and_wape_by_hand():
    real, synthetic = np.array([[[1.0], [-3.0]]]), np.array([[[2.0], [-1.0]]])
    assert metrics.mse(real, synthetic) == 2.5
    assert metrics.wape(real, synthetic) == 0.75


def test_crps_by_hand():
    real, draws = np.array([[[1.0]]]), np.array([0.0, 1.0, 4.0]).reshape(3, 1, 1, 1)
    # E|X − y| = 4/3; E|X − X'| = 2(1 + 4 + 3)/9.
    assert metrics.crps(real, draws) == pytest.approx(4 / 3 - 8 / 9)
    assert metrics.crps(real, draws[:1]) == 1.0


def test_best_of_n_picks_the_nearest_draw_of_each_window():
    real = np.zeros((2, 1, 1))
    draws = np.array([[1.0, 0.1], [0.5, 3.0]]).reshape(2, 2, 1, 1)
    np.testing.assert_array_equal(metrics.best_of_n(real, draws).ravel(), [0.5, 0.1])
    assert metrics.mse(real, metrics.best_of_n(real, draws)) == pytest.approx((0.25 + 0.01) / 2)


def test_wasserstein_of_a_shift_is_the_shift():
    windows = waves(60)
    assert metrics.wasserstein(windows, windows + 0.25, seed=0) == pytest.approx(0.25, rel=1e-5)
    assert metrics.wasserstein(windows, windows[:31] * 0 + 2, seed=0) > 1


def test_sliced_wasserstein_of_unequal_sizes_agrees_with_equal_ones():
    first, second = waves(400), waves(400, seed=1) + 0.1
    whole = metrics.sliced_wasserstein(first, second, seed=0)
    assert metrics.sliced_wasserstein(first, second[:399], seed=0) == pytest.approx(whole, rel=0.05)


def test_doubled_amplitude_is_six_decibels():
    windows = np.random.default_rng(0).standard_normal((200, 12, 3))
    distance = metrics.power_spectrum_distance(windows, 2 * windows, seed=0)
    assert distance == pytest.approx(20 * np.log10(2), rel=1e-6)


def test_independent_phases_have_no_coherence():
    across_bins, across_channels = phase_coherence(
        np.random.default_rng(0).standard_normal((20000, 9, 2))
    )
    np.testing.assert_allclose(across_bins, np.broadcast_to(np.eye(8) / 2, (2, 8, 8)), atol=0.02)
    np.testing.assert_allclose(
        across_channels, np.broadcast_to(np.eye(4) / 2, (4, 4, 4)), atol=0.02
    )


def test_copies_are_at_no_distance_and_unseen_windows_at_ratio_one():
    train, unseen, more = waves(300), waves(200, seed=1), waves(200, seed=2)
    copied = metrics.nearest_neighbour(train, train[:100], unseen)
    assert copied.ratio < 1e-4
    assert copied.copied == 1.0
    np.testing.assert_array_equal(copied.row, np.arange(100))
    assert metrics.nearest_neighbour(train, more, unseen).ratio == pytest.approx(1.0, abs=0.2)


def test_density_and_coverage_are_one_for_real_and_zero_far_away():
    real, other = waves(400), waves(400, seed=1)
    assert metrics.density(real, other, seed=0) == pytest.approx(1.0, abs=0.15)
    assert metrics.coverage(real, other, seed=0) > 0.9
    assert metrics.density(real, other + 9, seed=0) == 0.0
    assert metrics.coverage(real, np.repeat(other[:1], 50, 0), seed=0) < 0.1


def test_the_audit_separates_copies_from_new_windows_where_windows_overlap():
    rng = np.random.default_rng(0)
    series = np.cumsum(rng.normal(size=(700, 2)), axis=0)
    starts = np.arange(400)
    train = series[starts[:, None] + np.arange(16)]
    held_out = series[np.arange(450, 684)[:, None] + np.arange(16)]
    copied, _ = audit(train, train[::2] + 1e-6, held_out, starts)
    assert copied.ratio < 1e-3
    span = (train.max((0, 1)) - train.min((0, 1))) ** 2
    apart = [
        np.sqrt(((train[i] - train[np.abs(starts - i) >= 16]) ** 2 / span).mean((1, 2)).min())
        for i in range(400)
    ]
    assert copied.train_apart == pytest.approx(np.median(apart), rel=1e-5)
    assert copied.held_out > copied.train_apart


def test_autocorrelation_around_a_windows_own_mean():
    """White noise has −1/(L − 1) at every lag, and levels change nothing; pooled, they are all."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((20_000, 8, 1))
    levels = 3 * rng.standard_normal((20_000, 1, 1))
    np.testing.assert_allclose(own_mean_autocorrelation(noise)[1:], -1 / 7, atol=0.01)
    np.testing.assert_allclose(
        own_mean_autocorrelation(noise + levels), own_mean_autocorrelation(noise), atol=1e-9
    )
    np.testing.assert_allclose(autocorrelation(noise + levels)[1:], 0.9, atol=0.01)
    score = metrics.own_mean_autocorrelation_distance
    assert score(noise, noise + levels, seed=0) < 1e-9
    assert metrics.autocorrelation_distance(noise, noise + levels, seed=0) > 0.8


def test_a_jump_across_the_ring_that_is_too_small_is_seen():
    """Normal jumps of s times the deviation are |1 − s| √(2/π) apart; ends alone do not move."""
    rng = np.random.default_rng(1)
    count = 40_000
    level, half = rng.standard_normal((2, count))

    def windows(scale):
        ends = [level - scale * half / 2, 0 * level, 0 * level, level + scale * half / 2]
        return np.stack(ends, axis=1)[..., None]

    real = windows(1.0)
    for scale in (1.0, 0.5, 0.0):
        marginal = abs(np.sqrt(1 + scale**2 / 4) / np.sqrt(1.25) - 1)
        expected = (abs(1 - scale) + 2 * marginal) * np.sqrt(2 / np.pi) / 3
        found = metrics.window_ends_distance(real, windows(scale), seed=0)
        assert found == pytest.approx(expected, abs=0.01)


def test_windows_that_wrap_around_are_seen_by_their_ends():
    """A circular shift keeps every spectrum; the jump becomes an ordinary step."""
    rng = np.random.default_rng(2)
    walks = np.cumsum(rng.standard_normal((2000, 24, 2)), axis=1)
    turned = np.stack([np.roll(walk, rng.integers(24), 0) for walk in walks])
    floor = metrics.window_ends_distance(walks[:1000], walks[1000:], seed=0)
    assert metrics.window_ends_distance(walks, turned, seed=0) > 5 * floor


def test_nearest_neighbours_do_not_depend_on_the_blocks(monkeypatch):
    rng = np.random.default_rng(3)
    windows, others = rng.random((37, 3, 2)), rng.random((53, 3, 2))
    every = np.sqrt(((windows[:, None] - others[None]) ** 2).mean((2, 3)))
    monkeypatch.setattr(neighbours, "CHUNK", 10)
    monkeypatch.setattr(neighbours, "BLOCK", 7)
    for k in (1, 5):
        distance, row = neighbours.nearest(windows, others, k)
        np.testing.assert_array_equal(row, np.argsort(every, axis=1)[:, k - 1])
        np.testing.assert_allclose(distance, np.sort(every, axis=1)[:, k - 1], rtol=1e-4)
    spots = np.arange(37), np.arange(53)
    every[np.abs(spots[0][:, None] - spots[1]) < 4] = np.inf
    apart = neighbours.nearest(windows, others, places=spots, apart=4)[0]
    np.testing.assert_allclose(apart, every.min(1), rtol=1e-4)
