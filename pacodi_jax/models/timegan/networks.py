"""TimeGAN's networks: layers of TensorFlow's GRU and a dense layer per time step.

    r, u = σ(W [x, h] + b),  c = tanh(V [x, r ⊙ h] + d),  h ← u ⊙ h + (1 − u) ⊙ c.

The reset gate r multiplies the state before the matrix, and there is one bias per gate. (The cells
of cuDNN, PyTorch and Flax multiply after the matrix and have two.) Inside, arrays carry the batch
last: with 24 units only the batch fills vector registers.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp

from pacodi_jax.types import Array

_GLOROT = nn.initializers.glorot_uniform()


class Layer(nn.Module):
    """One layer of the GRU; the gates' biases start at 1, so that a new cell remembers."""

    hidden: int

    @nn.compact
    def __call__(self, series: Array) -> Array:
        """Maps ``(L, in, B)`` to all states ``(L, hidden, B)`` from a zero state."""
        _, inputs, batch = series.shape
        hidden, size = self.hidden, inputs + self.hidden
        ones, zeros = nn.initializers.ones, nn.initializers.zeros
        gates = self.param("gates", _GLOROT, (size, 2 * hidden))
        gates_bias = self.param("gates_bias", ones, (2 * hidden,))
        candidate = self.param("candidate", _GLOROT, (size, hidden))
        candidate_bias = self.param("candidate_bias", zeros, (hidden,))
        of_input = jnp.concatenate([gates[:inputs], candidate[:inputs]], axis=-1).T
        bias = jnp.concatenate([gates_bias, candidate_bias])[:, None]
        gates_of_state, candidate_of_state = gates[inputs:].T, candidate[inputs:].T

        def step(h: Array, x: Array) -> tuple[Array, Array]:
            driven = of_input @ x + bias
            both = jax.nn.sigmoid(driven[: 2 * hidden] + gates_of_state @ h)
            reset, keep = jnp.split(both, 2)
            fresh = jnp.tanh(driven[2 * hidden :] + candidate_of_state @ (reset * h))
            h = keep * h + (1 - keep) * fresh
            return h, h

        return jax.lax.scan(step, jnp.zeros((hidden, batch), series.dtype), series)[1]


class Recurrent(nn.Module):
    """Layers of the GRU, then a dense layer at every step.

    Attributes:
      outputs: numbers per step.
      hidden: units per layer.
      layers: how many.
      bounded: whether a sigmoid follows the dense layer.
    """

    outputs: int
    hidden: int
    layers: int
    bounded: bool = True

    @nn.compact
    def __call__(self, series: Array) -> Array:
        """Maps ``(B, L, in)`` to ``(B, L, outputs)``, in [0, 1] if ``bounded``."""
        states = jnp.transpose(series, (1, 2, 0))
        for number in range(self.layers):
            states = Layer(self.hidden, name=f"gru_{number}")(states)
        dense = nn.Dense(self.outputs, kernel_init=_GLOROT, name="out")
        out = dense(jnp.transpose(states, (2, 0, 1)))
        return nn.sigmoid(out) if self.bounded else out


def five(channels: int, hidden: int, layers: int) -> dict[str, Recurrent]:
    """TimeGAN's networks by name; the supervisor has one layer fewer."""
    return {
        "embedder": Recurrent(hidden, hidden, layers),
        "recovery": Recurrent(channels, hidden, layers),
        "generator": Recurrent(hidden, hidden, layers),
        "supervisor": Recurrent(hidden, hidden, layers - 1),
        "discriminator": Recurrent(1, hidden, layers, bounded=False),
    }
