"""What one step does to the state, whatever the model."""

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pacodi_jax.models.state import TrainState, advance, stays_finite


@pytest.mark.parametrize("step", [0, 10, 889, 890, 10**6])
def test_the_average_warms_up_to_its_decay_and_keeps_it(step):
    optimiser = optax.with_extra_args_support(optax.sgd(1.0))
    params, average = {"w": jnp.float32(1.0)}, {"w": jnp.float32(5.0)}
    zero = jnp.int32(0)
    state = TrainState(
        jnp.int32(step), params, average, optimiser.init(params), zero, zero, jnp.zeros(2)
    )
    after = advance(state, {"w": jnp.float32(0.25)}, jnp.float32(1.0), optimiser, 0.99)
    decay = min(0.99, (1 + step) / (10 + step))  # they meet at step 890
    assert float(after.params["w"]) == 0.75
    np.testing.assert_allclose(after.ema["w"], decay * 5.0 + (1 - decay) * 0.75, rtol=1e-5)


def test_a_plateau_that_has_seen_no_loss_yet_is_no_reason_to_skip():
    before = {"best": jnp.float32(np.inf), "moments": jnp.zeros(3)}
    assert stays_finite(before, before)
    assert stays_finite(before, before | {"best": jnp.float32(0.5)})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_state_that_stops_being_finite_is_noticed(bad):
    before = {"best": jnp.float32(1.0), "moments": jnp.zeros(3)}
    assert not stays_finite(before, before | {"moments": jnp.array([0.0, bad, 0.0])})
    assert not stays_finite(before, before | {"best": jnp.float32(bad)})
