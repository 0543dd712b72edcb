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
    return _recur(params["state"], params["state_bias"], driven)


def _forward(weight: Array, bias: Array, driven: Array) -> tuple[Array, Array]:
    """All states ``(L, h, B)``, and ``(L, 4, h, B)`` for the backward pass: r, z, n, U_n h + b'."""

    def step(state: Array, drive: Array) -> tuple[Array, tuple[Array, Array]]:
        recalled = jnp.einsum("ghk,kb->ghb", weight, state) + bias
        gates = jax.nn.sigmoid(drive[:2] + recalled[:2])
        reset, keep = gates
        candidate = jnp.tanh(drive[2] + reset * recalled[2])
        state = (1 - keep) * candidate + keep * state
        return state, (state, jnp.stack([reset, keep, candidate, recalled[2]]))

    start = jnp.zeros((weight.shape[-1], driven.shape[-1]), driven.dtype)
    return jax.lax.scan(step, start, driven)[1]


@jax.custom_vjp
def _recur(weight: Array, bias: Array, driven: Array) -> Array:
    """All states ``(L, h, B)`` from the driven parts ``(L, 3, h, B)`` of the gates."""
    return _forward(weight, bias, driven)[0]


def _recur_forward(weight: Array, bias: Array, driven: Array) -> tuple[Array, tuple]:
    states, gates = _forward(weight, bias, driven)
    return states, (weight, states, gates)


def _recur_backward(kept: tuple, cotangents: Array) -> tuple[Array, Array, Array]:
    """The gradients; those of the weights are one product over all steps, not one per step."""
    weight, states, gates = kept
    before = jnp.concatenate([jnp.zeros_like(states[:1]), states[:-1]])

    def step(later: Array, inputs: tuple) -> tuple[Array, Array]:
        cotangent, state, (reset, keep, candidate, recalled) = inputs
        whole = cotangent + later
        on_candidate = whole * (1 - keep) * (1 - candidate**2)
        on_reset = on_candidate * recalled * reset * (1 - reset)
        on_keep = whole * (state - candidate) * keep * (1 - keep)
        on_recalled = jnp.stack([on_reset, on_keep, on_candidate * reset])
        earlier = whole * keep + jnp.einsum("ghk,ghb->kb", weight, on_recalled)
        return earlier, jnp.stack([on_reset, on_keep, on_candidate])

    inputs = (cotangents, before, gates)
    _, on_driven = jax.lax.scan(step, jnp.zeros_like(states[0]), inputs, reverse=True)
    on_recalled = on_driven.at[:, 2].multiply(gates[:, 0])
    on_weight = jnp.einsum("lghb,lkb->ghk", on_recalled, before)
    return on_weight, on_recalled.sum((0, 3))[..., None], on_driven


_recur.defvjp(_recur_forward, _recur_backward)


def read(params: Params, states: Array) -> Array:
    """The linear readout of states ``(…, hidden, B)``: ``(…, B)``."""
    return jnp.einsum("h,...hb->...b", params["readout"], states) + params["readout_bias"]
