"""Wiener coordinates: every bin its own clock (DESIGN: z, θ and the velocity u)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from pacodi_jax.core import diffusion, level, schedule, spectrum, wiener
from pacodi_jax.types import Prediction, Quadratures
from tests.core.gaussian import asymmetric, circulant
from tests.core.strategies import CHANNELS, DTYPES, LENGTHS, MODEST, SEEDS, draw_window, tolerance

VP = schedule.vp()


def _case(length: int, t: float, law: Quadratures | None = None):
    """Noisy state, its true noise and clean parts, and moments that fit neither mean nor scale."""
    law = spectrum.noise_variance(length) if law is None else law
    clean = spectrum.sample_noise(jax.random.key(0), law, 2)
    mean = spectrum.sample_noise(jax.random.key(1), law, 2)
    variance = jax.tree.map(lambda x: 0.1 + x**2, spectrum.sample_noise(jax.random.key(2), law, 2))
    noisy, noise = diffusion.perturb(jax.random.key(3), VP, clean, t, law)
    coordinates = (VP.alpha(t), VP.sigma(t), wiener.Moments(mean, variance), law)
    return noisy, Prediction(noise, clean), coordinates


def _spread(x: jax.Array) -> jax.Array:
    return 0.1 + x**2


def _assert_close(a: Quadratures, b: Quadratures, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(a.real, b.real, atol=tolerance)
    np.testing.assert_allclose(a.imag, b.imag, atol=tolerance)


@pytest.mark.parametrize("length", [8, 9])
def test_z_and_back_is_the_state(x64, length):
    noisy, _, coordinates = _case(length, 0.3)
    live = jax.tree.map(lambda v: v > 0, coordinates[-1])
    back = wiener.from_z(wiener.to_z(noisy, *coordinates), *coordinates)
    expected = jax.tree.map(jnp.where, live, noisy, coordinates[2].mean)
    _assert_close(back, expected)


@MODEST
@given(SEEDS, LENGTHS, CHANNELS, DTYPES)
def test_every_live_slot_comes_back_from_its_coordinates(seed, length, channels, dtype):
    with jax.enable_x64(dtype == np.float64):

        @jax.jit
        def there_and_back(window: jax.Array) -> tuple[Quadratures, Quadratures]:
            law, state = spectrum.noise_variance(length), spectrum.to_spectrum(window)
            mean, variance = (jax.tree.map(f, state) for f in (lambda x: -0.7 * x, _spread))
            moments = wiener.Moments(mean, variance)
            here = (VP.alpha(0.3), VP.sigma(0.3), moments, law)
            return state, wiener.from_z(wiener.to_z(state, *here), *here)

        state, back = there_and_back(draw_window(seed, length, channels, dtype))
        scale = max(float(jnp.abs(part).max()) for part in state)
        assert back.real.dtype == dtype
        # Dead slots hold m, which is 0 there, as is the spectrum of a real window.
        _assert_close(back, state, 10 * tolerance(dtype) * max(scale, 1.0))


@pytest.mark.parametrize("length", [8, 9])
def test_velocity_and_prediction_are_inverse_to_each_other(x64, length):
    noisy, truth, coordinates = _case(length, 0.3)
    moments, law = coordinates[2:]
    theta, z = wiener.angle(*coordinates), wiener.to_z(noisy, *coordinates)
    velocity = wiener.velocity(truth, theta, moments, law)
    again = wiener.predict(z, velocity, theta, moments, law)
    _assert_close(again.noise, truth.noise)
    live = jax.tree.map(lambda v: v > 0, law)
    _assert_close(again.clean, jax.tree.map(jnp.where, live, truth.clean, moments.mean))


def test_velocity_is_the_slope_of_z_in_the_angle(x64):
    _, truth, coordinates = _case(9, 0.3)
    moments, law = coordinates[2:]

    def at(t: jax.Array) -> tuple[Quadratures, Quadratures]:
        here = (VP.alpha(t), VP.sigma(t), moments, law)
        state = diffusion.marginal(truth.clean, truth.noise, *here[:2])
        return wiener.to_z(state, *here), wiener.angle(*here)

    slopes = jax.jvp(at, (jnp.asarray(0.3),), (jnp.asarray(1.0),))[1]
    velocity = wiener.velocity(truth, wiener.angle(*coordinates), moments, law)
    live = jax.tree.map(lambda v: v > 0, law)
    rate = jax.tree.map(
        lambda dz, da, on: jnp.where(on, dz / jnp.where(on, da, 1), 0), *slopes, live
    )
    _assert_close(rate, velocity, 1e-10)


@pytest.mark.parametrize("length", [8, 9])
@pytest.mark.parametrize("t", [1e-4, 0.05, 0.5, 1.0])
def test_zero_velocity_is_the_exact_denoiser_of_a_circulant_process(x64, length, t):
    process = circulant(length)
    state = spectrum.sample_noise(jax.random.key(0), process.variance, 2)
    here = (VP.alpha(t), VP.sigma(t), process.moments(), process.variance)
    exact = process.denoiser(VP)(state, jnp.asarray(t))
    velocity = wiener.velocity(exact, wiener.angle(*here), *here[2:])
    _assert_close(velocity, jax.tree.map(jnp.zeros_like, velocity), 1e-10)
    guess = wiener.predict(wiener.to_z(state, *here), velocity, wiener.angle(*here), *here[2:])
    _assert_close(guess.clean, exact.clean, 1e-10)


def test_velocity_is_not_zero_where_slots_are_correlated(x64):
    process = asymmetric(8)
    state = spectrum.sample_noise(jax.random.key(0), process.variance, 2)
    here = (VP.alpha(0.3), VP.sigma(0.3), process.moments(), process.variance)
    exact = process.denoiser(VP)(state, jnp.asarray(0.3))
    velocity = wiener.velocity(exact, wiener.angle(*here), *here[2:])
    assert float(jnp.abs(velocity.real).max()) > 0.05


@pytest.mark.parametrize("length", [8, 9])
def test_noise_loss_weighs_the_velocity_by_the_squared_cosine(x64, length):
    noisy, truth, coordinates = _case(length, 0.3)
    moments, law = coordinates[2:]
    theta, z = wiener.angle(*coordinates), wiener.to_z(noisy, *coordinates)
    target = wiener.velocity(truth, theta, moments, law)
    guess = spectrum.sample_noise(jax.random.key(9), law, 2)
    predicted = wiener.predict(z, guess, theta, moments, law).noise
    weighted = jax.tree.map(lambda u, a: jnp.cos(a) * u, guess, theta)
    aim = jax.tree.map(lambda u, a: jnp.cos(a) * u, target, theta)
    loss = diffusion.noise_loss(predicted, truth.noise, law)
    assert float(loss) == pytest.approx(float(diffusion.slot_loss(weighted, aim, law)), rel=1e-10)


def test_zero_network_scores_one_a_slot_on_the_fitted_data(x64):
    process, count = circulant(8), 4000
    spread = jnp.sqrt(jnp.diag(process.law.covariance))
    draws = jax.random.normal(jax.random.key(0), (count, spread.size)) * spread + process.law.mean
    clean = jax.vmap(process.unravel)(draws)
    moments, law = wiener.fit(clean), process.variance

    def loss(key: jax.Array, clean: Quadratures) -> jax.Array:
        _, noise = diffusion.perturb(key, VP, clean, 0.3, law)
        theta = wiener.angle(VP.alpha(0.3), VP.sigma(0.3), moments, law)
        target = wiener.velocity(Prediction(noise, clean), theta, moments, law)
        return diffusion.slot_loss(jax.tree.map(jnp.zeros_like, target), target, law)

    losses = jax.vmap(loss)(jax.random.split(jax.random.key(1), count), clean)
    assert float(losses.mean()) == pytest.approx(1.0, abs=0.03)


def test_velocity_from_both_estimates_keeps_single_precision():
    """At cos θ = 1e-4 recovering u from ε̂ alone would leave no digit; both estimates keep five."""
    process = circulant(8)
    moments, law = process.moments(), process.variance
    theta = jax.tree.map(lambda v: jnp.full((5, 2), jnp.pi / 2 - 1e-4) * (v > 0), law)
    live = jax.tree.map(lambda v: (v > 0).astype(jnp.float32), law)
    z, u = (spectrum.sample_noise(jax.random.key(k), live, 2) for k in (0, 1))
    again = wiener.velocity(wiener.predict(z, u, theta, moments, law), theta, moments, law)
    # x̂₀ − m is formed in single precision beside m: its error is that of m over √v.
    worst = max(float(jnp.abs(a - b).max()) for a, b in zip(again, u, strict=True))
    assert worst < 1e-4


def test_fit_takes_moments_of_train_and_floors_empty_bins(x64):
    random = np.random.default_rng(0)
    real = random.normal(2.0, 3.0, (500, 5, 2))
    real[:, 4] = 7.0
    spectra = Quadratures(jnp.asarray(real), jnp.zeros((500, 5, 2)))
    moments = wiener.fit(spectra, floor=1e-3)
    np.testing.assert_allclose(moments.mean.real, real.mean(0), rtol=1e-12)
    np.testing.assert_allclose(moments.variance.real[:4], real.var(0)[:4], rtol=1e-12)
    lowest = 1e-3 * 0.5 * real.var(0).mean(0)
    np.testing.assert_allclose(moments.variance.real[4], lowest, rtol=1e-12)
    np.testing.assert_allclose(moments.variance.imag, np.broadcast_to(lowest, (5, 2)), rtol=1e-12)


def test_start_has_the_diagonal_law_of_the_noisy_data(x64):
    process = circulant(8)
    alpha, sigma = VP.alpha(0.3), VP.sigma(0.3)
    keys = jax.random.split(jax.random.key(0), 20_000)
    draws = jax.vmap(
        lambda key: wiener.start(key, alpha, sigma, process.moments(), process.variance)
    )(keys)
    z = jax.vmap(lambda x: wiener.to_z(x, alpha, sigma, process.moments(), process.variance))(draws)
    for part, law in zip(z, process.variance, strict=True):
        expected = np.broadcast_to(np.asarray(law) > 0, (5, 2)).astype(float)
        np.testing.assert_allclose(part.var(0), expected, atol=5 * np.sqrt(2 / 20_000))
        np.testing.assert_allclose(part.mean(0), 0, atol=5 / np.sqrt(20_000))


def test_dead_slots_stay_at_the_mean_and_live_statistic_slots_move(x64):
    for law, dead in ((spectrum.noise_variance(8), [0, 4]), (level.noise_variance(8), [4])):
        noisy, truth, coordinates = _case(8, 0.3, law)
        moments = coordinates[2]
        theta, z = wiener.angle(*coordinates), wiener.to_z(noisy, *coordinates)
        velocity = wiener.velocity(truth, theta, moments, law)
        for part in (theta, z, velocity):
            still = np.flatnonzero((np.asarray(part.imag) == 0).all(axis=1)).tolist()
            assert still == dead
        back = wiener.from_z(z, *coordinates)
        np.testing.assert_array_equal(
            np.asarray(back.imag)[dead], np.asarray(moments.mean.imag)[dead]
        )


@pytest.mark.parametrize("length", [8, 9])
def test_pace_is_the_speed_of_each_clock_in_log_snr(x64, length):
    """dθ/dλ by differences in λ = log(α/σ) of the schedule's own α and σ, over the live mean."""
    _, _, (_, _, moments, law) = _case(length, 0.3)

    def theta(log_snr: float) -> Quadratures:
        sigma = jnp.sqrt(jax.nn.sigmoid(-2 * log_snr))
        return wiener.angle(jnp.sqrt(1 - sigma**2), sigma, moments, law)

    here, step = 0.4, 1e-5
    pair = theta(here + step), theta(here - step)
    speed = jax.tree.map(lambda a, b: jnp.abs(a - b) / (2 * step), *pair)
    live = spectrum.live(law)
    slots = sum(float(m.sum()) for m in live) * speed.real.shape[1]
    mean = sum(float(x.sum()) for x in speed) / slots
    _assert_close(wiener.pace(theta(here), law), jax.tree.map(lambda x: x / mean, speed), 1e-4)


@pytest.mark.parametrize(("alpha", "sigma"), [(0.0, 1.0), (1.0, 0.0)])
def test_pace_is_one_where_every_clock_stands_still(x64, alpha, sigma):
    _, _, (_, _, moments, law) = _case(8, 0.3)
    theta = wiener.angle(jnp.asarray(alpha), jnp.asarray(sigma), moments, law)
    pace = wiener.pace(theta, law)
    _assert_close(pace, jax.tree.map(lambda m: jnp.tile(m, 2), spectrum.live(law)), 1e-6)
