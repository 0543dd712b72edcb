"""Layers that start as PyTorch's do: weights and biases uniform on ±1/√(inputs per output)."""

import flax.linen as nn
import jax
import jax.numpy as jnp

from pacodi_jax.types import Array, Key


def uniform(inputs: int) -> nn.initializers.Initializer:
    """Uniform on ±1/√inputs."""

    def init(key: Key, shape: tuple[int, ...], dtype: jnp.dtype = jnp.float32) -> Array:
        return jax.random.uniform(key, shape, dtype, -(inputs**-0.5), inputs**-0.5)

    return init


class Linear(nn.Module):
    """x W + b; the leading axes are folded into one, as in :class:`~.layers.Dense`."""

    features: int
    use_bias: bool = True

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(..., in)`` to ``(..., features)``."""
        width = x.shape[-1]
        init = uniform(width)
        result = x.reshape(-1, width) @ self.param("kernel", init, (width, self.features))
        if self.use_bias:
            result = result + self.param("bias", init, (self.features,))
        return result.reshape(*x.shape[:-1], self.features)


class Convolution(nn.Module):
    """y_n = Σ_j x_{n+j−1} W_j + b over three taps j, zeros beyond both ends.

    It is one matrix product: of the three neighbours side by side, or, if the output is narrower
    than the input, of x with all taps, whose results are shifted and summed.
    """

    features: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, N, in)`` to ``(B, N, features)``."""
        inputs, (count, width) = 3 * x.shape[-1], x.shape[1:]
        kernel = self.param("kernel", uniform(inputs), (3, width, self.features))
        bias = self.param("bias", uniform(inputs), (self.features,))
        if self.features >= width:
            padded = jnp.pad(x, ((0, 0), (1, 1), (0, 0)))
            around = jnp.concatenate([padded[:, j : j + count] for j in range(3)], axis=-1)
            rows = around.reshape(-1, inputs) @ kernel.reshape(inputs, -1)
            return rows.reshape(*x.shape[:-1], -1) + bias
        taps = jnp.concatenate(list(kernel), axis=-1)
        rows = (x.reshape(-1, width) @ taps).reshape(*x.shape[:-1], -1)
        padded = jnp.pad(rows, ((0, 0), (1, 1), (0, 0)))
        parts = jnp.split(padded, 3, axis=-1)
        return sum((part[:, j : j + count] for j, part in enumerate(parts)), start=bias)
