import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax import metrics
from pacodi_jax.metrics import draws, gru, memorisation, minibatches, registry, ts2vec
from pacodi_jax.metrics.score import summarise
from tests.metrics.windows import SMALL, etth1, phase_randomised, sines, waves


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


def test_recurrent_gradients_are_those_of_automatic_differentiation():
    params, rng = gru.init(1, 3, 2), np.random.default_rng(0)
    series = rng.random((5, 3, 6), np.float32)
    weights = rng.standard_normal((5, 2, 6)).astype(np.float32)

    def plain(params, series):
        driven = jnp.einsum("ghc,lcb->lghb", params["input"], series) + params["input_bias"]
        return gru._forward(params["state"], params["state_bias"], driven)[0]

    ours, theirs = (
        jax.grad(lambda p, x, run=run: (run(p, x) * weights).sum(), argnums=(0, 1))(params, series)
        for run in (gru.run, plain)
    )
    for found, expected in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(found, expected, atol=2e-6)


def test_scores_do_not_depend_on_what_windows_are_padded_with(monkeypatch):
    real, other = waves(200), waves(200, seed=1)
    scores = (metrics.discriminative_score, metrics.predictive_score)
    usual = [score(real, other, seed=0, steps=50) for score in scores]
    monkeypatch.setattr(minibatches, "PADDED", 160)
    monkeypatch.setattr(minibatches, "CHUNK", 7)
    assert [score(real, other, seed=0, steps=50) for score in scores] == pytest.approx(usual)


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

    def encode(seed, windows):
        return ts2vec.encode(trained[seed], windows)

    entries = registry.paper_metrics(SMALL, encode) + registry.further_metrics(SMALL)
    return {metric.name: metric for metric in entries}


LEVELS = (0.0, 0.05, 0.15, 0.4, 1.0)  # of noise
NAMES = [
    *("context_fid_v1", "discriminative_v1", "predictive_v1", "correlational_v1"),
    *("strong_discriminative_v1", "wasserstein_v1", "sliced_wasserstein_v1", "autocorrelation_v1"),
    *("own_mean_autocorrelation_v1", "window_ends_v1"),
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
    sign = -1 if panel[name].better == "higher" else 1
    means = [
        sign * np.mean([panel[name].score(real, other + level * noise, s) for s in (0, 1)])
        for level in LEVELS
    ]
    slack = 0.03 * (max(means) - min(means))
    assert all(after >= before - slack for before, after in itertools.pairwise(means)), means
    assert means[-1] > means[0]


def _recognised(real, shared):
    """What the panel says of a phase-randomised copy: coherence over the floor's, and the gap.

    Both scores must lie far outside the floor's interval: by more than the interval is wide.
    """
    further = registry.further_metrics(registry.Budget(strong_steps=100))
    scores = {metric.name: metric for metric in further}
    windows = draws.prepare(real, phase_randomised(real[:1000], seed=0, shared=shared))
    means = []
    for name in ("phase_coherence_v1", "strong_discriminative_v1"):
        found = {}
        for role in ("score", "floor"):
            pairs = [draws.pair(windows, scores[name], "train", role, s, 1000) for s in range(3)]
            values = [scores[name].score(*pair, seed) for seed, pair in enumerate(pairs)]
            found[role] = summarise(values)
        low, high = found["floor"].interval
        assert found["score"].interval[0] > high + (high - low), (name, found)
        means.append((found["score"].value, found["floor"].value))
    return means[0][0] / means[0][1], means[1][0] - means[1][1]


@pytest.mark.parametrize("shared", [False, True])
def test_phase_randomised_sines_are_recognised(shared):
    ratio, gap = _recognised(sines(2000, channels=7), shared)
    assert ratio > 5
    assert gap > 0.3


@pytest.mark.parametrize("shared", [False, True])
def test_phase_randomised_etth1_is_recognised(data_dir, shared):
    ratio, gap = _recognised(etth1(data_dir, 2000), shared)
    assert ratio > 1.3
    assert gap > 0.1


def test_distance_to_training_grows_with_noise_and_ignores_the_order_of_windows():
    windows = draws.prepare(waves(400), waves(200, seed=1), waves(200, seed=2))
    score = memorisation.metric(windows).score
    made, unseen = windows.synthetic, windows.held_out
    ratios = []
    for level in LEVELS:
        noises = [np.random.default_rng(seed).standard_normal(made.shape) for seed in (0, 1)]
        ratios.append(np.mean([score(unseen, made + level * noise, 0) for noise in noises]))
    assert all(after >= before for before, after in itertools.pairwise(ratios)), ratios
    assert ratios[-1] > 2 * ratios[0]
    assert score(unseen[::-1], np.roll(made, 7, 0), 1) == pytest.approx(ratios[0], rel=1e-6)


@pytest.mark.parametrize("name", ["mse", "wape", "crps", "best_of_n"])
def test_conditional_score_does_not_improve_as_noise_is_added(name):
    real = waves(100)

    def score(draws):
        if name == "crps":
            return metrics.crps(real, draws)
        if name == "best_of_n":
            return metrics.mse(real, metrics.best_of_n(real, draws))
        return getattr(metrics, name)(real, draws[0])

    def noise(seed):
        return np.random.default_rng(seed).standard_normal((6, *real.shape))

    means = [np.mean([score(real + level * noise(s)) for s in range(3)]) for level in LEVELS]
    assert means[0] == pytest.approx(0, abs=1e-12)
    assert all(after > before for before, after in itertools.pairwise(means)), means
    order = np.random.default_rng(0).permutation(len(real))
    given = real + noise(0)
    once, real = score(given), real[order]
    assert score(given[:, order]) == pytest.approx(once, rel=1e-9)


def test_phase_randomised_windows_keep_their_power_and_lose_their_shape():
    windows = waves(100)
    surrogate = phase_randomised(windows, seed=0)
    before, after = (np.abs(np.fft.rfft(w, axis=1)) for w in (windows, surrogate))
    np.testing.assert_allclose(before, after, atol=1e-4)
    assert metrics.power_spectrum_distance(windows, surrogate, seed=0) < 0.01
    assert np.abs(windows - surrogate).mean() > 0.05
