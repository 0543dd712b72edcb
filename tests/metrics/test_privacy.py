"""Membership and copies: closed forms, a floor without memory and a ceiling of plain copies."""

import json

import numpy as np
import pytest

from pacodi_jax.metrics import copying
from pacodi_jax.metrics.attack import auc, gaussian
from pacodi_jax.metrics.audit import audit, nearer_than_any, places
from pacodi_jax.metrics.privacy import Attack, Privacy


def _series(steps, seed, phi=0.8, channels=2):
    """An AR(1) series, so that every part of it has one law."""
    rng = np.random.default_rng(seed)
    values = np.zeros((steps, channels))
    for step in range(1, steps):
        values[step] = phi * values[step - 1] + rng.standard_normal(channels)
    return values


def _windows(series, length=8):
    return np.lib.stride_tricks.sliding_window_view(series, length, axis=0).swapaxes(1, 2)


TRAIN, HELD = _windows(_series(900, 0)), _windows(_series(500, 1))


def _alarms(synthetic, held_out=HELD):
    return copying.alarms(*audit(TRAIN, synthetic, held_out))


def test_auc_of_two_normal_laws_and_its_interval():
    """P(X > Y) = Φ(d/√2) for unit variances d apart; its interval covers it 19 times in 20."""
    rng = np.random.default_rng(0)
    own = np.arange(200), np.arange(200)
    inside = 0
    for _ in range(300):
        _, (low, high) = auc(rng.standard_normal(200) + 1, rng.standard_normal(200), own)
        inside += low < 0.76025 < high
    assert 0.91 < inside / 300 < 0.985


def test_auc_by_hand_and_its_ends():
    blocks = np.arange(3), np.arange(2)
    assert auc(np.array([1.0, 2, 3]), np.array([2.0, 0]), blocks)[0] == 4.5 / 6
    assert auc(np.full(3, 1.0), np.zeros(2), blocks) == (1.0, (1.0, 1.0))
    assert auc(np.zeros(3), np.zeros(2), blocks)[0] == 0.5


def test_repeated_scores_of_a_block_count_once():
    """Ten copies of every score say no more: the interval is that of one each."""
    rng = np.random.default_rng(1)
    scores, blocks = rng.standard_normal((2, 50)), np.arange(50)
    once = auc(*scores, (blocks, blocks))
    often = auc(*scores.repeat(10, axis=1), (blocks.repeat(10), blocks.repeat(10)))
    np.testing.assert_allclose(often[1], once[1], atol=1e-12)


def test_the_surrogate_has_the_mean_and_the_covariance_of_train_and_no_window_of_it():
    made = gaussian(TRAIN, 40_000, seed=0).reshape(40_000, -1)
    flat = TRAIN.reshape(len(TRAIN), -1)
    np.testing.assert_allclose(made.mean(0), flat.mean(0), atol=0.05)
    np.testing.assert_allclose(np.cov(made.T), np.cov(flat.T), atol=0.12)


def test_share_nearer_than_any_held_out_window_is_one_in_n_plus_one_by_chance():
    rng = np.random.default_rng(0)
    shares = [nearer_than_any(rng.random(50), rng.random(9)) for _ in range(2000)]
    assert {chance for _, chance in shares} == {0.1}
    assert np.mean([share for share, _ in shares]) == pytest.approx(0.1, abs=0.01)
    assert nearer_than_any(np.zeros(4), np.ones(3))[0] == 1.0


def test_places_are_found_by_overlaps():
    assert places(TRAIN[:5]).tolist() == [0, 1, 2, 3, 4]
    assert places(TRAIN[[0, 3, 6, 400, 401]]).tolist() == [0, 3, 6, 14, 15]
    assert places(TRAIN[[40, 300, 10]]) is None


def test_a_memoryless_surrogate_and_other_real_windows_raise_no_alarm():
    assert _alarms(gaussian(TRAIN, 800, seed=5)) == []
    assert _alarms(_windows(_series(900, 7))) == []


@pytest.mark.parametrize("count", [20, 30, 100])
def test_surrogates_of_a_tiny_table_raise_no_alarm_and_copies_of_it_do(count):
    """Of 20 windows, the fewest that are judged, even a surrogate gives much away."""
    few, starts = TRAIN[:count], np.arange(count)
    for seed in range(12):
        made = gaussian(few, 200, seed=100 + seed)
        assert copying.alarms(*audit(few, made, HELD[:99], starts)) == [], seed
    assert copying.alarms(*audit(few, few[np.arange(200) % count] + 1e-3, HELD[:99], starts))


@pytest.mark.parametrize("noise", [0.0, 1e-3, 0.05])
def test_copies_raise_every_alarm(noise):
    rng = np.random.default_rng(0)
    copies = TRAIN[rng.permutation(len(TRAIN))] + noise * rng.standard_normal(TRAIN.shape)
    memorisation, privacy = audit(TRAIN, copies, HELD)
    (attack,) = privacy.attacks
    assert memorisation.ratio < 0.2
    assert attack.succeeds
    assert attack.auc > 0.95
    assert attack.auc == pytest.approx(attack.ceiling, abs=0.05)
    assert privacy.nearer > 0.5
    assert privacy.nearer_sure
    assert privacy.repeats == (noise == 0.0)


def test_a_tenth_of_copies_among_new_windows_is_found_and_named():
    new, rng = gaussian(TRAIN, 900, seed=2), np.random.default_rng(0)
    chosen = np.sort(rng.permutation(900)[:90])
    new[chosen] = TRAIN[chosen[::-1] % len(TRAIN)]
    memorisation, privacy = audit(TRAIN, new, HELD)
    assert memorisation.ratio > 0.5  # the median does not see them
    assert privacy.identical == pytest.approx(0.1)
    assert len(privacy.most) == 10
    for copy in privacy.most:
        assert copy.synthetic in chosen
        np.testing.assert_array_equal(new[copy.synthetic], TRAIN[copy.train])
    (head, _), calm = copying.sentences(memorisation, privacy)
    assert head.startswith("These windows copy the training data: 10 % of them equal")
    assert calm == []


def test_drift_alone_raises_no_alarm():
    """Held-out windows far from train are easily told from them; a surrogate does so too."""
    assert _alarms(gaussian(TRAIN, 800, seed=5), HELD + 8.0) == []


def test_an_attack_that_cannot_tell_a_plain_copy_says_so():
    attack = Attack("distance", 0.5, (0.48, 0.52), 0.53, 0.54, 800, 400)
    _, lines = copying.sentences(None, Privacy(20, 0.0, 0.0, (), attacks=(attack,)))
    assert "more synthetic windows are needed to tell even a plain copy" in lines[0]
    assert "50 of 100 pairs (48 to 52; 50 is chance)" in lines[0]


def test_an_audit_reads_back_as_it_was():
    for held_out in (HELD, None):
        _, privacy = audit(TRAIN, TRAIN[:50], held_out)
        record = json.loads(json.dumps(privacy.record()))
        assert Privacy.from_record(record) == privacy
