"""What one step does to the state, whatever the model."""

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pacodi_jax.models.state import TrainState, advance


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
