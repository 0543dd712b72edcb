"""TimeVAE: its sizes, its blocks, its loss, its scaler, and that it learns."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pacodi_jax import models, parallel
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import min_max
from pacodi_jax.models.min_max import MinMax
from pacodi_jax.models.timevae import generator as timevae
from pacodi_jax.models.timevae.networks import Autoencoder, Decoder, Double, Encoder, Halve
from pacodi_jax.settings import Config
from pacodi_jax.train.from_config import train
from tests.models import rivals

FAST = {"train.steps": 1000, "train.learning_rate": 3e-3}

#: Parameters of the authors' defaults at L = 24, 64, 128 and 256.
COUNTS = {
    7: (196_134, 393_894, 1_036_454, 3_525_798),
    6: (188_298, 340_258, 823_010, 2_673_250),
    5: (181_616, 294_816, 642_336, 1_951_776),
    13: (267_384, 887_784, 3_005_288, 11_393_640),
}


def _network(length, channels, filters=(50, 100, 200), latent=8, width=0, **parts):
    blocks = {"trend_poly": 0, "seasons": (), "residual": True} | parts
    decoder = Decoder(length, channels, filters, **blocks)
    return Autoencoder(Encoder(latent, filters), decoder, width)


def _count(network, length, channels, latent=8) -> int:
    arguments = np.zeros((1, length, channels), np.float32), np.zeros((1, latent), np.float32)
    made = jax.eval_shape(network.init, jax.random.key(0), *arguments)
    return sum(leaf.size for leaf in jax.tree.leaves(made))


@pytest.mark.parametrize("channels", COUNTS)
def test_parameters_are_those_of_the_release(channels):
    lengths = (24, 64, 128, 256)
    assert tuple(_count(_network(n, channels), n, channels) for n in lengths) == COUNTS[channels]


@pytest.mark.parametrize(("length", "expected"), [(48, 183_180), (96, 220_140)])
def test_parameters_of_one_channel(length, expected):
    assert _count(_network(length, 1), length, 1) == expected


@pytest.mark.parametrize("steps", [7, 8])
def test_halving_is_the_convolution_with_same_padding(steps):
    rng = np.random.default_rng(0)
    x, kernel = rng.normal(size=(2, steps, 3)), rng.normal(size=(3, 3, 4))
    params = {"params": {"kernel": kernel, "bias": np.arange(4.0)}}
    halved = Halve(4).apply(params, x)
    whole = nn.Conv(4, (3,), strides=2, padding="SAME").apply(params, x)
    np.testing.assert_allclose(halved, whole, atol=1e-5)


def test_doubling_is_the_transpose_of_halving():
    rng = np.random.default_rng(0)
    x, kernel = jnp.asarray(rng.normal(size=(2, 8, 3))), rng.normal(size=(3, 3, 4))
    slope = jnp.asarray(rng.normal(size=(2, 4, 4)))
    halve = {"params": {"kernel": kernel, "bias": np.zeros(4)}}
    double = {"params": {"kernel": np.swapaxes(kernel, 1, 2), "bias": np.zeros(3)}}
    transposed = jax.vjp(lambda x: Halve(4).apply(halve, x), x)[1](slope)[0]
    np.testing.assert_allclose(Double(3).apply(double, slope), transposed, atol=1e-5)


@pytest.mark.parametrize(("length", "expected"), [(24, 3), (100, 13)])
def test_the_encoder_ends_with_an_eighth_of_the_steps(length, expected):
    made = jax.eval_shape(
        Encoder(8, (50, 100, 200)).init,
        jax.random.key(0),
        np.zeros((1, length, 2), np.float32),
        np.zeros((1, 0), np.float32),
    )
    assert made["params"]["mean"]["kernel"].shape == (expected * 200, 8)


def _decoded(length=9, **parts) -> np.ndarray:
    network = _network(length, 2, (4, 8), residual=False, **parts)
    x, z = (
        np.ones((3, length, 2), np.float32),
        np.float32(np.random.default_rng(0).normal(size=(3, 8))),
    )
    params = jax.jit(network.init)(jax.random.key(1), x, z)
    return np.asarray(jax.jit(lambda *given: network.apply(*given, method="decode"))(params, z))


def test_the_level_alone_is_constant_in_time():
    made = _decoded()
    assert np.abs(made).max() > 0
    np.testing.assert_array_equal(made, np.broadcast_to(made[:, :1], made.shape))


def test_a_trend_of_degree_2_has_no_third_difference():
    made = _decoded(trend_poly=2)
    assert np.abs(np.diff(made, 2, axis=1)).max() > 1e-3
    np.testing.assert_allclose(np.diff(made, 3, axis=1), 0, atol=1e-5)


def test_seasons_repeat_and_last_as_long_as_they_are_told():
    made = _decoded(12, seasons=((3, 2),))
    np.testing.assert_array_equal(made[:, :6], made[:, 6:])
    np.testing.assert_array_equal(made[:, 0:6:2], made[:, 1:6:2])
    assert np.abs(made[:, 0] - made[:, 2]).max() > 1e-3


def test_seasons_of_a_file_are_those_of_a_command_line():
    made = Config.default("timevae").changed({"model.seasons": [[24, 1], [7, 24]]})
    assert made.family.model.seasons == ((24, 1), (7, 24))
    assert Config.default("timevae").parsed({"model.seasons": "24,1"}).family.model.seasons == (
        (24, 1),
    )
    for bad in ((24,), ((24, 0),), ("a", "b")):
        with pytest.raises(PacodiError, match=r"model\.seasons"):
            Config.default("timevae").changed({"model.seasons": bad})
    with pytest.raises(PacodiError, match=r"model\.filters"):
        Config.default("timevae").changed({"model.filters": ()})


def _windows(count: int = 16) -> np.ndarray:
    return np.float32(np.random.default_rng(0).normal(size=(count, 8, 2)))


@functools.cache
def _model(batch: int = 16, **changes):
    settings = timevae.TimeVAESettings(timevae.Networks(latent=4, filters=(4, 8), **changes))
    arrays = timevae.prepare(settings, _windows(), None)
    adam = parallel.average_gradients(optax.adam(1.0))
    training = models.Training(lambda: adam, batch, 0.0, 0.1, 1)
    return timevae.build(settings, models.Shape(8, 2), arrays, training)


@functools.cache
def _first(model):
    batch = models.Batch(jnp.asarray(_windows()), jnp.arange(16))
    return jax.jit(model.init)(jax.random.key(0), batch)


def _loss(model, params, key, batch):
    return jax.jit(lambda *given: model.loss(*given, 0.0))(params, key, batch)


def test_the_loss_of_a_doubled_batch_is_doubled():
    model, slots = _model(), jnp.arange(16)
    batch = models.Batch(jnp.asarray(_windows()), slots)
    twice = models.Batch(jnp.concatenate([batch.windows] * 2), jnp.concatenate([slots] * 2))
    params, key = _first(model).params, jax.random.key(1)
    one, two = (_loss(model, params, key, b) for b in (batch, twice))
    np.testing.assert_allclose(two, 2 * one, rtol=1e-5)


def test_the_loss_is_three_squares_of_values_and_of_channel_means_and_the_divergence():
    """A decoder of zeros and an encoder that says N(μ, σ²) with μ = 1, log σ² = 0."""
    model, windows = _model(), _windows()
    batch = models.Batch(jnp.asarray(windows), jnp.arange(16))
    params = jax.tree.map(jnp.zeros_like, _first(model).params)
    params["encoder"]["mean"]["bias"] = jnp.ones(4)
    x = np.asarray(model.scale.to_unit(windows))
    expected = 3 * ((x**2).sum() + (x.mean(-1) ** 2).sum()) + 0.5 * 16 * 4
    np.testing.assert_allclose(_loss(model, params, jax.random.key(0), batch), expected, rtol=1e-5)


def _stepped(model, devices: int):
    """The state after one step of the same 16 windows, spread over devices."""
    windows = jnp.asarray(_windows()).reshape(devices, -1, 8, 2)
    slots = jnp.arange(16).reshape(devices, -1)
    state = _first(model)

    def one(windows, slots):
        after, metrics = model.update(state, models.Batch(windows, slots))
        return after, parallel.average(metrics)

    after, metrics = jax.jit(jax.vmap(one, axis_name=parallel.AXIS))(windows, slots)
    return state, jax.tree.map(lambda leaf: leaf[0], after), metrics["loss"][0]


def test_a_step_does_not_depend_on_the_devices():
    (_, one, first), (_, two, second) = (_stepped(_model(), n) for n in (1, 2))
    np.testing.assert_allclose(first, second, rtol=1e-5)
    for a, b in zip(*map(jax.tree.leaves, (one.optimiser, two.optimiser)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_adams_epsilon_is_that_of_keras():
    """One step from gradients that are as small as ε: Adam moves by g/(|g| + 10⁻⁷)."""
    small = _model(reconstruction=1e-9)
    state, after, _ = _stepped(small, 1)
    batch = models.Batch(jnp.asarray(_windows()), jnp.arange(16))
    key = jax.random.fold_in(jax.random.wrap_key_data(state.key), 0)
    gradients = jax.jit(jax.grad(lambda p: small.loss(p, key, batch, 0.0)))(state.params)["decoder"]
    keras = optax.adam(1.0, eps=1e-7)
    moved = keras.update(gradients, keras.init(gradients))[0]
    steps = jax.tree.map(lambda a, b: a - b, after.params, state.params)["decoder"]
    sizes = np.concatenate([np.abs(x).ravel() for x in jax.tree.leaves(moved)])
    assert 0.01 < np.median(sizes[sizes > 0]) < 0.9  # where ε matters
    for a, b in zip(*map(jax.tree.leaves, (steps, moved)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_the_scaler_is_per_position_and_channel_and_comes_back():
    windows = _windows()
    scale = MinMax(**min_max.fit(windows, (0,)))
    unit = scale.to_unit(windows)
    assert scale.low.shape == (8, 2)
    np.testing.assert_allclose(unit.min(0), 0, atol=1e-6)
    np.testing.assert_allclose(unit.max(0), 1, atol=1e-6)
    np.testing.assert_allclose(scale.from_unit(unit), windows, atol=1e-5)


def test_it_learns():
    found = rivals.learn("timevae", rivals.waves(), **FAST)
    assert found.after < 0.5 * found.before
    assert found.distance < 0.6 * found.surrogate


def test_samples_follow_a_condition():
    """High and low windows under two labels; without a label windows of both kinds."""
    table = rivals.waves(1)
    table["kind"] = np.repeat(["low", "high"], len(table) // 2)
    table["c0"] = 0.2 * table["c0"] + np.where(table["kind"] == "high", 2.0, -2.0)
    table["who"] = np.repeat(np.arange(20), len(table) // 20)
    changes = {
        "data.length": 8,
        "data.id": "who",
        "data.static": "kind",
        "data.split": "series",
        "train.batch": 32,
    }
    changes |= FAST
    model = train(Config.default("timevae", "tiny").changed(changes), table=table).model
    means = [model.draw(50, static={"kind": kind}).values.mean() for kind in ("low", "high")]
    assert means[0] < -1 < 1 < means[1]
