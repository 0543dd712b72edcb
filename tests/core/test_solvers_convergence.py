"""How fast solvers converge, and where: measured orders, weak bins, Wiener coordinates, AR(1).

benchmarks/bench_solvers.py prints the whole tables; docs/explanation/solvers.md records them.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from pacodi_jax.core import schedule, wiener
from pacodi_jax.core.solvers import GRIDS, draw, time_grid
from tests.core.gaussian import (
    Process,
    asymmetric,
    autoregressive,
    build_rule,
    circulant,
    covariance_error,
    entry_error,
    mean_error,
    prior,
    propagate,
    propagator,
)

VP = schedule.vp()


def _order(name: str, grid: str, process: Process) -> float:
    """The slope of log error against log steps between 80 and 320, times from 1 to 1e-3."""
    short = schedule.vp(t_min=1e-3)
    rule = build_rule(name, process)._replace(finish=lambda problem, carry, state, t: state)
    denoiser, moments = process.denoiser(short), process.moments()
    start = np.sqrt(process.noise) * np.random.default_rng(1).normal(size=process.noise.size)
    exact = process.flow(short, 1.0, short.t_min)(start)

    def error(steps: int) -> float:
        times = time_grid(grid, short, steps + 1, moments=moments, variance=process.variance)
        state = process.unravel(jnp.asarray(start))
        end = draw(rule, denoiser, short, process.variance, jax.random.key(0), state, times)
        return float(np.linalg.norm(ravel_pytree(end)[0] - exact))

    return float(np.log(error(80) / error(320)) / np.log(4))


@pytest.mark.parametrize("grid", ["uniform", "log_snr"])
@pytest.mark.parametrize(
    ("name", "least"), [("ddim", 0.95), ("heun", 1.9), ("dpmpp_2m", 1.8), ("wiener_ab2", 1.8)]
)
def test_order_of_convergence_is_the_stated_one(x64, name, least, grid):
    assert _order(name, grid, asymmetric(8)) >= least


@pytest.mark.parametrize(
    ("name", "grid", "least"),
    [
        ("ancestral:small", "log_snr", 0.9),
        ("ancestral:large", "log_snr", 0.9),
        ("euler_maruyama", "uniform", 0.9),
        ("sde_dpmpp_2m", "log_snr", 1.8),
    ],
)
def test_order_of_convergence_in_law_is_the_stated_one(x64, name, grid, least):
    """Mean and covariance from the exact law at t = 1 to that at 1e-3, 80 against 320 steps."""
    process, short = asymmetric(8), schedule.vp(t_min=1e-3)
    rule = build_rule(name, process)._replace(finish=lambda problem, carry, state, t: state)
    run, target = propagator(rule, process, short), process.noisy(short, short.t_min)
    laws = [
        run(process.noisy(short, 1.0), time_grid(grid, short, steps + 1))[0] for steps in (80, 320)
    ]
    errors = [covariance_error(law, target) + mean_error(law, target) for law in laws]
    assert np.log(errors[0] / errors[1]) / np.log(4) >= least


def test_first_order_solver_is_not_of_second_order(x64):
    assert _order("ddim", "log_snr", asymmetric(8)) < 1.1


@pytest.mark.parametrize(("evaluations", "bound"), [(20, 0.04), (50, 0.01)])
@pytest.mark.parametrize("length", [8, 9])
def test_dpmpp_2m_is_close_after_few_evaluations_on_log_snr_times(x64, evaluations, bound, length):
    process = asymmetric(length)
    times = time_grid("log_snr", VP, evaluations)
    law, _ = propagate(build_rule("dpmpp_2m", process), process, VP, prior(process, VP), times)
    assert covariance_error(law, process.law) <= bound
    assert entry_error(law, process.law) <= bound


@pytest.mark.parametrize("evaluations", [20, 50])
def test_dpmpp_2m_beats_500_euler_maruyama_steps_on_weak_bins(x64, evaluations):
    """Every bin with v/V ≤ 1e-3; Euler–Maruyama on uniform times, as the paper samples."""
    process = circulant(16)
    target, noise = np.diag(process.law.covariance), process.noise
    weak = (target > 0) & (target <= 1e-3 * noise)
    assert weak.sum() >= 8

    def off(name: str, grid: str, steps: int) -> np.ndarray:
        times, rule = time_grid(grid, VP, steps), build_rule(name, process)
        law, _ = propagate(rule, process, VP, prior(process, VP), times)
        return np.abs(np.diag(law.covariance) / np.where(weak, target, 1) - 1)[weak]

    few = off("dpmpp_2m", "log_snr", evaluations)
    assert (few < off("euler_maruyama", "uniform", 500)).all()


@pytest.mark.parametrize("grid", ["log_snr", "angle"])
@pytest.mark.parametrize("steps", [1, 2, 5, 20])
def test_wiener_ab2_is_exact_on_a_circulant_process_at_any_number_of_steps(x64, steps, grid):
    process = circulant(16)
    moments, law = process.moments(), process.variance
    rule, denoiser = build_rule("wiener_ab2", process), process.denoiser(VP)
    times = time_grid(grid, VP, steps, moments=moments, variance=law)
    ends = (VP.alpha(1.0), VP.sigma(1.0))
    start = wiener.start(jax.random.key(steps), *ends, moments, law)
    clean = draw(rule, denoiser, VP, law, jax.random.key(0), start, times)
    before = wiener.to_z(start, *ends, moments, law)
    after = wiener.to_z(clean, 1.0, 0.0, moments, law)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(b, a, atol=1e-10)


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
def test_wiener_ab2_keeps_every_bin_s_variance_over_six_orders_of_magnitude(x64, steps):
    process = circulant(16)
    target = np.diag(process.law.covariance)
    assert target[target > 0].max() / target[target > 0].min() > 1e6
    start, times = prior(process, VP, matched=True), time_grid("log_snr", VP, steps)
    law, _ = propagate(build_rule("wiener_ab2", process), process, VP, start, times)
    np.testing.assert_allclose(np.diag(law.covariance), target, rtol=1e-9, atol=0)
    assert entry_error(law, process.law) < 1e-9


@pytest.mark.parametrize(("steps", "bound"), [(5, 0.03), (10, 0.01), (20, 0.002)])
def test_angle_grid_is_the_best_for_wiener_ab2_on_autoregressive_windows(x64, steps, bound):
    process = autoregressive(24, 0.9)
    moments, start = process.moments(), prior(process, VP, matched=True)
    run = propagator(build_rule("wiener_ab2", process), process, VP)
    errors = {}
    for grid in GRIDS:
        times = time_grid(grid, VP, steps, moments=moments, variance=process.variance)
        errors[grid] = covariance_error(run(start, times)[0], process.law)
    assert min(errors, key=errors.__getitem__) == "angle"
    assert errors["angle"] < bound
