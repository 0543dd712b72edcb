"""Schedules: one object for the continuous and the discrete variant, with stated ends."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import schedule

EVERY = {
    "vp": schedule.vp(),
    "cosine": schedule.cosine(),
    "ddpm_linear": schedule.ddpm_linear(),
    "ddpm_linear_50": schedule.ddpm_linear(50),
}


@pytest.mark.parametrize("name", EVERY)
def test_variance_is_preserved(x64, name):
    chosen = EVERY[name]
    times = np.linspace(chosen.t_min, 1.0, 997)
    np.testing.assert_allclose(chosen.alpha(times) ** 2 + chosen.sigma(times) ** 2, 1, atol=1e-14)
    assert (np.diff(chosen.alpha(times)) < 0).all()


@pytest.mark.parametrize("name", ["vp", "cosine"])
def test_beta_is_the_rate_of_log_alpha_bar(x64, name):
    chosen = EVERY[name]
    rate = jax.vmap(jax.grad(lambda t: -2 * jnp.log(chosen.alpha(t))))
    times = np.linspace(chosen.t_min, 1.0, 101)
    np.testing.assert_allclose(chosen.beta(times), rate(times), rtol=1e-9)


@pytest.mark.parametrize("steps", [50, 1000])
def test_ddpm_grid_points_have_the_discrete_products(x64, steps):
    betas = np.linspace(1e-4, 0.02, steps) * 1000 / steps
    chosen = schedule.ddpm_linear(steps)
    grid = np.arange(1, steps + 1) / steps
    np.testing.assert_allclose(chosen.alpha(grid) ** 2, np.cumprod(1 - betas), rtol=1e-10)
    np.testing.assert_allclose(schedule.discrete_betas(chosen, steps), betas, rtol=1e-9)
    np.testing.assert_allclose(chosen.beta(grid), -steps * np.log1p(-betas), rtol=1e-9)


def test_ddpm_linear_ends_alike_for_every_number_of_steps(x64):
    ends = [float(schedule.ddpm_linear(steps).alpha(1.0)) for steps in (100, 500, 1000)]
    assert max(ends) < 0.0065  # unscaled β, as in the released code, leaves α(1) = 0.081 at T = 500
    unscaled = np.sqrt(np.prod(1 - np.linspace(1e-4, 0.02, 500)))
    assert unscaled == pytest.approx(0.080, abs=2e-3)


def test_cosine_ends_are_stated(x64):
    chosen = schedule.cosine()
    assert float(chosen.alpha(1.0)) == pytest.approx(1e-3, rel=1e-9)
    assert np.isfinite(chosen.beta(1.0))
    assert schedule.discrete_betas(chosen, 1000).max() <= 0.999


@pytest.mark.parametrize("name", EVERY)
def test_single_precision_keeps_its_digits_near_zero(name):
    chosen = EVERY[name]
    times = np.geomspace(chosen.t_min, 1.0, 50)
    with jax.enable_x64(True):
        exact = np.asarray(chosen.sigma(times))
    np.testing.assert_allclose(chosen.sigma(times.astype(np.float32)), exact, rtol=2e-5)


@pytest.mark.parametrize("name", schedule.SCHEDULES)
def test_every_schedule_starts_clean_and_ends_in_noise(x64, name):
    chosen = schedule.SCHEDULES[name]()
    assert float(chosen.sigma(0)) == 0
    assert float(chosen.alpha(1.0)) < 0.01
    assert 0 < chosen.t_min < 0.01
