"""A Gaussian mixture whose modes differ in phase: real and imaginary parts are coupled."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import schedule, spectrum, wiener
from pacodi_jax.core.solvers import SOLVERS, draw, time_grid
from pacodi_jax.types import Denoiser, Quadratures
from tests.core.gaussian import Process, asymmetric, from_windows

VP = schedule.vp()
LENGTH = 8
WEIGHTS = np.array([0.2, 0.3, 0.5])


def _modes() -> list[Process]:
    """Three waves of one frequency and three phases, with one correlated spread."""
    spread = np.asarray(asymmetric(LENGTH, 1, 0.01, 0.2).law.covariance)
    phases = 2 * np.pi * np.array([0.1, 0.35, 0.6])
    waves = np.cos(2 * np.pi * np.arange(LENGTH) / LENGTH + phases[:, None])
    plain = [from_windows(2.0 * wave, np.eye(LENGTH), LENGTH, 1) for wave in waves]
    return [mode._replace(law=mode.law._replace(covariance=jnp.asarray(spread))) for mode in plain]


def _shares(modes: list[Process], state: Quadratures, t: jax.Array) -> jax.Array:
    """The probability of each mode given a noisy state."""
    logs = jnp.stack([mode.log_density(VP)(state, t) for mode in modes])
    return jax.nn.softmax(logs + jnp.log(WEIGHTS))


def _mixture_denoiser(modes: list[Process]) -> Denoiser:
    singles = [mode.denoiser(VP) for mode in modes]

    def denoise(state, t):
        shares = _shares(modes, state, t)
        predictions = [single(state, t) for single in singles]
        return jax.tree.map(
            lambda *parts: sum(w * p for w, p in zip(shares, parts, strict=True)), *predictions
        )

    return denoise


def _moments(modes: list[Process]) -> wiener.Moments:
    means = np.stack([np.asarray(mode.law.mean) for mode in modes])
    mean = WEIGHTS @ means
    variance = np.diag(modes[0].law.covariance) + WEIGHTS @ (means - mean) ** 2
    pair = [modes[0].unravel(jnp.asarray(part)) for part in (mean, np.maximum(variance, 1e-6))]
    return wiener.Moments(*pair)


def test_modes_couple_real_and_imaginary_parts():
    modes = _modes()
    means = np.stack([np.asarray(mode.law.mean) for mode in modes])
    centred = means - WEIGHTS @ means
    between = (WEIGHTS[:, None] * centred).T @ centred + np.asarray(modes[0].law.covariance)
    bins = spectrum.bin_count(LENGTH)
    real, imag = 1, bins + 1
    share = between[real, imag] / np.sqrt(between[real, real] * between[imag, imag])
    assert abs(share) > 0.1


@pytest.mark.parametrize("name", ["dpmpp_2m", "sde_dpmpp_2m", "wiener_ab2"])
def test_exact_score_sampling_recovers_the_mode_weights(name):
    modes, count = _modes(), 100_000
    moments = _moments(modes)
    rule = SOLVERS[name](moments) if name == "wiener_ab2" else SOLVERS[name]()
    denoiser, law = _mixture_denoiser(modes), modes[0].variance
    times = time_grid("log_snr", VP, 40)

    def classify(key: jax.Array) -> jax.Array:
        first, then = jax.random.split(key)
        start = spectrum.sample_noise(first, law, 1)
        clean = draw(rule, denoiser, VP, law, then, start, times)
        return jnp.argmax(_shares(modes, clean, jnp.asarray(VP.t_min)))

    found = jax.jit(jax.vmap(classify))(jax.random.split(jax.random.key(0), count))
    shares = np.bincount(np.asarray(found), minlength=3) / count
    np.testing.assert_allclose(shares, WEIGHTS, rtol=0.02)
