"""Diffusion-TS's imputation: what it costs, what it keeps, and where its signs lead."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax import models
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.diffusion_ts import imputation, schedule
from pacodi_jax.models.diffusion_ts.generator import DiffusionTS, prepare
from pacodi_jax.models.diffusion_ts.imputation import GUIDED, REPLACED
from pacodi_jax.models.diffusion_ts.settings import Diffusion, DiffusionTSSettings, Network


@pytest.mark.parametrize(("steps", "cost"), [(200, (200, 260)), (20, (20, 26)), (10, (10, 13))])
def test_the_cost_of_guided_imputation_is_that_of_the_release(steps, cost):
    assert imputation.evaluations(500, steps) == cost


def _fill(guiding, clean, steps=10, total=500):
    """One window of 8 steps, the even ones observed to be 0.5."""
    path = schedule.path(schedule.cosine(total), steps)
    plan = imputation.inner(path, total, guiding.step > 0)
    mask = jnp.arange(8)[:, None] % 2 == 0
    known = jnp.where(mask, 0.5, 0.0)
    return imputation.run(path, plan, clean, jax.random.key(0), known, mask, guiding)


@pytest.mark.parametrize(("guiding", "calls"), [(GUIDED, 23), (REPLACED, 10)])
def test_the_network_is_asked_as_often_as_is_said(guiding, calls):
    asked = []

    def clean(x, t):
        jax.debug.callback(lambda t: asked.append(int(t)), t)
        return 0.9 * x

    jax.block_until_ready(_fill(guiding, clean))
    jax.effects_barrier()
    assert len(asked) == calls


@pytest.mark.parametrize("steps", [10, 40])
def test_observed_entries_are_exact_and_guidance_draws_the_others_to_them(steps):
    """The clean estimate is the window's mean: only guidance can move the missing entries' mean."""

    def clean(x, t):
        return jnp.full_like(x, 0.2 * x.mean())

    found = {}
    for name, guiding in (("-G", imputation.Guiding(step=0.2)), ("-R", REPLACED)):
        filled = _fill(guiding, clean, steps, total=40)
        np.testing.assert_array_equal(filled[::2], 0.5)
        found[name] = float(jnp.abs(filled - 0.5)[1::2].mean())
    assert found["-G"] < found["-R"]


@pytest.fixture(scope="module")
def tiny():
    size = Network(width=8, heads=2, encoders=1, decoders=1)
    settings = DiffusionTSSettings(size, Diffusion(steps=20))
    windows = np.random.default_rng(0).normal(size=(6, 8, 2)).astype(np.float32) * 3 + 10
    arrays = prepare(settings, windows, None)
    generator = DiffusionTS(settings, models.Shape(8, 2), arrays, None)
    return generator, jax.jit(generator.first_params)(jax.random.key(0)), windows


def test_a_window_is_filled_by_its_own_key_in_the_users_scale(tiny):
    generator, weights, windows = tiny
    mask = np.broadcast_to(np.arange(8)[:, None] < 5, windows.shape)

    def draw(count, windows):
        parts = windows[:count], mask[:count]
        return imputation.impute(generator, jax.random.key(1), weights, *parts, steps=4)

    many = draw(6, windows)
    np.testing.assert_array_equal(many[mask], windows[mask])
    np.testing.assert_allclose(draw(2, windows), many[:2], atol=1e-4)
    hidden = np.where(mask, windows, np.nan)
    np.testing.assert_allclose(draw(6, hidden), many, atol=1e-6)
    assert np.isfinite(many).all()
    assert many[:, 5:].std(0).min() > 0.1


def test_a_mask_of_another_shape_is_refused(tiny):
    generator, weights, windows = tiny
    with pytest.raises(PacodiError, match=r"mask \(6, 7, 2\) must both be of shape \(N, 8, 2\)"):
        imputation.impute(generator, jax.random.key(1), weights, windows, np.ones((6, 7, 2), bool))
