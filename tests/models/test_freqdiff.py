"""FreqDiff: the size, state, noise and loss of its release, its sampler, and that it learns."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax import models
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.freqdiff import process
from pacodi_jax.models.freqdiff.generator import FreqDiff, prepare
from pacodi_jax.models.freqdiff.network import Network, dropout, within
from pacodi_jax.models.freqdiff.settings import FreqDiffSettings
from pacodi_jax.models.freqdiff.settings import Network as Size
from pacodi_jax.settings import Config
from tests.models.learning import distances, learned

FULL = FreqDiffSettings().model


@pytest.mark.parametrize(("length", "count"), [(24, 3_191_511), (256, 3_208_215)])
def test_the_parameters_are_those_of_the_release(length, count):
    network = Network(7, FULL.width, FULL.depth, FULL.heads, FULL.hidden, FULL.dropout)
    shapes = jax.eval_shape(
        network.init, jax.random.key(0), jnp.zeros((1, length, 7)), jnp.zeros(1), jnp.zeros(36)
    )
    assert sum(leaf.size for leaf in jax.tree.leaves(shapes)) == count


@pytest.mark.parametrize("length", [8, 9, 24])
def test_a_window_is_as_many_live_coefficients_and_comes_back(length):
    window = jax.random.normal(jax.random.key(0), (length, 3))
    slots = process.to_slots(window)
    assert slots.shape == window.shape
    np.testing.assert_allclose(process.from_slots(slots), window, atol=1e-6)
    spectrum = np.fft.rfft(np.asarray(window), axis=0, norm="ortho")
    np.testing.assert_allclose(slots[: length // 2 + 1], spectrum.real, atol=1e-5)
    np.testing.assert_allclose(slots[length // 2 + 1], spectrum.imag[1], atol=1e-5)


@pytest.mark.parametrize(("length", "whole"), [(8, {0, 4}), (9, {0})])
def test_the_noise_is_that_of_white_noise_in_time(length, whole):
    scale = process.noise_scale(length)[:, 0]
    for index, value in enumerate(scale):
        assert value == pytest.approx(1.0 if index in whole else 0.5**0.5)
    white = np.random.default_rng(0).normal(size=(4000, length, 1)).astype(np.float32)
    np.testing.assert_allclose(jax.vmap(process.to_slots)(white).std(0)[:, 0], scale, rtol=0.05)


def test_the_loss_is_weighted_by_the_trace_of_the_precision():
    alpha, deviation = process.marginal(jnp.float32(0.3), 6)
    assert float(alpha**2 + deviation[0, 0] ** 2) == pytest.approx(1, abs=1e-6)
    score, noise = np.random.default_rng(0).normal(size=(2, 6, 2))
    precision = np.diag(1 / np.asarray(deviation[:, 0], np.float64) ** 2)
    wanted = np.mean((score + np.sqrt(precision) @ noise) ** 2) / np.trace(precision)
    assert float(process.loss(score, noise, deviation)) == pytest.approx(wanted, rel=1e-5)
    assert float(process.loss(-noise / deviation, noise, deviation)) == pytest.approx(0, abs=1e-9)


def test_the_sampler_draws_a_gaussian_from_its_score():
    variance = np.linspace(0.2, 2, 6)[:, None].astype(np.float32)

    def score(x, t):
        alpha, deviation = process.marginal(t, 6)
        return -x / (alpha**2 * variance + deviation**2)

    keys = jax.random.split(jax.random.key(0), 3000)
    drawn = jax.jit(jax.vmap(lambda key: process.draw(score, key, (6, 1), 1000)))(keys)
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.15)


@functools.cache
def _generator() -> tuple[FreqDiff, dict, np.ndarray]:
    settings = FreqDiffSettings(Size(width=8, depth=2, heads=2, hidden=16, dropout=0.5))
    windows = np.random.default_rng(0).normal(size=(40, 8, 2)).astype(np.float32)
    windows = 5 + windows.cumsum(1)
    arrays = prepare(settings, windows, None)
    generator = FreqDiff(settings, models.Shape(8, 2), arrays, None)
    return generator, jax.jit(generator.first_params)(jax.random.key(0)), windows


def test_every_coefficient_of_train_is_standardised():
    generator, _, windows = _generator()
    slots = jax.vmap(generator.whitened)(windows)
    np.testing.assert_allclose(slots.mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(slots.std(0), 1, atol=1e-4)
    np.testing.assert_allclose(jax.vmap(generator.window)(slots), windows, atol=1e-4)


def test_a_constant_coefficient_is_left_alone():
    windows = np.zeros((10, 8, 1), np.float32)
    arrays = prepare(FreqDiffSettings(), windows, None)
    np.testing.assert_array_equal(arrays["deviation"], 1)


def test_the_loss_of_an_example_depends_on_its_slot_and_not_on_the_batch():
    generator, params, windows = _generator()
    keys = jax.random.split(jax.random.key(3), 6)
    batch = models.Batch(jnp.asarray(windows[:6]), jnp.arange(6))
    few = models.Batch(batch.windows[2:4], batch.slot[2:4])
    losses = jax.jit(generator.losses, static_argnames="learns")
    whole = losses(params, keys, batch, learns=True)
    part = losses(params, keys[2:4], few, learns=True)
    np.testing.assert_allclose(part, whole[2:4], rtol=1e-4)
    calm = losses(params, keys, batch, learns=False)
    assert np.abs(np.asarray(calm - whole)).max() > 1e-4


def test_dropout_meets_its_rate_and_keeps_the_mean():
    keys = jax.random.split(jax.random.key(0), 4)
    x = jnp.ones((4, 100, 99))
    found = np.asarray(dropout(keys, 1, 0.1, x))
    assert (found == 0).mean() == pytest.approx(0.1, abs=0.005)
    assert found.mean() == pytest.approx(1, abs=0.01)
    assert (found[0] != found[1]).any()
    assert (found != np.asarray(dropout(keys, 2, 0.1, x))).any()
    np.testing.assert_array_equal(dropout(None, 1, 0.1, x), x)


def test_all_layers_start_alike_and_positions_stay_within_their_ball():
    _, params, _ = _generator()
    for leaf in jax.tree.leaves(params["layers"]):
        np.testing.assert_array_equal(leaf[0], leaf[1])
    table = jnp.array([[3.0, 4.0], [0.3, 0.4]])
    np.testing.assert_allclose(within(table, 1.0), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_conditions_and_impossible_settings_are_refused_by_name():
    for name, value, message in (
        ("data.static", ("a",), "model.name='freqdiff' cannot be conditioned"),
        ("model.heads", 5, "model.heads=5 must divide model.width=72"),
        ("model.dropout", 1.0, "0 <= dropout < 1"),
        ("sample.steps", 1, "sample.steps=1"),
    ):
        with pytest.raises(PacodiError, match=message):
            Config.default("freqdiff").changed({name: value})


def test_it_learns(tmp_path):
    """Validation falls; samples are at most half as far as shuffled windows."""
    config = Config.default("freqdiff", "tiny").changed(
        {
            "model.width": 32,
            "model.heads": 4,
            "model.hidden": 128,
            "model.depth": 2,
            "model.dropout": 0.0,
            "train.steps": 1000,
            "train.learning_rate": 3e-3,
            "train.validate_every": 30,
            "sample.steps": 500,
        }
    )
    outcome, scores = learned(config, tmp_path)
    assert scores[-1] < 0.8 * scores[0]
    made, surrogate = distances(outcome)
    assert made < 0.5 * surrogate
