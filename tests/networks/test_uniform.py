"""Layers in PyTorch's manner: where they start, and what a convolution is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.networks.layers import modulate
from pacodi_jax.networks.uniform import Convolution, Linear


@pytest.mark.parametrize(("inside", "outside"), [(3, 5), (5, 3)])
def test_a_convolution_is_the_sum_over_three_taps_in_both_forms(inside, outside):
    x = np.random.default_rng(0).normal(size=(2, 6, inside)).astype(np.float32)
    layer = Convolution(outside)
    params = layer.init(jax.random.key(0), x)["params"]
    padded = np.pad(x, ((0, 0), (1, 1), (0, 0)))
    taps = [padded[:, j : j + 6] @ np.asarray(params["kernel"][j]) for j in range(3)]
    np.testing.assert_allclose(
        layer.apply({"params": params}, x), sum(taps) + params["bias"], atol=1e-6
    )


@pytest.mark.parametrize(("layer", "inputs"), [(Linear(400), 25), (Convolution(400), 75)])
def test_weights_and_biases_start_uniform_by_the_inputs_per_output(layer, inputs):
    params = layer.init(jax.random.key(0), jnp.zeros((1, 4, 25)))["params"]
    for values in (params["kernel"], params["bias"]):
        assert float(jnp.abs(values).max()) <= inputs**-0.5
        assert float(jnp.std(values)) == pytest.approx((3 * inputs) ** -0.5, rel=0.1)


def test_the_modulated_norm_has_the_epsilon_that_it_is_given_and_its_derivative():
    x, shift, scale = (jax.random.normal(jax.random.key(i), (2, 4)) for i in range(3))
    x = jnp.stack([x, -x * 2], axis=1)

    def plain(x, shift, scale):
        rate = jax.lax.rsqrt(jnp.var(x, axis=-1, keepdims=True) + 0.5)
        normal = (x - x.mean(-1, keepdims=True)) * rate
        return jnp.sum(jnp.sin(normal * (1 + scale[:, None]) + shift[:, None]))

    def ours(x, shift, scale):
        return jnp.sum(jnp.sin(modulate(x, shift, scale, 0.5)))

    wanted = jax.value_and_grad(plain, argnums=(0, 1, 2))(x, shift, scale)
    found = jax.value_and_grad(ours, argnums=(0, 1, 2))(x, shift, scale)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), wanted, found)
