"""Diffusion-TS: the sizes, weights and layers of its release, its samplers, and that it learns."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pacodi_jax import models
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.diffusion_ts import objective, schedule
from pacodi_jax.models.diffusion_ts.generator import DiffusionTS, prepare, run
from pacodi_jax.models.diffusion_ts.network import Network, kept_bins, season, time_code
from pacodi_jax.models.diffusion_ts.settings import Diffusion, DiffusionTSSettings, Sampling
from pacodi_jax.models.diffusion_ts.settings import Network as Size
from pacodi_jax.settings import Config
from tests.models.learning import distances, learned

TINY = Size(width=8, heads=2, encoders=1, decoders=2)


@functools.cache
def _generator(training=None, width=0, **sampling) -> tuple[DiffusionTS, dict]:
    """A tiny generator with random weights, on windows of 6 steps and 2 channels."""
    settings = DiffusionTSSettings(TINY, Diffusion(steps=20), Sampling(**sampling))
    rng = np.random.default_rng(0)
    windows = rng.normal(size=(50, 6, 2)).astype(np.float32)
    condition = rng.normal(size=(50, width)).astype(np.float32) if width else None
    arrays = prepare(settings, windows, condition)
    generator = DiffusionTS(settings, models.Shape(6, 2, width), arrays, training)
    return generator, jax.jit(generator.first_params)(jax.random.key(0))


@pytest.mark.parametrize(
    ("channels", "encoders", "decoders", "width", "counts"),
    [
        (7, 3, 2, 64, {24: 353_531, 64: 373_611, 128: 432_363, 256: 648_171}),
        (6, 2, 2, 64, {24: 294_390}),
        (5, 1, 2, 64, {24: 235_249}),
        (28, 4, 3, 96, {24: 1_139_752}),
        (13, 3, 2, 64, {24: 359_321}),
    ],
)
def test_the_parameters_are_those_of_the_release(channels, encoders, decoders, width, counts):
    network = Network(channels, width, 4, encoders, decoders)
    for length, count in counts.items():
        shapes = jax.eval_shape(
            network.init, jax.random.key(0), jnp.zeros((1, length, channels)), jnp.zeros(1)
        )
        assert sum(leaf.size for leaf in jax.tree.leaves(shapes)) == count


def test_the_default_is_the_authors_network_on_etth1():
    config = Config.default("diffusion_ts")
    model, train = config.family.model, config.train
    assert (model.width, model.heads, model.encoders, model.decoders) == (64, 4, 3, 2)
    assert (train.updates, train.warmup_updates, train.batch) == (18_000, 500, 256)
    assert train.learning_rate * train.final_rate == pytest.approx(1e-5)


def test_the_weights_of_the_loss_are_those_of_500_steps():
    weight = schedule.cosine(500).loss_weight
    wanted = {0: 1.07, 20: 1.61, 125: 1.48, 250: 1.13, 375: 0.61, 450: 0.25}
    for step, value in wanted.items():
        assert weight[step] == pytest.approx(value, abs=0.005)
    assert weight[499] == pytest.approx(3e-4, abs=5e-5)


def test_the_kept_bins_follow_the_length():
    lengths = (24, 48, 64, 96, 128, 192, 256)
    assert [kept_bins(length) for length in lengths] == [2, 3, 3, 3, 4, 4, 4]


@pytest.mark.parametrize(("length", "found"), [(24, 5), (25, 12)])
def test_the_season_of_a_cosine_has_its_amplitude_times_the_length(length, found):
    wave = np.cos(2 * np.pi * found * np.arange(length) / length + 0.4)
    np.testing.assert_allclose(season(jnp.asarray(wave[None])), length * wave[None], atol=1e-4)


@pytest.mark.parametrize("length", [24, 25])
def test_the_season_is_the_sum_of_the_largest_bins(length):
    x = np.random.default_rng(0).normal(size=(5, length))
    spectrum = np.fft.rfft(x)[:, 1 : (length + 1) // 2]
    result = np.zeros_like(x)
    for row, bins in enumerate(np.argsort(-np.abs(spectrum))[:, : kept_bins(length)]):
        for k in bins:
            turn = 2 * np.pi * (k + 1) * np.arange(length) / length
            result[row] += 2 * np.abs(spectrum[row, k]) * np.cos(turn + np.angle(spectrum[row, k]))
    np.testing.assert_allclose(season(jnp.asarray(x)), result, rtol=1e-4, atol=1e-4)


def test_the_season_has_a_gradient_at_zero_and_short_windows_have_none():
    slope = jax.grad(lambda x: jnp.sum(season(x)))(jnp.zeros((2, 24)))
    assert np.isfinite(slope).all()
    np.testing.assert_array_equal(season(jnp.ones((2, 5))), 0)


def test_the_code_of_time_has_sines_first_and_the_slowest_rate_is_1e_4():
    code = time_code(jnp.array([3]), 8)[0]
    rates = 1e4 ** (-np.arange(4) / 3)
    np.testing.assert_allclose(code, [*np.sin(3 * rates), *np.cos(3 * rates)], rtol=1e-5)


def _is_rest(module, _):
    return module.name == "rest"


def test_without_trend_season_and_means_the_clean_window_is_the_rest():
    generator, params = _generator()
    zero = {"season": params["season"], "means": params["means"]}
    blocks = {k: v for k, v in params.items() if k.startswith("decoder_") and k[-1].isdigit()}
    silent = {k: v | {"trend": jax.tree.map(jnp.zeros_like, v["trend"])} for k, v in blocks.items()}
    params = params | jax.tree.map(jnp.zeros_like, zero) | silent
    x = jax.random.normal(jax.random.key(1), (3, 6, 2))

    @jax.jit
    def apply(x, t):
        return generator.network.apply({"params": params}, x, t, capture_intermediates=_is_rest)

    parts, seen = apply(x, jnp.array([0, 5, 19]))
    (rest,) = seen["intermediates"]["rest"]["__call__"]
    np.testing.assert_allclose(parts.clean, rest, atol=1e-6)
    np.testing.assert_array_equal(parts.season, 0)
    assert np.abs(rest).max() > 0.1


@pytest.mark.parametrize("length", [8, 9])
def test_the_error_counts_all_bins_of_the_complex_transform(length):
    a, b = np.random.default_rng(0).normal(size=(2, 3, length, 2))
    gap = np.fft.fft(a - b, axis=1, norm="forward")
    wanted = np.abs(a - b) + np.sqrt(length) / 5 * (np.abs(gap.real) + np.abs(gap.imag))
    np.testing.assert_allclose(
        objective.error(jnp.asarray(a), jnp.asarray(b)), wanted.mean((1, 2)), rtol=1e-5
    )
    plain = objective.error(jnp.asarray(a), jnp.asarray(b), fourier=False)
    np.testing.assert_allclose(plain, np.abs(a - b).mean((1, 2)), rtol=1e-5)


def test_ancestral_steps_draw_from_the_posterior_and_end_without_noise():
    process = schedule.cosine(50)
    path = schedule.path(process, 0)
    np.testing.assert_array_equal(path.time, np.arange(50)[::-1])
    # The posterior keeps the marginal: a x0 + b x has mean √ᾱ' x0 and variance 1 − ᾱ' with noise.
    before = np.append(process.alpha_bar[::-1][1:], 1.0)
    mean = path.from_clean + path.from_state * np.sqrt(path.alpha_bar)
    np.testing.assert_allclose(mean, np.sqrt(before), rtol=1e-9)
    variance = path.from_state**2 * (1 - path.alpha_bar) + path.spread**2
    np.testing.assert_allclose(variance, 1 - before, atol=1e-12)
    assert path.spread[-1] == 0


@pytest.mark.parametrize("steps", [0, 1, 7, 50])
def test_every_path_ends_at_the_clean_estimate(steps):
    path = schedule.path(schedule.cosine(50), steps)
    assert len(path.time) == (steps or 50)
    start = jax.random.normal(jax.random.key(0), (4, 1))
    drawn = run(path, lambda x, t: 0.3 + 0 * x, jax.random.key(1), start)
    np.testing.assert_allclose(drawn, 0.3, atol=1e-5)


def test_fewer_steps_are_ddim_on_times_cut_to_whole_numbers():
    process = schedule.cosine(500)
    path = schedule.path(process, 200)
    times = np.linspace(-1, 499, 201).astype(int)
    np.testing.assert_array_equal(path.time, times[:0:-1])
    assert not path.spread.any()
    x, clean, (now, then) = 0.7, -0.2, process.alpha_bar[[path.time[9], path.time[10]]]
    noise = (x / np.sqrt(now) - clean) / np.sqrt(1 / now - 1)
    moved = path.from_clean[9] * clean + path.from_state[9] * x
    assert moved == pytest.approx(np.sqrt(then) * clean + np.sqrt(1 - then) * noise)


def test_the_average_copies_then_counts_every_tenth_update():
    training = models.Training(lambda **changes: optax.identity(), 4, 0.995, 0.1, 100)
    generator, _ = _generator(training)
    decays = {s: float(generator.ema_decay(jnp.int32(s - 1))) for s in (1, 100, 101, 110, 5000)}
    assert decays[1] == decays[100] == 0
    assert decays[101] == 1
    assert decays[110] == pytest.approx(1 - 10 ** (-2 / 3))
    assert decays[5000] == pytest.approx(0.995)


def test_windows_of_any_scale_lie_between_minus_one_and_one_for_the_network():
    generator, _ = _generator()
    windows = np.random.default_rng(0).normal(size=(50, 6, 2)).astype(np.float32)
    scaled = generator.scaled(windows)
    np.testing.assert_allclose(scaled.min((0, 1)), -1, atol=1e-6)
    np.testing.assert_allclose(scaled.max((0, 1)), 1, atol=1e-6)
    np.testing.assert_allclose(generator.unscaled(scaled), windows, atol=1e-6)


def test_a_condition_moves_the_clean_window_and_guidance_is_clamped():
    generator, params = _generator(width=3, steps=4)
    x, t = jax.random.normal(jax.random.key(1), (6, 2)), jnp.int32(10)
    told = jnp.array([1.0, -2.0, 0.5])

    def clean(condition, guidance):
        sampling = dataclasses.replace(generator.sampling, guidance=guidance)
        return jax.jit(generator.denoiser(sampling, params, condition))(x, t)

    null, bound = clean(None, 1.0), clean(told, 1.0)
    assert float(jnp.abs(null - bound).max()) > 1e-3
    np.testing.assert_array_equal(clean(told, 0.0), null)
    parts = jax.jit(generator.parts)
    loose = [parts(params, x, t, c).clean for c in (None, told)]
    np.testing.assert_allclose(
        clean(told, 30.0), jnp.clip(loose[0] + 30 * (loose[1] - loose[0]), -1, 1), atol=1e-5
    )
    assert generator.facts().evaluations == 4
    assert generator.facts(guidance=2.0).evaluations == 8


def test_a_dropped_condition_is_the_null_condition():
    generator, params = _generator(width=3)
    x, t = jnp.ones((2, 6, 2)), jnp.array([3, 3])
    told, drop = jnp.ones((2, 3)), jnp.array([True, False])

    @jax.jit
    def apply(*rest):
        return generator.network.apply({"params": params}, x, t, *rest).clean

    mixed, null, bound = apply(told, drop), apply(), apply(told)
    np.testing.assert_allclose(mixed[0], null[0], atol=1e-6)
    np.testing.assert_allclose(mixed[1], bound[1], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [("model.heads", 5), ("model.width", 7), ("sample.steps", 501), ("diffusion.steps", 1)],
)
def test_impossible_settings_are_refused_by_name(name, value):
    with pytest.raises(PacodiError, match=name.replace(".", r"\.")):
        Config.default("diffusion_ts").changed({name: value})


def test_it_learns(tmp_path):
    """Validation falls; samples are at most half as far as shuffled windows."""
    config = Config.default("diffusion_ts", "tiny").changed(
        {
            "train.steps": 600,
            "train.batch": 32,
            "train.learning_rate": 4e-3,
            "train.decay": "cosine",
            "train.validate_every": 30,
            "sample.steps": 50,
        }
    )
    outcome, scores = learned(config, tmp_path)
    assert scores[-1] < 0.8 * scores[0]
    made, surrogate = distances(outcome)
    assert made < 0.5 * surrogate
