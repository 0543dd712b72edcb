"""Facts about conditions, times and positions."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.test_util import check_grads

from pacodi_jax.errors import PacodiError
from pacodi_jax.networks import DualBranch, SingleBranch
from pacodi_jax.networks.embedding import ConditionCode, position_code, time_features
from pacodi_jax.networks.layers import modulate
from pacodi_jax.types import Quadratures
from tests.networks.parameters import awake, quick

KEY = jax.random.key(0)
NETWORK = SingleBranch(2, 16, 2, heads=2, condition_width=3)
TOKENS = jax.random.normal(KEY, (4, 5, 2))
T = jnp.linspace(0.0, 1.0, 4)
CONDITION = jax.random.normal(KEY, (4, 3))


@pytest.fixture(scope="module")
def params():
    return awake(NETWORK, TOKENS, T)


def run(params, condition=None, drop=None):
    return NETWORK.apply({"params": params}, TOKENS, T, None, condition, drop)


def test_dropped_condition_equals_the_null_exactly(params):
    drop = jnp.array([True, False, True, False])
    mixed, kept, null = (
        quick(run)(params, *rest) for rest in [(CONDITION, drop), (CONDITION,), ()]
    )
    np.testing.assert_array_equal(mixed[drop], null[drop])
    np.testing.assert_array_equal(mixed[~drop], kept[~drop])
    assert jnp.all(jnp.abs(kept - null).max(axis=(1, 2)) > 1e-3)


def test_both_branches_replace_a_dropped_condition_by_the_null_exactly():
    network = DualBranch(2, 16, 2, heads=2, condition_width=3)
    real, imag = jax.random.normal(KEY, (2, 4, 5, 2))
    live = Quadratures(jnp.ones((5, 1)), jnp.ones((5, 1)))
    arguments = (Quadratures(real, imag), T, live)
    params, drop = awake(network, *arguments), jnp.array([True, False, True, False])
    mixed, null = (
        quick(network.apply)({"params": params}, *arguments, *rest)
        for rest in [(CONDITION, drop), ()]
    )
    for part, without in zip(mixed, null, strict=True):
        np.testing.assert_array_equal(part[drop], without[drop])
        assert jnp.all(jnp.abs(part - without)[~drop].max(axis=(1, 2)) > 1e-3)


def test_dropped_condition_may_be_anything_without_spoiling_the_gradient(params):
    def loss(params, condition):
        return jnp.sum(run(params, condition, jnp.array([True, False, False, False])) ** 2)

    gradient = quick(jax.grad(loss))
    clean, spoilt = gradient(params, CONDITION), gradient(params, CONDITION.at[0].set(jnp.nan))
    jax.tree.map(np.testing.assert_array_equal, clean, spoilt)


def test_a_step_of_adam_moves_the_code_of_a_wide_condition_no_further_than_of_a_narrow_one():
    code, keep, adam = ConditionCode(32), jnp.zeros(8, bool), optax.adam(1e-3)

    def moved(width: int) -> float:
        condition = jax.random.normal(KEY, (8, width))
        params = code.init(KEY, condition, keep)

        def aim(params):
            return jnp.sum(code.apply(params, condition, keep))

        slope = jax.grad(aim)(params)  # only the first layer steps: the others are alike
        slope = jax.tree.map(lambda leaf: leaf * (leaf.shape[0] == width), slope)
        change, _ = adam.update(slope, adam.init(params))
        after = optax.apply_updates(params, change)
        return float(aim(after) - aim(params))

    assert 0.3 < moved(2048) / moved(128) < 2.0


def test_the_null_is_learned(params):
    gradient = quick(jax.grad(lambda p: jnp.sum(run(p) ** 2)))(params)
    assert jnp.all(gradient["condition"]["null"] != 0)


def test_condition_of_the_wrong_width_is_refused(params):
    with pytest.raises(PacodiError, match=r"\(4, 2\); .*condition_width=3 takes \(4, 3\)"):
        run(params, CONDITION[:, :2])
    plain = SingleBranch(2, 16, 2, heads=2)
    with pytest.raises(PacodiError, match="condition_width=0 takes none"):
        jax.eval_shape(plain.init, KEY, TOKENS, T, None, CONDITION)


def test_drop_mask_that_fits_nothing_is_refused(params):
    with pytest.raises(PacodiError, match=r"drop has shape \(3,\); .* takes \(4,\)"):
        run(params, CONDITION, jnp.ones(3, bool))
    plain = SingleBranch(2, 16, 2, heads=2)
    with pytest.raises(PacodiError, match="condition_width=0 has no condition to drop"):
        jax.eval_shape(plain.init, KEY, TOKENS, T, None, None, jnp.ones(4, bool))


def test_time_features_tell_apart_every_decade_of_small_times():
    t = jnp.array([0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0])
    features = time_features(t, 32)
    assert features.shape == (6, 32)
    distance = jnp.linalg.norm(features[:, None] - features[None], axis=-1)
    assert jnp.min(distance + 10 * jnp.eye(6)) > 1.0


@pytest.mark.parametrize("width", [7, 8])
def test_position_codes_differ_between_all_tokens(width):
    code = position_code(600, width)
    assert code.shape == (600, width)
    assert np.unique(np.round(code, 5), axis=0).shape[0] == 600


def test_written_derivative_of_the_modulated_norm_is_the_derivative(x64):
    x, shift, scale = (
        jax.random.normal(KEY, shape, jnp.float32) for shape in [(2, 3, 8), (2, 8), (2, 8)]
    )
    check_grads(modulate, (x, shift, scale), order=1, modes=["rev"], atol=1e-2, rtol=1e-2)
