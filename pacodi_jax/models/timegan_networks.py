"""TimeGAN's networks: layers of TensorFlow's GRU and a dense layer per time step."""

import flax.linen as nn
import jax.numpy as jnp

from pacodi_jax.types import Array

_GLOROT = nn.initializers.glorot_uniform()


class Cell(nn.Module):
    """TensorFlow's GRU: the reset gate multiplies the state before the matrix.

      r, u = σ(W [x, h] + b),  c = tanh(V [x, r ⊙ h] + d),  h ← u ⊙ h + (1 − u) ⊙ c.

    The gates' biases start at 1, so that a new cell remembers. (The cells of cuDNN, PyTorch and
    Flax multiply by r after the matrix, and have two biases per gate.)
    """

    hidden: int

    @nn.compact
    def __call__(self, h: Array, x: Array) -> Array:
        """The next state ``(B, hidden)`` of a state and an input ``(B, in)``."""
        size = x.shape[-1] + self.hidden
        ones, zeros = nn.initializers.ones, nn.initializers.zeros
        gates = self.param("gates", _GLOROT, (size, 2 * self.hidden))
        gates_bias = self.param("gates_bias", ones, (2 * self.hidden,))
        candidate = self.param("candidate", _GLOROT, (size, self.hidden))
        candidate_bias = self.param("candidate_bias", zeros, (self.hidden,))
        joined = jnp.concatenate([x, h], axis=-1)
        reset, keep = jnp.split(nn.sigmoid(joined @ gates + gates_bias), 2, axis=-1)
        fresh = jnp.concatenate([x, reset * h], axis=-1)
        return keep * h + (1 - keep) * jnp.tanh(fresh @ candidate + candidate_bias)


class Recurrent(nn.Module):
    """Layers of :class:`Cell` from a zero state, then a dense layer at every step.

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
        """Maps ``(B, L, in)`` to ``(B, L, outputs)``, in [0, 1] unless ``bounded`` is false."""
        start = tuple(jnp.zeros((len(series), self.hidden)) for _ in range(self.layers))
        scan = nn.scan(
            _Layers,
            variable_broadcast="params",
            split_rngs={"params": False},
            in_axes=1,
            out_axes=1,
        )
        _, states = scan(self.hidden, name="layers")(start, series)
        out = nn.Dense(self.outputs, kernel_init=_GLOROT, name="out")(states)
        return nn.sigmoid(out) if self.bounded else out


class _Layers(nn.Module):
    """All layers at one time step."""

    hidden: int

    @nn.compact
    def __call__(self, states: tuple[Array, ...], x: Array) -> tuple[tuple[Array, ...], Array]:
        after = []
        for number, state in enumerate(states):
            x = Cell(self.hidden, name=f"gru_{number}")(state, x)
            after.append(x)
        return tuple(after), x
