"""Where in [t_min, 1] a model trains."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core.training_times import TIMES, time_sampler
from tests.models import small


def _draw(name, *, strata, discrete_steps=None, count=4096):
    model = small.build()
    sampler = time_sampler(
        name,
        model.process.schedule,
        model.process.moments,
        model.coding.variance,
        strata=strata,
        discrete_steps=discrete_steps,
    )
    keys = jax.random.split(jax.random.key(1), count)
    return np.asarray(sampler(jax.random.key(0), keys, jnp.arange(count)))


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("strata", [None, 4096])
def test_times_stay_in_range(name, strata):
    times = _draw(name, strata=strata)
    assert times.min() >= 1e-4 - 1e-9
    assert times.max() <= 1


def test_uniform_times_are_uniform():
    times = _draw("uniform", strata=None)
    histogram = np.histogram(times, bins=16, range=(0, 1))[0]
    assert np.abs(histogram - 256).max() < 5 * np.sqrt(256)


def test_stratified_times_put_one_in_every_slice():
    times = _draw("uniform", strata=4096)
    slices = np.histogram(times, bins=64, range=(1e-4, 1))[0]
    assert np.abs(slices - 64).max() <= 1


def test_ddpm_times_lie_on_the_grid():
    times = _draw("uniform", strata=None, discrete_steps=10) * 10
    np.testing.assert_allclose(times, np.round(times), atol=1e-5)
    assert set(np.round(times).astype(int)) == set(range(1, 11))


def test_the_angle_clock_visits_weak_bins_more_often_than_uniform_time():
    assert np.median(_draw("angle", strata=4096)) < np.median(_draw("uniform", strata=4096))
