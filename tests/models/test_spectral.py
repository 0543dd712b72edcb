"""One generator class, many models: what must hold for all of them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pacodi_jax import models
from pacodi_jax.core import spectrum, wiener
from pacodi_jax.core.solvers import SOLVERS
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.fitted import Fitted, fit
from pacodi_jax.types import Prediction
from tests.models import small

COMBINATIONS = [
    ("pacodi", {"statistics": "generated"}),
    ("pacodi", {"statistics": "oracle", "weighting": "elbo", "loss": "noise"}),
    ("pacodi", {"variant": "ddpm", "schedule": "ddpm_linear", "ddpm_steps": 50}),
    ("pacodi", {"variant": "ddpm", "schedule": "cosine", "weighting": "elbo", "loss": "noise"}),
    ("temporal", {"parameterisation": "noise", "loss": "noise", "times": "log_snr"}),
    ("monolithic", {"stratified": False, "times": "uniform"}),
    ("pacodi", {"statistics": "generated", "weighting": "angle"}),
    ("temporal", {"weighting": "angle", "loss": "noise"}),
]


@pytest.mark.parametrize(("name", "settings"), COMBINATIONS)
def test_every_model_has_a_finite_loss_and_gradient(name, settings):
    model = small.build(name, **settings)
    loss, gradient = jax.jit(jax.value_and_grad(model.loss))(
        small.params(name), jax.random.key(1), small.batch()
    )
    assert np.isfinite(loss)
    norms = [float(jnp.abs(g).max()) for g in jax.tree.leaves(gradient)]
    assert np.isfinite(norms).all()
    assert max(norms) > 0


@pytest.mark.parametrize("statistics", ["none", "generated", "oracle"])
@pytest.mark.parametrize("loss", ["velocity", "noise"])
def test_the_diagonal_gaussian_loses_one_a_slot_by_velocity_and_less_by_noise(statistics, loss):
    # A silent network's error is the target's variance: 1 for each slot of the training windows;
    # by noise each slot counts cos²θ of it.
    model = small.silent(small.build(statistics=statistics, loss=loss))
    value = jax.jit(model.loss)({}, jax.random.key(1), small.batch(64))
    assert (0.8 < float(value) < 1.2) if loss == "velocity" else (0 < float(value) < 0.8)


@pytest.mark.parametrize("statistics", ["none", "generated"])
def test_angle_weights_count_each_slot_by_its_clock(statistics):
    """A guess that is wrong by 1 in one slot alone costs that slot's pace over all live slots."""
    model = small.build(statistics=statistics, weighting="angle")
    clean = jax.vmap(model.coding.encode)(small.batch().windows)
    clean, t = jax.tree.map(lambda x: x[0], clean), jnp.asarray(0.3)
    coordinates = (model.process.schedule.alpha(t), model.process.schedule.sigma(t))
    moments, law = model.process.moments, model.coding.variance
    theta = wiener.angle(*coordinates, moments, law)
    zeros = jax.tree.map(jnp.zeros_like, clean)
    truth = Prediction(zeros, clean)
    right = wiener.velocity(truth, theta, moments, law)
    wrong = right._replace(real=right.real.at[2, 1].add(1.0))
    slots = sum(float(x.sum()) for x in spectrum.live(law)) * clean.real.shape[1]
    costs = [float(model.process.loss(x, zeros, truth, t)) for x in (right, wrong)]
    assert costs[0] == pytest.approx(0, abs=1e-9)
    pace = float(wiener.pace(theta, law).real[2, 1])
    assert costs[1] == pytest.approx(pace / slots, rel=1e-4)
    assert abs(pace - 1) > 0.01


def test_a_silent_noise_network_loses_one_a_slot():
    model = small.silent(small.build(parameterisation="noise", loss="noise"))
    value = jax.jit(model.loss)({}, jax.random.key(1), small.batch(64))
    assert 0.8 < float(value) < 1.2


def _dropped(batch: models.Batch) -> np.ndarray:
    """Which conditions four steps drop, as the network is told, ``(4, B)``."""
    silent = small.silent(small.build())

    @jax.jit
    def mask(key: jax.Array) -> jax.Array:
        seen = []

        def spy(params, state, t, condition, drop):
            seen.append(drop)
            return silent.view.apply(params, state)

        view = silent.view._replace(apply=spy)
        learning = dataclasses.replace(silent.learning, condition_dropout=0.3)
        model = dataclasses.replace(silent, view=view, learning=learning)
        model.loss({}, key, batch)
        return seen[0]

    return np.stack([mask(jax.random.key(seed)) for seed in range(4)])


def test_conditions_are_dropped_example_by_example_and_not_by_the_batch():
    masks = _dropped(small.batch(64)._replace(condition=jnp.ones((64, 3))))
    assert masks.shape == (4, 64)
    assert abs(masks.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / masks.size)
    assert not any(np.unique(row).size == 1 for row in masks)


def test_oversampled_examples_keep_their_condition_and_leave_the_others_as_they_were():
    batch = small.batch(64)._replace(condition=jnp.ones((64, 3)))
    oversampled = jnp.arange(64) % 3 == 0
    expected = _dropped(batch) & ~np.asarray(oversampled)
    assert expected.any()
    np.testing.assert_array_equal(_dropped(batch._replace(oversampled=oversampled)), expected)


def test_an_untrained_network_is_silent():
    model = small.build()
    spectra = jax.vmap(model.coding.encode)(small.windows(3))
    untrained = jax.jit(model.view.init)(jax.random.key(0), spectra)
    output = jax.jit(model.view.apply)(untrained, spectra, jnp.linspace(0.1, 0.9, 3), None, None)
    for part in output:
        np.testing.assert_array_equal(part, 0)


def test_a_silent_wiener_network_draws_the_diagonal_gaussian():
    model = small.silent(small.build(block=4000))
    samples = model.sample(jax.random.key(2), {}, 4000)
    spectra = jax.vmap(model.coding.encode)(samples)
    moments = model.process.moments
    for part in ("real", "imag"):
        live = np.asarray(getattr(model.coding.variance, part))[:, 0] > 0
        mean, variance = getattr(moments.mean, part)[live], getattr(moments.variance, part)[live]
        drawn = getattr(spectra, part)[:, live]
        error = np.sqrt(np.asarray(variance) / 4000)
        np.testing.assert_array_less(np.abs(drawn.mean(0) - mean), 5 * error)
        np.testing.assert_allclose(drawn.var(0) / variance, 1, atol=5 * np.sqrt(2 / 4000))


@pytest.mark.parametrize(("name", "solver"), [("pacodi", "wiener_ab2"), ("temporal", "ancestral")])
def test_sample_i_does_not_depend_on_the_block_it_is_drawn_in(name, solver):
    drawn = [
        small.build(name, block=block, solver=solver).sample(
            jax.random.key(5), small.params(name), 7
        )
        for block in (3, 7)
    ]
    assert np.isfinite(drawn[0]).all()
    np.testing.assert_allclose(drawn[0], drawn[1], atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_solver_samples_either_variant(solver):
    for settings in ({}, {"variant": "ddpm", "ddpm_steps": 20}):
        model = small.silent(small.build(solver=solver, **settings))
        assert np.isfinite(model.sample(jax.random.key(0), {}, 2)).all()


def test_the_loss_of_a_batch_is_the_mean_over_its_parts_in_their_slots():
    model = small.build()
    loss = jax.jit(model.loss)
    key = jax.random.key(3)
    whole = loss(small.params(), key, small.batch(16))
    halves = [loss(small.params(), key, small.batch(8, first)) for first in (0, 8)]
    np.testing.assert_allclose(whole, np.mean(halves), rtol=1e-5)


def test_a_step_that_is_not_finite_is_skipped_and_counted():
    model = small.build()
    update = jax.jit(model.update)
    first = small.state(model, small.params())
    good, _ = update(first, small.batch())
    # At step 0 the average's decay is 1/10: it moves nine tenths of the way.
    for start, last, average in zip(
        *(jax.tree.leaves(tree) for tree in (first.params, good.params, good.ema)), strict=True
    ):
        np.testing.assert_allclose(average, start + 0.9 * (last - start), atol=1e-6)
    bad_batch = small.batch()._replace(windows=small.batch().windows.at[3, 2, 1].set(jnp.nan))
    bad, _ = update(good, bad_batch)
    assert int(bad.skipped) == int(bad.consecutive_skips) == 1
    for before, after in zip(
        jax.tree.leaves((good.params, good.ema, good.optimiser)),
        jax.tree.leaves((bad.params, bad.ema, bad.optimiser)),
        strict=True,
    ):
        np.testing.assert_array_equal(before, after)
    again, _ = update(bad, small.batch())
    assert (int(again.skipped), int(again.consecutive_skips)) == (1, 0)


def test_oracle_windows_wear_the_level_and_scale_they_are_given():
    model = small.silent(small.build(statistics="oracle"))
    mean, scale = jnp.array([[5.0, -2.0]] * 3), jnp.array([[0.1, 2.0]] * 3)
    samples = model.sample(jax.random.key(0), {}, 3, borrowed=(mean, scale))
    # The DC bin is vacant in training; the floor of its variance leaves 1e-3 of a deviation.
    np.testing.assert_array_less(np.abs(samples.mean(axis=1) - mean), 0.01 * scale)
    assert "REAL" in model.coding.label


def test_oracle_windows_borrow_from_random_donors_whatever_the_block():
    levels = jnp.repeat(jnp.arange(1000.0)[:, None], small.CHANNELS, axis=1)

    def donors(key, block):
        model = small.silent(small.build(statistics="oracle", block=block))
        borrowed = (levels, jnp.full_like(levels, 0.1))
        model = dataclasses.replace(model, fitted=model.fitted._replace(borrowed=borrowed))
        return np.rint(model.sample(jax.random.key(key), {}, 40).mean(axis=1)[:, 0])

    first = donors(0, 40)
    np.testing.assert_array_equal(donors(0, 7), first)
    # Uniform on 0 … 999: mean 499.5, deviation 288.7; taken in turn they would be 0, 1, 2, …
    assert abs(first.mean() - 499.5) < 4 * 288.7 / np.sqrt(40)
    assert np.abs(np.diff(first)).mean() > 100
    assert (donors(1, 40) == first).sum() < 5


def test_oracle_keeps_donors_from_the_whole_training_set():
    count = 7001
    levels = np.linspace(0, 1, count)[:, None, None]
    noise = np.random.default_rng(0).normal(0, 1e-3, (count, small.LENGTH, 1))
    _, fitted = fit("oracle", jnp.asarray(levels + noise, jnp.float32))
    kept = np.asarray(fitted.borrowed[0])[:, 0]
    assert kept.shape == (3000,)
    np.testing.assert_allclose(kept, np.linspace(0, 1, 3000), atol=5e-3)


def test_training_lowers_the_loss_below_the_diagonal_gaussian():
    # The channels are correlated and a walk is not circulant: a diagonal filter is not the best.
    model = small.build(optimiser=optax.adam(5e-3))
    first = jax.jit(model.init)(jax.random.key(0), small.batch())

    @jax.jit
    def train(state):
        def step(state, _):
            key = jax.random.fold_in(jax.random.key(7), state.step)
            rows = jax.random.randint(key, (small.BATCH,), 0, 64)
            taken = models.Batch(small.windows()[rows], jnp.arange(small.BATCH))
            return model.update(state, taken)

        return jax.lax.scan(step, state, None, length=300)

    _, metrics = train(first)
    assert float(metrics["loss"][-50:].mean()) < 0.9 * float(metrics["loss"][:20].mean())


@pytest.mark.parametrize("statistics", ["none", "generated"])
def test_calibrated_samples_have_the_second_moments_of_train(statistics):
    """A network that was never trained draws the wrong law; afterwards its moments are right."""
    model, params = small.build(statistics=statistics), small.params()
    real = small.windows(400)
    found = Fitted.from_arrays(model.finish(jax.random.key(1), params, np.asarray(real), 2000))
    corrected = dataclasses.replace(model, fitted=found)
    spectra = jax.vmap(spectrum.to_spectrum)

    def misses(generator) -> float:
        drawn = spectra(generator.sample(jax.random.key(2), params, 2000))
        parts = zip(drawn, spectra(real), strict=True)
        gaps = [
            np.abs(np.cov(x[:, k].T) - np.cov(y[:, k].T)).max() / np.abs(np.cov(y[:, k].T)).max()
            for x, y in parts
            for k in range(1, 4)
        ]
        return max(gaps)

    assert misses(model) > 0.2
    assert misses(corrected) < 0.15


def test_calibration_is_for_the_way_that_samples_are_drawn():
    model, params = small.build(), small.params()
    arrays = model.finish(jax.random.key(1), params, np.asarray(small.windows(100)), 200)
    corrected = dataclasses.replace(model, fitted=Fitted.from_arrays(arrays))
    key = jax.random.key(3)
    assert corrected.facts().calibrated
    assert not np.array_equal(corrected.sample(key, params, 3), model.sample(key, params, 3))
    other = corrected.facts(steps=5)
    assert not other.calibrated
    assert "solver=wiener_ab2, steps=4" in other.note
    np.testing.assert_array_equal(
        corrected.sample(key, params, 3, steps=5), model.sample(key, params, 3, steps=5)
    )


def test_what_was_fitted_survives_its_arrays():
    for statistics in ("none", "generated", "oracle"):
        _, fitted = fit(statistics, small.windows(), np.ones((64, 3)))
        again = Fitted.from_arrays(fitted.to_arrays())
        jax.tree.map(np.testing.assert_array_equal, again, fitted)
        assert jax.tree.structure(again) == jax.tree.structure(fitted)


def test_a_way_to_sample_that_does_not_exist_is_named():
    with pytest.raises(PacodiError, match=r"no setting 'sample.stepz'. Did you mean 'steps'"):
        small.build().sample(jax.random.key(0), {}, 1, stepz=3)
