"""Observed values: with the exact denoiser, draws have a Gaussian process's conditional law."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from pacodi_jax.core import (
    conditioning,
    guidance,
    level_coding,
    schedule,
    solvers,
    spectrum,
    window_covariance,
)
from pacodi_jax.core.conditioning import Gains, Observed
from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.core.window_covariance import Covariance
from pacodi_jax.types import Prediction
from tests.core import gaussian
from tests.core.gaussian import Law, correlated

VP = schedule.vp()
CHANNELS = 2
MASKS = ("first half", "scattered", "a channel", "one cell", "all but one", "everything")


def _mask(name: str, length: int) -> np.ndarray:
    mask = np.zeros((length, CHANNELS), bool)
    if name == "first half":
        mask[: length // 2] = True
    elif name == "scattered":
        mask[:] = np.random.default_rng(3).random(mask.shape) < 0.4
    elif name == "a channel":
        mask[:, 0] = True
    elif name == "one cell":
        mask[length // 3, 1] = True
    elif name != "nothing":
        mask[:] = True
        mask[length - 2, 1] = name == "everything"
    return mask


def _exact(covariance: np.ndarray) -> Covariance:
    values, vectors = np.linalg.eigh(covariance)
    return Covariance(jnp.asarray(vectors), jnp.asarray(values), jnp.zeros(CHANNELS))


def _values(length: int) -> np.ndarray:
    law = correlated(length)
    flat = np.random.default_rng(1).multivariate_normal(law.mean, law.covariance)
    return flat.reshape(length, CHANNELS)


def _conditional(law: Law, mask: np.ndarray, values: np.ndarray, noise: float = 0.0) -> Law:
    """The law of all entries given the observed ones."""
    seen = mask.ravel()
    across = law.covariance[:, seen]
    inside = law.covariance[np.ix_(seen, seen)] + noise**2 * np.eye(seen.sum())
    gain = np.linalg.solve(inside, across.T).T
    mean = law.mean + gain @ (values.ravel() - law.mean)[seen]
    return Law(mean, law.covariance - gain @ across.T)


class Drawn:
    """The exact law of the windows that a solver draws given observed values, without sampling."""

    def __init__(self, name: str, length: int, steps: int, grid: str) -> None:
        law = correlated(length)
        self.process = gaussian.from_windows(law.mean, law.covariance, length, CHANNELS)
        self.back = np.linalg.pinv(gaussian.basis(length, CHANNELS))
        self.coding = LevelCoding("none", length, None)
        self.rule = gaussian.build_rule(name, self.process)
        self.start = gaussian.prior(self.process, VP, matched=name == "wiener_ab2")
        moments = {"moments": self.process.moments(), "variance": self.process.variance}
        self.times = jnp.asarray(solvers.time_grid(grid, VP, steps, **moments))
        run = self._whole if name == "sde_dpmpp_2m" else self._affine
        self.run = jax.jit(run)

    def _guide(self, matrices, values):
        correct = conditioning.linear(Gains(self.times, matrices), values)
        return conditioning.guide(correct, VP, self.coding)

    def _affine(self, matrices, values) -> Law:
        """Without injected noise the end is an affine function of the start."""
        denoiser = guidance.fold(self.process.denoiser(VP), [self._guide(matrices, values)])

        def end(x):
            state, key = self.process.unravel(x), jax.random.key(0)
            law = self.process.variance
            return ravel_pytree(solvers.draw(self.rule, denoiser, VP, law, key, state, self.times))[
                0
            ]

        mean = self.start.mean
        ends = jax.vmap(end)(jnp.concatenate([mean[None], mean + jnp.eye(len(mean))]))
        matrix = (ends[1:] - ends[0]).T
        return Law(ends[0], matrix @ self.start.covariance @ matrix.T)

    def _whole(self, matrices, values) -> Law:
        guides = [self._guide(matrices, values)]
        push = gaussian.propagator(self.rule, self.process, VP, guides)
        return push(self.start, self.times)[0]

    def given(self, covariance: np.ndarray, mask, values, noise=0.0) -> Law:
        table = conditioning.gains(
            _exact(covariance), VP, self.times, mask, np.full(CHANNELS, noise)
        )
        end = self.run(table.pull, jnp.asarray(values))
        return Law(self.back @ end.mean, self.back @ end.covariance @ self.back.T)


@functools.cache
def _drawn(name: str, length: int, steps: int, grid: str = "log_snr") -> Drawn:
    return Drawn(name, length, steps, grid)


def _off(found: Law, wanted: Law, scale: float) -> tuple[float, float]:
    """How far mean and covariance are off, as shares of what is wanted, or of a scale."""
    mean = np.linalg.norm(found.mean - wanted.mean) / np.linalg.norm(wanted.mean)
    spread = max(np.linalg.norm(wanted.covariance), scale)
    return mean, np.linalg.norm(found.covariance - wanted.covariance) / spread


@pytest.mark.parametrize(("steps", "bound"), [(20, 0.06), (50, 0.02)])
@pytest.mark.parametrize("length", [10, 9])
@pytest.mark.parametrize("name", ["wiener_ab2", "dpmpp_2m"])
def test_draws_have_the_conditional_mean_and_covariance(x64, name, length, steps, bound):
    law, values = correlated(length), _values(length)
    for seen in MASKS:
        mask = _mask(seen, length)
        found = _drawn(name, length, steps).given(law.covariance, mask, values)
        floor = 1e-2 * np.linalg.norm(law.covariance)  # where nothing is left to draw
        assert max(_off(found, _conditional(law, mask, values), floor)) <= bound, seen


@pytest.mark.parametrize("length", [10, 9])
def test_a_stochastic_solver_adds_no_error_of_its_own_to_the_conditional_law(x64, length):
    """Its error at 20 steps is 8 % with nothing observed, and no more with something."""
    law, values = correlated(length), _values(length)
    floor = 1e-2 * np.linalg.norm(law.covariance)
    for steps, bound in ((20, 0.085), (50, 0.02)):
        solver = _drawn("sde_dpmpp_2m", length, steps)
        for seen in ("nothing", *MASKS):
            mask = _mask(seen, length)
            found = solver.given(law.covariance, mask, values)
            mean, covariance = _off(found, _conditional(law, mask, values), floor)
            assert mean <= 0.02, seen
            assert covariance <= bound, seen


def test_the_circulant_covariance_ties_the_ends_and_fails_the_bound(x64):
    length, mask = 10, _mask("first half", 10)
    law, values = correlated(length), _values(length)
    matrix = gaussian.basis(length, CHANNELS)
    solver = _drawn("wiener_ab2", length, 50)
    diagonal = np.diag(np.diag(matrix @ law.covariance @ matrix.T))
    circulant = solver.back @ diagonal @ solver.back.T
    found = solver.given(circulant, mask, values)
    assert max(_off(found, _conditional(law, mask, values), 0.0)) > 0.1


def test_noisy_observations_are_followed_as_far_as_their_noise_allows(x64):
    law, values, mask = correlated(10), _values(10), _mask("scattered", 10)
    found = _drawn("wiener_ab2", 10, 50).given(law.covariance, mask, values, noise=0.7)
    wanted = _conditional(law, mask, values, noise=0.7)
    assert max(_off(found, wanted, 0.0)) <= 0.02
    exact = _conditional(law, mask, values)
    assert np.linalg.norm(wanted.mean - exact.mean) > 0.1 * np.linalg.norm(exact.mean)


def test_what_was_observed_is_met_and_nothing_observed_changes_nothing(x64):
    law, values = correlated(10), _values(10)
    solver = _drawn("wiener_ab2", 10, 20)
    everything = solver.given(law.covariance, _mask("everything", 10), values)
    np.testing.assert_allclose(everything.mean, values.ravel(), atol=2e-3)
    table = conditioning.gains(
        _exact(law.covariance), VP, solver.times, _mask("nothing", 10), np.zeros(2)
    )
    assert not table.pull.any()


def test_single_precision_is_enough():
    length = 24
    law, mask = correlated(length), _mask("scattered", length)
    with jax.enable_x64(True):
        times = jnp.asarray(solvers.time_grid("log_snr", VP, 20))
        noise = jnp.zeros(CHANNELS)
        wanted = conditioning.gains(_exact(law.covariance), VP, times, mask, noise).pull
        wanted = np.asarray(wanted)
    single = jax.tree.map(lambda x: jnp.asarray(np.asarray(x), jnp.float32), _exact(law.covariance))
    found = conditioning.gains(single, VP, times.astype(jnp.float32), mask, jnp.zeros(CHANNELS))
    np.testing.assert_allclose(found.pull, wanted, atol=2e-3)


def test_a_spread_of_leading_eigenpairs_and_a_rest_is_the_dense_formula(x64):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0][:, :5]
    rest, values = np.array([0.3, 0.7]), np.array([5.0, 3.0, 2.0, 1.0, 0.5])
    covariance = Covariance(jnp.asarray(basis), jnp.asarray(values), jnp.asarray(rest))
    dense = basis * values @ basis.T + np.diag(np.tile(rest, 6))
    for alpha, sigma in ((0.9, 0.4), (0.1, 0.995)):
        found = window_covariance.spread(covariance, alpha, sigma)
        wanted = np.linalg.inv(np.linalg.inv(dense) + (alpha / sigma) ** 2 * np.eye(12))
        full = found.factor @ found.factor.T + np.diag(found.rest)
        np.testing.assert_allclose(full, wanted, atol=1e-10)
        # Exact to the floor under the noise: the gain of the low-rank form is the dense one.
        mask = rng.random((6, 2)) < 0.5
        seen = Observed(jnp.zeros((6, 2)), jnp.asarray(mask), jnp.full(2, 0.2))
        weight = conditioning.weights(found, seen)
        residual = np.where(mask, rng.normal(size=(6, 2)), 0).ravel()
        z, left = conditioning.solve(found, weight, jnp.asarray(residual))
        keep = mask.ravel()
        inside = wanted[np.ix_(keep, keep)] + np.diag(1 / np.asarray(weight)[keep])
        gain = wanted[:, keep] @ np.linalg.solve(inside, residual[keep])
        np.testing.assert_allclose(found.factor @ z + found.rest * left, gain, atol=1e-9)


def test_gains_of_leading_eigenpairs_and_a_rest_are_those_of_the_whole_covariance(x64):
    """The same covariance, once with all its eigenpairs and once as a leading part and a rest."""
    rng, times = np.random.default_rng(0), jnp.asarray([0.9, 0.3, 0.02])
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0][:, :5]
    rest, values = np.array([0.3, 0.7]), np.array([5.0, 3.0, 2.0, 1.0, 0.5])
    leading = Covariance(*map(jnp.asarray, (basis, values, rest)))
    whole = _exact(basis * values @ basis.T + np.diag(np.tile(rest, 6)))
    for mask in (rng.random((6, 2)) < 0.5, np.ones((6, 2), bool), np.zeros((6, 2), bool)):
        residual = jnp.asarray(rng.normal(size=12))
        tables = [
            conditioning.gains(each, VP, times, mask, np.array([0.0, 0.2]))
            for each in (leading, whole)
        ]
        assert tables[0].push is not None
        for t in times:
            first, second = (table.apply(residual, t) for table in tables)
            np.testing.assert_allclose(first, second, atol=1e-9)


@pytest.mark.parametrize("most", [2048, 8])
def test_the_covariance_of_windows_is_fitted_jointly_over_steps_and_channels(x64, most):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 6, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    rows = np.cumsum(rows, axis=1)
    found = window_covariance.fit(rows, most=most, leading=6)
    full = found.basis * found.values @ found.basis.T
    full = np.asarray(full + np.diag(np.tile(found.rest, 6)))
    wanted = np.cov(rows.reshape(4000, 12), rowvar=False, bias=True)
    assert found.basis.shape == (12, 12 if most > 12 else 6)
    np.testing.assert_allclose(full, wanted, atol=1e-8 if most > 12 else 0.4)
    np.testing.assert_allclose(np.trace(full), np.trace(wanted), rtol=1e-6)


def _generated(length: int) -> tuple[LevelCoding, jax.Array]:
    rng = np.random.default_rng(length)
    scale = np.exp(0.5 * rng.normal(size=(3000, 1, CHANNELS)))
    walks = np.cumsum(rng.normal(size=(3000, length, CHANNELS)), axis=1) * scale
    windows = jnp.asarray(walks + 3 * rng.normal(size=(3000, 1, CHANNELS)))
    return level_coding.fit("generated", windows), windows


@pytest.mark.parametrize("length", [8, 9])
def test_generated_level_and_scale_follow_what_was_observed(x64, length):
    """The decoded window meets the observations, near the data and far from it."""
    coding, windows = _generated(length)
    rows = jax.vmap(lambda w: conditioning.to_rows(coding.encode(w), coding))(windows)
    covariance = window_covariance.fit(np.asarray(rows))
    mask = jnp.asarray(_mask("scattered", length))
    seen = Observed(windows[5], mask, jnp.zeros(CHANNELS))
    correct = jax.jit(conditioning.gauss_newton(covariance, VP, coding, seen))
    before = conditioning.to_rows(coding.encode(windows[7]), coding)
    for t, bound in ((0.02, 0.05), (0.3, 0.3)):
        after = before + correct(before, jnp.asarray(t))
        window = coding.decode(conditioning.from_rows(after, coding))
        far = jnp.abs(windows[7] - windows[5])[mask].max()
        assert jnp.abs(window - windows[5])[mask].max() < bound * far


def test_the_linearised_correction_is_the_linear_one_where_decoding_is_linear(x64):
    length, values = 10, _values(10)
    covariance = _exact(correlated(length).covariance)
    coding, mask = LevelCoding("none", length, None), _mask("scattered", 10)
    t, noise = jnp.asarray(0.2), np.full(CHANNELS, 0.1)
    table = conditioning.gains(covariance, VP, t[None], mask, noise)
    once = conditioning.gauss_newton(covariance, VP, coding, Observed(values, mask, noise))
    rows = jnp.asarray(np.random.default_rng(2).normal(size=(length, CHANNELS)))
    np.testing.assert_allclose(
        once(rows, t), conditioning.linear(table, jnp.asarray(values))(rows, t), atol=1e-8
    )


def test_a_guide_keeps_both_estimates_of_one_state(x64):
    length = 9
    coding = LevelCoding("none", length, None)
    rng = np.random.default_rng(0)
    clean, noise = (spectrum.to_spectrum(jnp.asarray(rng.normal(size=(length, 2)))) for _ in "ab")
    t = jnp.asarray(0.4)
    state = jax.tree.map(lambda x, e: VP.alpha(t) * x + VP.sigma(t) * e, clean, noise)
    guide = conditioning.guide(lambda rows, t: 0.3 - 0.1 * rows, VP, coding)
    found = guide(lambda state, t: Prediction(noise, clean))(state, t)
    again = jax.tree.map(lambda x, e: VP.alpha(t) * x + VP.sigma(t) * e, found.clean, found.noise)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12), again, state)
