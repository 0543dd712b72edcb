"""Every solver: batches equal loops, one compilation per shape, dead slots stay dead."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import schedule, spectrum
from pacodi_jax.core.solvers import GRIDS, SOLVERS, draw, time_grid
from pacodi_jax.types import Quadratures
from tests.core.gaussian import asymmetric, build_rule

VP = schedule.vp()
#: One ulp of these grows beyond 1e-6 in single precision: they are compared in double.
SENSITIVE = {"euler_maruyama", "heun"}
DRAW_NOISE = {"ancestral", "euler_maruyama", "sde_dpmpp_2m"}


@pytest.fixture(autouse=True)
def strict_promotion():
    """No dtype is widened by accident: single precision stays single."""
    with jax.numpy_dtype_promotion("strict"):
        yield


def _sampler(name: str, length: int = 8, steps: int = 6):
    process = asymmetric(length)
    rule, denoiser = build_rule(name, process), process.denoiser(VP)
    times = time_grid("log_snr", VP, steps)

    def sample(key: jax.Array) -> Quadratures:
        first, then = jax.random.split(key)
        start = spectrum.sample_noise(first, process.variance, 2)
        return draw(rule, denoiser, VP, process.variance, then, start, times)

    return process, sample


@pytest.mark.parametrize("name", SOLVERS)
def test_batch_equals_loop_and_one_compile_serves_a_shape(name):
    with jax.enable_x64(name in SENSITIVE):
        _batch_equals_loop(name)


def _batch_equals_loop(name: str) -> None:
    _, sample = _sampler(name)
    chex.clear_trace_counter()

    @jax.jit
    @chex.assert_max_traces(n=1)
    def batch(keys: jax.Array) -> Quadratures:
        return jax.vmap(sample)(keys)

    alone = jax.jit(sample)
    for seed in range(2):
        keys = jax.random.split(jax.random.key(seed), 3)
        together = batch(keys)
        for i in range(3):
            for part, one in zip(together, alone(keys[i]), strict=True):
                np.testing.assert_allclose(part[i], one, atol=1e-6)
    with pytest.raises(AssertionError, match="traced"):
        batch(jax.random.split(jax.random.key(0), 4))


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("steps", [1, 3])
def test_draw_is_a_clean_finite_state_of_the_same_type(name, steps):
    process, sample = _sampler(name, 9, steps)
    clean = jax.jit(sample)(jax.random.key(1))
    for part, mean in zip(clean, process.unravel(process.law.mean), strict=True):
        assert part.shape == (5, 2)
        assert part.dtype == jnp.float32
        assert np.isfinite(part).all()
        assert mean.shape == part.shape
    np.testing.assert_allclose(clean.imag[0], 0, atol=1e-6)  # no real window has an imaginary DC


@pytest.mark.parametrize("name", SOLVERS)
def test_sample_depends_on_its_key_only_where_noise_is_drawn(name):
    process, _ = _sampler(name)
    rule, denoiser = build_rule(name, process), process.denoiser(VP)
    start = spectrum.sample_noise(jax.random.key(5), process.variance, 2)
    times = time_grid("log_snr", VP, 6)
    solve = jax.jit(lambda key: draw(rule, denoiser, VP, process.variance, key, start, times))
    ends = [solve(jax.random.key(seed)) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(ends[0].real, ends[1].real)
    assert (np.asarray(ends[0].real) == np.asarray(ends[2].real)).all() == (name not in DRAW_NOISE)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("chosen", ["vp", "cosine", "ddpm_linear"])
def test_grid_falls_from_one_to_the_end_of_the_schedule(grid, chosen):
    process, law = asymmetric(8), schedule.SCHEDULES[chosen]()
    for steps in (1, 2, 50):
        times = time_grid(grid, law, steps, moments=process.moments(), variance=process.variance)
        assert times.shape == (steps,)
        assert times[0] == 1
        assert steps == 1 or times[-1] == law.t_min
        assert (np.diff(times.astype(np.float32)) < 0).all()


def test_log_snr_grid_has_equal_steps_of_log_snr(x64):
    times = time_grid("log_snr", VP, 30)
    widths = np.diff(np.log(VP.alpha(times) / VP.sigma(times)))
    np.testing.assert_allclose(widths, widths.mean(), rtol=1e-3)
