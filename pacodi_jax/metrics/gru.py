"""The recurrent cell of the discriminative and the predictive score.

A gated recurrent unit in its usual form, gates r, z and candidate n:

  r = σ(W_r x + U_r h + b),  z = σ(W_z x + U_z h + b),
  n = tanh(W_n x + b + r ⊙ (U_n h + b')),  h ← (1 − z) ⊙ n + z ⊙ h.

Arrays carry the batch last: with as few as three hidden units only the batch fills a vector
register, and training is several times faster than with features last.
"""

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.types import Array

Params = dict[str, Array]

LEARNING_RATE = 1e-3


def init(seed: int, inputs: int, hidden: int) -> Params:
    """Returns weights uniform on ±1/√hidden: a cell and a linear readout to one number.

    They are the weights that PyTorch draws for this seed (its Mersenne Twister, 24 bits per
    number, its order of parameters). A classifier of three units depends strongly on its initial
    weights: over 24 of them one pair scored from 0.02 to 0.21. A seed thus means the same here
    as in evaluations written for PyTorch.
    """
    shapes = {
        "input": (3, hidden, inputs),
        "state": (3, hidden, hidden),
        "input_bias": (3, hidden, 1),
        "state_bias": (3, hidden, 1),
        "readout": (hidden,),
        "readout_bias": (),
    }
    twister = np.random.RandomState(seed)
    bits = {
        name: twister.randint(2**32, size=shape, dtype=np.uint32) for name, shape in shapes.items()
    }
    bound = hidden**-0.5
    return {
        name: jnp.asarray((drawn % 2**24) / 2**24 * 2 * bound - bound, jnp.float32)
        for name, drawn in bits.items()
    }


def run(params: Params, series: Array) -> Array:
    """Reads series ``(L, inputs, B)`` from a zero state; returns all states ``(L, hidden, B)``."""
    driven = jnp.einsum("ghc,lcb->lghb", params["input"], series) + params["input_bias"]

    def step(state: Array, drive: Array) -> tuple[Array, Array]:
        recalled = jnp.einsum("ghk,kb->ghb", params["state"], state) + params["state_bias"]
        reset = jax.nn.sigmoid(drive[0] + recalled[0])
        keep = jax.nn.sigmoid(drive[1] + recalled[1])
        candidate = jnp.tanh(drive[2] + reset * recalled[2])
        state = (1 - keep) * candidate + keep * state
        return state, state

    start = jnp.zeros((params["state"].shape[-1], series.shape[-1]), series.dtype)
    return jax.lax.scan(step, start, driven)[1]


def read(params: Params, states: Array) -> Array:
    """The linear readout of states ``(…, hidden, B)``: ``(…, B)``."""
    return jnp.einsum("h,...hb->...b", params["readout"], states) + params["readout_bias"]
