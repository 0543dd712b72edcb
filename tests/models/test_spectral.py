"""One generator class, many models: what must hold for all of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax import models
from pacodi_jax.solvers import SOLVERS
from tests.models import small

COMBINATIONS = [
    ("pacodi", {}),
    ("pacodi", {"statistics": "generated"}),
    ("pacodi", {"statistics": "oracle"}),
    ("pacodi", {"variant": "ddpm", "schedule": "ddpm_linear", "ddpm_steps": 50}),
    ("pacodi", {"variant": "ddpm", "schedule": "cosine", "times": "uniform"}),
    ("pacodi", {"parameterisation": "noise", "loss": "noise", "times": "log_snr"}),
    ("pacodi", {"loss": "noise", "weighting": "elbo", "stratified": False}),
    ("temporal", {"parameterisation": "noise", "loss": "noise"}),
    ("monolithic", {}),
]


@pytest.mark.parametrize(("name", "settings"), COMBINATIONS)
def test_every_model_takes_a_step_and_samples(name, settings):
    model = small.build(name, **settings)
    state = small.init(model)
    new, metrics = jax.jit(model.update)(state, small.batch())
    assert np.isfinite(metrics["loss"])
    assert int(new.step) == 1
    assert int(new.skipped) == 0
    moved = jax.tree.map(lambda a, b: float(jnp.abs(a - b).max()), state.params, new.params)
    assert max(jax.tree.leaves(moved)) > 0
    samples = model.sample(jax.random.key(1), new.ema, 5)
    assert samples.shape == (5, small.LENGTH, small.CHANNELS)
    assert np.isfinite(samples).all()


@pytest.mark.parametrize("name", ["pacodi", "monolithic", "temporal"])
def test_an_untrained_velocity_network_loses_one_a_slot(name):
    # A zero network's error is the target's variance, 1 for each slot of the training windows.
    model = small.build(name, stratified=True)
    state = small.init(model)
    loss = jax.jit(model.loss)(state.params, jax.random.key(1), small.batch(64))
    assert 0.7 < float(loss) < 1.3


def test_an_untrained_noise_network_loses_one_a_slot():
    model = small.build(parameterisation="noise", loss="noise")
    state = small.init(model)
    loss = jax.jit(model.loss)(state.params, jax.random.key(1), small.batch(64))
    assert 0.8 < float(loss) < 1.2


def test_an_untrained_wiener_network_draws_the_diagonal_gaussian():
    model = small.build(block=2000)
    state = small.init(model)
    samples = model.sample(jax.random.key(2), state.params, 4000)
    spectra = jax.vmap(model.statistics.encode)(samples)
    moments = model.process.moments
    for part in ("real", "imag"):
        live = np.asarray(getattr(model.statistics.variance, part))[:, 0] > 0
        mean, variance = getattr(moments.mean, part)[live], getattr(moments.variance, part)[live]
        drawn = getattr(spectra, part)[:, live]
        error = np.sqrt(np.asarray(variance) / 4000)
        np.testing.assert_array_less(np.abs(drawn.mean(0) - mean), 5 * error)
        np.testing.assert_allclose(drawn.var(0) / variance, 1, atol=5 * np.sqrt(2 / 4000))


@pytest.mark.parametrize("solver", ["wiener_ab2", "ancestral"])
def test_sample_i_does_not_depend_on_the_block_it_is_drawn_in(solver):
    drawn = []
    for block in (3, 7):
        model = small.build(block=block, solver=solver)
        state = small.init(model)
        params = jax.tree.map(lambda p: p + 0.05, state.params)
        drawn.append(np.asarray(model.sample(jax.random.key(5), params, 7)))
    np.testing.assert_allclose(drawn[0], drawn[1], atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_solver_samples_either_variant(solver):
    for settings in ({}, {"variant": "ddpm", "ddpm_steps": 20}):
        model = small.build(solver=solver, **settings)
        params = small.init(model).params
        assert np.isfinite(model.sample(jax.random.key(0), params, 2)).all()


def test_the_loss_of_a_batch_is_the_mean_over_its_parts_in_their_slots():
    model = small.build()
    params = small.init(model).params
    params = jax.tree.map(lambda p: p + 0.02, params)
    loss = jax.jit(model.loss)
    key = jax.random.key(3)
    whole = loss(params, key, small.batch(16))
    halves = [loss(params, key, small.batch(8, first)) for first in (0, 8)]
    np.testing.assert_allclose(whole, np.mean(halves), rtol=1e-5)


def test_a_step_that_is_not_finite_is_skipped_and_counted():
    model = small.build()
    state = small.init(model)
    update = jax.jit(model.update)
    good, _ = update(state, small.batch())
    bad_batch = small.batch()._replace(windows=small.batch().windows.at[3, 2, 1].set(jnp.nan))
    bad, _ = update(good, bad_batch)
    assert int(bad.skipped) == int(bad.consecutive_skips) == 1
    kept = (good.params, good.ema, good.optimiser)
    for before, after in zip(
        jax.tree.leaves(kept),
        jax.tree.leaves((bad.params, bad.ema, bad.optimiser)),
        strict=True,
    ):
        np.testing.assert_array_equal(before, after)
    again, _ = update(bad, small.batch())
    assert (int(again.skipped), int(again.consecutive_skips)) == (1, 0)


def test_the_average_warms_up_to_its_decay():
    model = small.build()
    state = small.init(model)
    new, _ = jax.jit(model.update)(state, small.batch())
    # At step 0 the decay is 1/10: the average moves nine tenths of the way.
    for first, last, average in zip(
        *(jax.tree.leaves(tree) for tree in (state.params, new.params, new.ema)), strict=True
    ):
        np.testing.assert_allclose(average, first + 0.9 * (last - first), atol=1e-7)


def test_oracle_windows_wear_the_level_and_scale_they_are_given():
    model = small.build(statistics="oracle")
    params = small.init(model).params
    mean, scale = jnp.array([[5.0, -2.0]] * 3), jnp.array([[0.1, 2.0]] * 3)
    samples = model.sample(jax.random.key(0), params, 3, borrowed=(mean, scale))
    np.testing.assert_allclose(samples.mean(axis=1), mean, atol=1e-5)
    assert "REAL" in model.statistics.label


def test_training_lowers_the_loss_below_the_diagonal_gaussian():
    # The channels are correlated and a walk is not circulant: a diagonal filter is not the best.
    model = small.build()
    state = small.init(model)

    @jax.jit
    def train(state):
        def step(state, _):
            rows = jax.random.randint(
                jax.random.fold_in(jax.random.key(7), state.step), (small.BATCH,), 0, 64
            )
            taken = models.Batch(small.windows()[rows], jnp.arange(small.BATCH))
            return model.update(state, taken)

        return jax.lax.scan(step, state, None, length=300)

    _, metrics = train(state)
    assert float(metrics["loss"][-50:].mean()) < 0.9 * float(metrics["loss"][:20].mean())
