"""The scores of ConTSG-Bench against closed forms."""

import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics import conditional, contsg

RANDOM = np.random.default_rng(0)
WINDOWS = RANDOM.normal(size=(40, 12, 2))


@pytest.mark.parametrize(
    "score", [contsg.acd, contsg.sd, contsg.kd, contsg.mdd, contsg.dtw, contsg.ed]
)
def test_a_copy_is_at_distance_0(score):
    assert score(WINDOWS, WINDOWS) == pytest.approx(0, abs=1e-9)


def test_acd_of_an_alternation_against_a_slow_square_wave():
    """ρ of ±1 by turns at lag k is (−1)^k (L − k)/L; of two equal halves of ∓1 it is (L − 3k)/L."""
    length = 8
    fast = np.tile([1.0, -1.0], length // 2)[None, :, None]
    slow = np.repeat([-1.0, 1.0], length // 2)[None, :, None]
    lags = np.arange(length)
    first = (-1.0) ** lags * (length - lags) / length
    centred = slow[0, :, 0]
    second = [(centred[: length - k] * centred[k:]).sum() / length for k in lags]
    assert second[:4] == [(length - 3 * k) / length for k in range(4)]
    assert contsg.acd(fast, slow) == pytest.approx(np.abs(first - second).mean(), abs=1e-6)


def test_flat_windows_have_no_autocorrelation_and_do_not_count():
    flat = np.concatenate([WINDOWS, np.zeros_like(WINDOWS)])
    assert contsg.acd(WINDOWS, flat) == pytest.approx(0, abs=1e-9)


def test_skewness_and_kurtosis_of_two_values():
    """A share p of ones: skewness (1 − 2p)/√(pq), kurtosis 1/(pq) − 3."""
    share = 0.2
    rare = (np.arange(1000) % 5 == 0).astype(float).reshape(100, 10, 1)
    fair = (np.arange(1000) % 2 == 0).astype(float).reshape(100, 10, 1)
    spread = share * (1 - share)
    assert contsg.sd(fair, rare) == pytest.approx((1 - 2 * share) / spread**0.5, rel=1e-5)
    assert contsg.kd(fair, rare) == pytest.approx(1 / spread - 3 - 1, rel=1e-5)


def test_mdd_of_distributions_that_do_not_meet_is_two_of_32_bins():
    low = np.zeros((50, 3, 1))
    high = np.ones((50, 3, 1))
    both = np.concatenate([low, high])
    assert contsg.mdd(both, low) == pytest.approx(2 * 0.5 / 32)
    assert contsg.mdd(low, high) == pytest.approx(2 / 32)  # beyond the edges: the outermost bin


def test_distances_of_known_pairs():
    pulse, later = np.zeros((2, 1, 10, 1))
    pulse[0, 3], later[0, 6] = 2.0, 2.0
    assert contsg.ed(pulse, later) == pytest.approx(8**0.5)
    assert contsg.dtw(pulse, later) == pytest.approx(0)
    assert contsg.dtw(pulse, pulse + 1) <= contsg.ed(pulse, pulse + 1)
    ramp, top = np.array([[[0.0], [1.0]]]), np.array([[[2.0], [2.0]]])
    assert contsg.dtw(ramp, top) == pytest.approx(5**0.5)


def test_precision_and_recall_of_a_part_and_of_what_lies_apart():
    real = np.concatenate([RANDOM.normal(size=(60, 3)), 50 + RANDOM.normal(size=(60, 3))])
    assert contsg.precision_recall(real, real)[:3] == (1, 1, 1)
    assert contsg.precision_recall(real, real + 1e4)[:3] == (0, 0, 0)
    part = contsg.precision_recall(real, real[:60])
    assert part.precision == 1
    assert part.recall == pytest.approx(0.5)
    assert part.f1 == pytest.approx(2 / 3)


def test_joint_precision_sees_what_the_series_alone_hide():
    series, text = RANDOM.normal(size=(2, 200, 4))
    series[:, 0] = 10 * text[:, 0]
    assert contsg.joint_precision_recall(series, series, text).precision == 1
    swapped = series[RANDOM.permutation(len(series))]
    assert contsg.precision_recall(series, swapped).precision == 1
    assert contsg.joint_precision_recall(series, swapped, text).precision < 0.9


def test_jftsd_of_a_shift_is_its_square_and_texts_tell():
    series, text = RANDOM.normal(size=(2, 100, 3))
    assert contsg.jftsd(series, series + 2, text, text) == pytest.approx(12, rel=1e-6)
    tied = contsg.jftsd(text, text, text, text)
    loose = contsg.jftsd(text, text[::-1], text, text)
    assert tied == pytest.approx(0, abs=1e-6)
    assert loose > 0.5


def test_the_fair_crps_does_not_depend_on_the_number_of_draws():
    truth = np.zeros((1, 2000, 1))
    draws = RANDOM.normal(size=(8, 1, 2000, 1))
    expected = (2 / np.pi) ** 0.5 - 1 / np.pi**0.5  # E|X| − ½E|X − X'| of a standard normal
    assert contsg.crps(truth, draws) == pytest.approx(expected, abs=0.02)
    assert contsg.crps(truth, draws[:2]) == pytest.approx(expected, abs=0.03)
    assert conditional.crps(truth, draws[:2]) > expected + 0.2
    with pytest.raises(PacodiError, match="2 or more"):
        contsg.crps(truth, draws[:1])


def test_what_does_not_match_is_refused():
    with pytest.raises(PacodiError, match="expected \\(N, L, C\\)"):
        contsg.acd(WINDOWS, WINDOWS[:, :-1])
    with pytest.raises(PacodiError, match="one for each"):
        contsg.dtw(WINDOWS, WINDOWS[:-1])
    with pytest.raises(PacodiError, match="more than 5 points"):
        contsg.precision_recall(np.zeros((5, 2)), np.zeros((9, 2)))
