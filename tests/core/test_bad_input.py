"""Bad input is refused in one line that names the argument, its value and what is accepted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core import calibration, diffusion, level, schedule, spectrum, wiener
from pacodi_jax.core.schedule import SCHEDULES
from pacodi_jax.core.solvers import SOLVERS, draw, time_grid
from pacodi_jax.errors import PacodiError
from pacodi_jax.types import Quadratures
from tests.core.gaussian import asymmetric

VP = schedule.vp()
HALF = Quadratures(jnp.zeros((5, 2)), jnp.zeros((5, 2)))
WIDE = Quadratures(jnp.zeros((5, 3)), jnp.zeros((5, 3)))
KEY, LAW = jax.random.key(0), spectrum.noise_variance(8)
VARIED = jnp.stack([jnp.arange(15.0).reshape(3, 5), jnp.ones((3, 5))], axis=-1)
HOLED = np.ones((8, 2), np.float32)
HOLED[3, 1] = np.nan


def _draw(start: Quadratures = HALF, times=(1.0, 0.5, 0.1)) -> Quadratures:
    process = asymmetric(8)
    rule, denoiser = SOLVERS["ddim"](), process.denoiser(VP)
    return draw(rule, denoiser, VP, process.variance, jax.random.key(0), start, np.asarray(times))


CASES = {
    "a NaN in a window": (
        lambda: spectrum.to_spectrum(HOLED),
        ["series", "nan", "(3, 1)", "finite"],
    ),
    "a window without channels": (
        lambda: spectrum.to_spectrum(np.ones(8)),
        ["series", "(8,)", "(L, C)"],
    ),
    "a batch where one window is expected": (
        lambda: spectrum.to_spectrum(np.ones((3, 8, 2))),
        ["series", "(3, 8, 2)", "(L, C)", "vmap"],
    ),
    "an empty window": (
        lambda: spectrum.to_spectrum(np.ones((0, 2))),
        ["length=0", "1, 2, 3"],
    ),
    "a spectrum of another length": (
        lambda: spectrum.to_series(HALF, 24),
        ["spectrum", "5 bins", "13", "L // 2 + 1"],
    ),
    "parts of different shapes": (
        lambda: spectrum.to_series(HALF._replace(imag=jnp.zeros((5, 3))), 8),
        ["spectrum.real", "(5, 2)", "(5, 3)"],
    ),
    "a fractional length": (lambda: spectrum.noise_variance(2.5), ["length=2.5", "1, 2, 3"]),
    "a zero length": (lambda: spectrum.covariance(0), ["length=0", "1, 2, 3"]),
    "a band wider than the spectrum": (
        lambda: spectrum.keep_band(HALF, 6),
        ["keep=6", "5 bins", "1 to 5"],
    ),
    "a band that does not fit the window": (
        lambda: spectrum.pad_band(HALF, 4),
        ["band", "5 bins", "length=4", "3 bins"],
    ),
    "a clean state of another length": (
        lambda: diffusion.perturb(jax.random.key(0), VP, HALF, 0.5, spectrum.noise_variance(24)),
        ["clean", "5 bins", "13"],
    ),
    "a start of another length": (
        lambda: _draw(Quadratures(jnp.zeros((13, 2)), jnp.zeros((13, 2)))),
        ["start", "13 bins", "5"],
    ),
    "a start with a NaN": (
        lambda: _draw(HALF._replace(real=HALF.real.at[2, 0].set(jnp.nan))),
        ["start.real", "nan", "(2, 0)"],
    ),
    "a noise law of other channels": (
        lambda: spectrum.sample_noise(jax.random.key(0), HALF, 3),
        ["variance", "(5, 2)", "(K, 1)", "(K, 3)", "channels=3"],
    ),
    "a start of other channels than the noise law": (
        lambda: draw(
            SOLVERS["heun"](), asymmetric(8).denoiser(VP), VP, HALF, KEY, WIDE, np.array([1.0, 0.5])
        ),
        ["variance", "(5, 2)", "(K, 3)"],
    ),
    "moments of another length": (
        lambda: draw(
            SOLVERS["wiener_ab2"](asymmetric(12).moments()),
            asymmetric(8).denoiser(VP),
            VP,
            asymmetric(8).variance,
            KEY,
            HALF,
            np.array([1.0, 0.5]),
        ),
        ["moments", "(7, 2)", "(5, 2)"],
    ),
    "an angle grid with moments of another length": (
        lambda: time_grid(
            "angle", VP, 5, moments=asymmetric(12).moments(), variance=asymmetric(8).variance
        ),
        ["moments", "7 bins", "5"],
    ),
    "a batch of times for one window": (
        lambda: diffusion.perturb(KEY, VP, HALF, jnp.ones(2), spectrum.noise_variance(8)),
        ["t has shape (2,)", "one time", "vmap"],
    ),
    "forward times that fall": (
        lambda: diffusion.simulate_forward(
            KEY, VP, HALF, np.array([0.3, 0.1]), spectrum.noise_variance(8)
        ),
        ["times[0]=0.3", "times[1]=0.1", "increasing"],
    ),
    "forward times below zero": (
        lambda: diffusion.simulate_forward(
            KEY, VP, HALF, np.array([-0.1, 0.1]), spectrum.noise_variance(8)
        ),
        ["times", "-0.1", "[0, 1]"],
    ),
    "a forward start of another length": (
        lambda: diffusion.simulate_forward(
            KEY, VP, HALF, np.array([0.0, 0.1]), spectrum.noise_variance(24)
        ),
        ["clean", "5 bins", "13"],
    ),
    "times that rise": (
        lambda: _draw(times=(1.0, 0.2, 0.3)),
        ["times", "times[1]=0.2", "times[2]=0.3", "decreasing"],
    ),
    "times that stand still": (
        lambda: _draw(times=(1.0, 0.5, 0.5)),
        ["times[1]=0.5", "decreasing"],
    ),
    "times beyond one": (lambda: _draw(times=(1.5, 0.5)), ["times", "1.5", "(0, 1]"]),
    "times down to zero": (lambda: _draw(times=(1.0, 0.0)), ["times", "(0, 1]"]),
    "no times": (lambda: _draw(times=()), ["times", "empty"]),
    "no steps": (lambda: time_grid("uniform", VP, 0), ["steps=0", "1, 2, 3"]),
    "half a step": (lambda: time_grid("uniform", VP, 2.5), ["steps=2.5", "1, 2, 3"]),
    "an unknown time grid": (
        lambda: time_grid("logsnr", VP, 5),
        ["time grid='logsnr'", "uniform", "Did you mean 'log_snr'?"],
    ),
    "an angle grid without moments": (
        lambda: time_grid("angle", VP, 5),
        ["'angle'", "moments=", "variance="],
    ),
    "an unknown solver": (
        lambda: SOLVERS["hein"](),
        ["solver='hein'", "dpmpp_2m", "Did you mean 'heun'?"],
    ),
    "an unknown schedule": (
        lambda: SCHEDULES["cosin"](),
        ["schedule='cosin'", "vp", "Did you mean 'cosine'?"],
    ),
    "an unknown posterior variance": (
        lambda: SOLVERS["ancestral"]("smal"),
        ["posterior_variance='smal'", "large, small", "Did you mean 'small'?"],
    ),
    "an eta beyond one": (lambda: SOLVERS["ddim"](1.5), ["eta=1.5", "0 <= eta <= 1"]),
    "a falling beta": (lambda: schedule.vp(20.0, 0.1), ["beta_min=20.0", "beta_max=0.1"]),
    "a time below zero": (lambda: schedule.vp(t_min=0.0), ["t_min=0.0", "0 < t_min"]),
    "an offset of one": (lambda: schedule.cosine(1.0), ["offset=1.0", "0 <= offset < 1"]),
    "no diffusion steps": (lambda: schedule.ddpm_linear(0), ["steps=0", "1, 2, 3"]),
    "half a diffusion step": (lambda: schedule.ddpm_linear(2.5), ["steps=2.5", "1, 2, 3"]),
    "falling DDPM noise": (
        lambda: schedule.ddpm_linear(10, 0.02, 1e-4),
        ["first=0.02", "last=0.0001", "0 < first <= last < 1"],
    ),
    "no discrete steps": (lambda: schedule.discrete_betas(VP, 0), ["steps=0", "1, 2, 3"]),
    "one window where many are fitted": (
        lambda: level.fit(jnp.ones((8, 2))),
        ["windows", "(8, 2)", "(N, L, C)"],
    ),
    "a floor of zero": (lambda: level.fit(jnp.ones((3, 8, 2)), 0.0), ["floor=0.0", "positive"]),
    "a NaN in the windows that are fitted": (
        lambda: level.fit(jnp.asarray(HOLED)[None]),
        ["windows", "nan", "(0, 3, 1)"],
    ),
    "moments with a floor of zero": (
        lambda: wiener.fit(jax.tree.map(lambda x: x[None], HALF), 0.0),
        ["floor=0.0", "positive"],
    ),
    "moments of a NaN": (
        lambda: wiener.fit(jax.tree.map(lambda x: x[None] + jnp.nan, HALF)),
        ["spectra.real", "nan", "(0, 0)"],
    ),
    "moments of a constant channel": (
        lambda: wiener.fit(Quadratures(VARIED, jnp.zeros_like(VARIED))),
        ["spectra", "channel 1", "constant"],
    ),
    "a predicted noise of other channels": (
        lambda: diffusion.noise_loss(HALF._replace(imag=jnp.zeros((5, 1))), HALF, LAW),
        ["predicted and noise", "'imag'", "(5, 1) != (5, 2)"],
    ),
    "a predicted velocity without its imaginary part": (
        lambda: diffusion.slot_loss(HALF.real, HALF, LAW),
        ["predicted and target", "do not match"],
    ),
    "a calibration of another length": (
        lambda: calibration.apply(calibration.identity(13, 2), HALF),
        ["calibration and spectrum", "(13, 2) != (5, 2)"],
    ),
    "draws of other channels than train": (
        lambda: calibration.fit(*(jax.tree.map(lambda x: x[None], x) for x in (HALF, WIDE))),
        ["train and drawn", "(5, 2) != (5, 3)"],
    ),
    "moments of one spectrum": (lambda: wiener.fit(HALF), ["spectra", "(5, 2)", "(N, K, C)"]),
}


@pytest.mark.parametrize("case", CASES)
def test_refusal_names_argument_value_and_what_is_accepted(case):
    mistake, words = CASES[case]
    with pytest.raises(PacodiError) as refusal:
        mistake()
    message = str(refusal.value)
    for word in words:
        assert word in message, f"{word!r} is missing in: {message}"
    assert "\n" not in message


def test_values_are_not_looked_at_under_jit():
    traced = jax.jit(spectrum.to_spectrum)(HOLED)
    assert np.isnan(traced.real[:, 1]).all()
    assert np.isfinite(traced.real[:, 0]).all()


def test_shapes_are_checked_under_jit_too():
    with pytest.raises(PacodiError, match="spectrum has 5 bins where 13 are expected"):
        jax.jit(lambda half: spectrum.to_series(half, 24))(HALF)
