"""T2S: its sizes, its latent, its blocks, its flow, and that its losses fall."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax import models
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.t2s import generator as t2s
from pacodi_jax.models.t2s.networks import Block, Decoder, Encoder, Flow, Residuals, resampled
from pacodi_jax.settings import Config
from tests.models import rivals

FAST = {"train.steps": 80, "train.batch": 8, "train.learning_rate": 3e-3}


def _made(module, *inputs):
    """Shapes of the parameters and of the result."""
    params = jax.eval_shape(module.init, jax.random.key(0), *inputs)
    count = sum(leaf.size for leaf in jax.tree.leaves(params))
    return count, jax.eval_shape(module.apply, params, *inputs).shape


@pytest.mark.parametrize("length", [24, 48, 96])
def test_the_autoencoder_has_the_size_of_the_release_and_one_latent_for_every_length(length):
    window = np.zeros((2, length, 1), np.float32)
    count, shape = _made(Encoder(128), window)
    assert (count, shape) == (352_896, (2, length // 4, 64))
    before = np.zeros(shape, np.float32)
    assert resampled(before, 30).shape == (2, 30, 64)
    assert _made(Decoder(128), before) == (319_937, window.shape)


def test_the_flow_has_the_size_of_the_release():
    latent = np.zeros((2, 30, 64), np.float32)
    assert _made(Flow(128, 4, 4), latent, np.zeros(2, np.float32)) == (925_592, latent.shape)


def test_interpolation_keeps_lines_and_ends():
    line = np.float32(3 + 2 * np.linspace(0, 1, 6))[None, :, None]
    found = resampled(line, 30)[0, :, 0]
    np.testing.assert_allclose(found, 3 + 2 * np.linspace(0, 1, 30), rtol=1e-5)


def test_an_untrained_block_returns_its_tokens():
    rng = np.random.default_rng(0)
    tokens = np.float32(rng.normal(size=(2, 5, 8)))
    code = np.float32(rng.normal(size=(2, 8)))
    params = jax.jit(Block(2).init)(jax.random.key(0), tokens, code)
    np.testing.assert_array_equal(jax.jit(Block(2).apply)(params, tokens, code), tokens)


def test_the_skip_of_a_residual_unit_adds_what_relu_left():
    """With narrow kernels of zero a unit is a ReLU: negative inputs are lost."""
    x = np.float32(np.random.default_rng(0).normal(size=(1, 5, 4)))
    params = jax.tree.map(jnp.zeros_like, jax.jit(Residuals().init)(jax.random.key(0), x))
    np.testing.assert_array_equal(jax.jit(Residuals().apply)(params, x), np.maximum(x, 0))


def _model(width: int):
    settings = t2s.T2SSettings(t2s.Networks(filters=4, width=16, depth=1, heads=2))
    windows = np.float32(np.random.default_rng(0).normal(size=(6, 8, 1)))
    arrays = t2s.prepare(settings, windows, None)
    model = t2s.build(settings, models.Shape(8, 1, width), arrays, None)
    shapes = {"encoder": (1, 8, 1), "decoder": (1, 2, 64)}
    weights = {
        name: jax.jit(model.networks[name].init)(jax.random.key(0), jnp.zeros(shape))["params"]
        for name, shape in shapes.items()
    }
    latent, zero = jnp.zeros((1, 30, 64)), jnp.zeros(1)
    flow = jax.jit(model.networks["flow"].init)(jax.random.key(0), latent, zero)["params"]
    weights["flow"] = jax.tree.map(lambda leaf: leaf + 0.05, flow)
    return model, weights


def test_guidance_0_is_the_unconditional_draw_and_others_cost_two_evaluations_per_step():
    model, weights = _model(5)
    text = 3 * jnp.ones((2, 5))
    key = jax.random.key(3)
    free = model.sample(key, weights, 2, steps=3)
    none, one, two = (
        model.sample(key, weights, 2, text, steps=3, guidance=scale) for scale in (0.0, 1.0, 2.0)
    )
    np.testing.assert_array_equal(free, none)
    assert np.abs(one - none).max() > 1e-4
    assert np.abs(two - one).max() > 1e-4
    evaluations = [model.facts(steps=3, guidance=scale).evaluations for scale in (0.0, 1.0, 2.0)]
    assert evaluations == [3, 3, 6]
    assert _model(0)[0].facts(steps=3).evaluations == 3


class _Straight:
    """The velocity of a flow whose clean latents are all the same."""

    def __init__(self, target):
        self.target = target

    def apply(self, _, latent, t, condition=None):
        return (self.target - latent) / (1 - t[:, None, None])


def test_euler_steps_of_a_known_flow_end_at_its_decoded_target():
    model, weights = _model(0)
    target = np.float32(np.random.default_rng(1).normal(size=(1, 30, 64)))
    known = replace(model, networks=model.networks | {"flow": _Straight(target)})
    decoder = model.networks["decoder"]
    made = decoder.apply({"params": weights["decoder"]}, resampled(target, 2))
    wanted = np.repeat(model.scale.from_unit(made), 3, axis=0)
    drawn = known.sample(jax.random.key(4), weights, 3, steps=4)
    np.testing.assert_allclose(drawn, wanted, rtol=1e-3, atol=1e-4)


def test_what_it_does_not_read_is_refused_by_name():
    settings = Config.default("t2s").family
    for shape, width, message in (
        ((5, 8, 2), None, "'t2s' reads one channel, the data have 2"),
        ((5, 10, 1), None, r"data\.length=10"),
        ((5, 8, 1), 200, r"conditions have 200 numbers.*text\.width"),
    ):
        condition = None if width is None else np.zeros((5, width))
        with pytest.raises(PacodiError, match=message):
            t2s.prepare(settings, np.zeros(shape), condition)
    with pytest.raises(PacodiError, match=r"model\.heads=3 must divide"):
        Config.default("t2s").changed({"model.heads": 3})


def test_both_losses_fall():
    """Too short a run for good samples; the sum of both losses on unseen windows falls."""
    found = rivals.learn("t2s", rivals.waves(1), **FAST)
    assert found.after < 0.5 * found.before
