import itertools

import numpy as np
import pytest

from pacodi_jax import metrics
from pacodi_jax.metrics import gru, registry, ts2vec
from pacodi_jax.metrics.surrogates import phase_randomised
from tests.metrics.windows import SMALL, etth1, sines, waves


def test_recurrent_weights_are_those_that_pytorch_draws():
    params = gru.init(3, 2, 2)
    np.testing.assert_allclose(params["input"][0, 0], [-0.7011, -0.5578], atol=1e-4)
    biases = [-0.3382, 0.4316, -0.5100, -0.6342, -0.6129, -0.3480]
    np.testing.assert_allclose(params["state_bias"].ravel(), biases, atol=1e-4)
    np.testing.assert_allclose(params["readout"], [-0.1858, -0.7010], atol=1e-4)
    assert float(params["readout_bias"]) == pytest.approx(-0.3311, abs=1e-4)


def test_recurrent_cell_by_hand():
    params = gru.init(0, 1, 1)
    w, u, b, c = (
        np.asarray(params[k]).ravel() for k in ("input", "state", "input_bias", "state_bias")
    )
    x, h, seen = [0.3, -0.7], 0.0, []
    for value in x:
        r, z = (1 / (1 + np.exp(-(w[i] * value + b[i] + u[i] * h + c[i]))) for i in (0, 1))
        h = (1 - z) * np.tanh(w[2] * value + b[2] + r * (u[2] * h + c[2])) + z * h
        seen.append(h)
    found = gru.run(params, np.array(x, np.float32).reshape(2, 1, 1))
    np.testing.assert_allclose(found.ravel(), seen, atol=1e-6)


def test_discriminative_scores_know_black_from_white():
    black, white = waves(200) * 0.1, waves(200, seed=1) * 0.1 + 0.9
    assert metrics.discriminative_score(black, white, seed=0, steps=400) > 0.4
    assert metrics.strong_discriminative_score(black, white, seed=0, steps=50) > 0.45


def test_predictive_score_works_on_a_single_channel():
    windows = waves(200)[..., :1]
    untrained = metrics.predictive_score(windows, windows, seed=0, steps=1)
    assert metrics.predictive_score(windows, windows, seed=0, steps=1000) < 0.8 * untrained


@pytest.fixture(scope="module")
def panel():
    """Every score of the panel at a small budget, by name, with one encoder a seed."""
    trained = {seed: ts2vec.train(seed, waves(200), SMALL.encoder_steps) for seed in (0, 1)}
    entries = registry.paper_metrics(SMALL, trained.__getitem__) + registry.further_metrics(SMALL)
    return {metric.name: metric for metric in entries}


NAMES = [
    *("context_fid_v1", "discriminative_v1", "predictive_v1", "correlational_v1"),
    *("strong_discriminative_v1", "wasserstein_v1", "sliced_wasserstein_v1", "autocorrelation_v1"),
    *("power_spectrum_v1", "phase_coherence_v1", "density_v1", "coverage_v1"),
]


def test_every_score_of_the_panel_is_tested_here(panel):
    assert list(panel) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_score_repeats_by_seed_and_ignores_the_order_of_windows(panel, name):
    real, other = waves(200), waves(200, seed=1)
    once = panel[name].score(real, other, 0)
    assert panel[name].score(real, other, 0) == once
    shuffled = panel[name].score(real[::-1], np.roll(other, 7, 0), 0)
    assert shuffled == pytest.approx(once, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_score_does_not_improve_as_noise_is_added(panel, name):
    real, other = waves(200), waves(200, seed=1)
    noise = np.random.default_rng(5).standard_normal(other.shape).astype(np.float32)
    levels = (0.0, 0.05, 0.15, 0.4, 1.0)
    sign = -1 if panel[name].better == "higher" else 1
    means = [
        sign * np.mean([panel[name].score(real, other + level * noise, s) for s in (0, 1)])
        for level in levels
    ]
    slack = 0.03 * (max(means) - min(means))
    assert all(after >= before - slack for before, after in itertools.pairwise(means)), means
    assert means[-1] > means[0]


def _told_apart(real, other, fake):
    """Scores above the floor's by name: phase coherence and a short-trained transformer."""
    coherence = metrics.phase_coherence_distance
    strong = metrics.strong_discriminative_score
    return (
        coherence(real, fake, seed=0) / coherence(real, other, seed=0),
        strong(real, fake, seed=0, steps=100) - strong(real, other, seed=0, steps=100),
    )


@pytest.mark.parametrize("shared", [False, True])
def test_phase_randomised_sines_are_told_from_real_ones(shared):
    real, other = sines(1000, channels=7), sines(1000, channels=7, seed=1)
    ratio, gap = _told_apart(real, other, phase_randomised(real, seed=0, shared=shared))
    assert ratio > 5
    assert gap > 0.3


@pytest.mark.parametrize("shared", [False, True])
def test_phase_randomised_etth1_is_told_from_the_real_one(data_dir, shared):
    windows = etth1(data_dir, 2000)
    real, other = windows[:1000], windows[1000:]
    ratio, gap = _told_apart(real, other, phase_randomised(real, seed=0, shared=shared))
    assert ratio > 1.3
    assert gap > 0.1


def test_phase_randomised_windows_keep_their_power_and_lose_their_shape():
    windows = waves(100)
    surrogate = phase_randomised(windows, seed=0)
    before, after = (np.abs(np.fft.rfft(w, axis=1)) for w in (windows, surrogate))
    np.testing.assert_allclose(before, after, atol=1e-4)
    assert metrics.power_spectrum_distance(windows, surrogate, seed=0) < 0.01
    assert np.abs(windows - surrogate).mean() > 0.05
