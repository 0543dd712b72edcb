"""Measures the solvers against exact Gaussian laws and prints docs/explanation/solvers.md's tables.

    python benchmarks/bench_solvers.py            all tables
    python benchmarks/bench_solvers.py order      one of: order, law, steps, weak, grids

Nothing is sampled: with an exact Gaussian score a step is affine, so mean and covariance are
pushed through it in double precision (tests/core/gaussian.py).
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pacodi_jax.core import schedule
from pacodi_jax.core.solvers import GRIDS, draw, time_grid
from pacodi_jax.errors import PacodiError, choose
from tests.core.gaussian import (
    Law,
    Process,
    asymmetric,
    autoregressive,
    build_rule,
    circulant,
    covariance_error,
    mean_error,
    prior,
    propagate,
    propagator,
)

VP = schedule.vp()
SHORT = schedule.vp(t_min=1e-3)


def _row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def _header(*cells: object) -> None:
    _row(*cells)
    _row(*("---" for _ in cells))


def _grid(name: str, process: Process, steps: int, chosen=VP) -> np.ndarray:
    moments = process.moments()
    return time_grid(name, chosen, steps, moments=moments, variance=process.variance)


def _end(name: str, grid: str, process: Process, steps: int) -> Law:
    start = prior(process, VP, matched=name == "wiener_ab2")
    times = _grid(grid, process, steps)
    return propagate(build_rule(name, process), process, VP, start, times)[0]


def order() -> None:
    """Order of convergence between 80 and 320 steps, t from 1 to 1e-3, v/V from 0.5 to 5."""
    process = asymmetric(8)
    start = np.sqrt(process.noise) * np.random.default_rng(1).normal(size=process.noise.size)
    exact = process.flow(SHORT, 1.0, SHORT.t_min)(start)
    denoiser, state = process.denoiser(SHORT), process.unravel(jnp.asarray(start))
    _header("solver", *(f"{grid}: order, error at 80" for grid in GRIDS))
    for name in ("ddim", "heun", "dpmpp_2m", "wiener_ab2"):
        rule = build_rule(name, process)._replace(finish=lambda problem, carry, state, t: state)
        cells = []
        for grid in GRIDS:
            errors = []
            for steps in (80, 320):
                times = _grid(grid, process, steps + 1, SHORT)
                key = jax.random.key(0)
                end = draw(rule, denoiser, SHORT, process.variance, key, state, times)
                errors.append(np.linalg.norm(ravel_pytree(end)[0] - exact) / np.linalg.norm(exact))
            cells.append(f"{np.log(errors[0] / errors[1]) / np.log(4):.2f}, {errors[0]:.1e}")
        _row(name, *cells)


def law() -> None:
    """Order in law of the rules that draw noise: the exact law at t = 1 to that at 1e-3."""
    process = asymmetric(8)
    start, target = (process.noisy(SHORT, t) for t in (1.0, SHORT.t_min))
    _header("solver", "times", "order", "error at 80", "error at 320")
    for name in ("ancestral:small", "ancestral:large", "euler_maruyama", "sde_dpmpp_2m"):
        rule = build_rule(name, process)._replace(finish=lambda problem, carry, state, t: state)
        run = propagator(rule, process, SHORT)
        for grid in ("uniform", "log_snr"):
            laws = [run(start, _grid(grid, process, count + 1, SHORT))[0] for count in (80, 320)]
            errors = [covariance_error(end, target) + mean_error(end, target) for end in laws]
            order = np.log(errors[0] / errors[1]) / np.log(4)
            _row(name, grid, f"{order:.2f}", *(f"{error:.1e}" for error in errors))


def steps() -> None:
    """Relative covariance error on the asymmetric process (L = 8, C = 2), by denoiser calls."""
    process = asymmetric(8)
    counts = (10, 20, 50, 100, 200, 1000)
    _header("solver", "times", *counts)
    pairs = [
        ("euler_maruyama", "uniform"),
        ("ancestral:small", "uniform"),
        ("ancestral:small", "log_snr"),
        ("ancestral:large", "log_snr"),
        ("ddim", "log_snr"),
        ("heun", "log_snr"),
        ("dpmpp_2m", "log_snr"),
        ("sde_dpmpp_2m", "log_snr"),
        ("wiener_ab2", "angle"),
    ]
    for name, grid in pairs:
        calls = [count // 2 if name == "heun" else count for count in counts]
        laws = [_end(name, grid, process, count) for count in calls]
        _row(name, grid, *(f"{covariance_error(law, process.law):.2g}" for law in laws))


def weak() -> None:
    """Variance at the end over true variance, bin by bin, six orders of magnitude (L = 16)."""
    process = circulant(16, channels=1)
    target, noise = np.diag(process.law.covariance), process.noise
    bins = len(target) // 2
    ratios = target[:bins] / noise[:bins]
    _header("solver", "times", "steps", *(f"{ratio:.0e}" for ratio in ratios))
    cases = [
        ("wiener_ab2", "log_snr", 1),
        ("wiener_ab2", "log_snr", 20),
        ("dpmpp_2m", "log_snr", 20),
        ("dpmpp_2m", "log_snr", 50),
        ("sde_dpmpp_2m", "log_snr", 50),
        ("heun", "log_snr", 50),
        ("ddim", "uniform", 200),
        ("ddim", "log_snr", 200),
        ("ancestral", "uniform", 20),
        ("ancestral", "uniform", 200),
        ("ancestral", "log_snr", 200),
        ("euler_maruyama", "uniform", 500),
        ("euler_maruyama", "log_snr", 500),
    ]
    for name, grid, count in cases:
        law = _end(name, grid, process, count)
        left = np.diag(law.covariance)[:bins] / target[:bins]
        _row(name, grid, count, *(f"{value:.3f}" for value in left))


def grids() -> None:
    """Relative covariance error on AR(1) windows (L = 24, φ = 0.9) against steps and time grid."""
    process = autoregressive(24, 0.9)
    counts = (5, 10, 20, 50)
    _header("solver", "times", *counts)
    for name in ("wiener_ab2", "dpmpp_2m"):
        for grid in GRIDS:
            laws = [_end(name, grid, process, count) for count in counts]
            _row(name, grid, *(f"{covariance_error(law, process.law):.4f}" for law in laws))


TABLES = {"order": order, "law": law, "steps": steps, "weak": weak, "grids": grids}


def main(names: list[str]) -> int:
    """Prints the named tables, or all."""
    try:
        chosen = [choose("table", name, TABLES) for name in names or TABLES]
    except PacodiError as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
    with jax.enable_x64(True):
        for table in chosen:
            print(f"\n{table.__doc__}\n")
            table()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
