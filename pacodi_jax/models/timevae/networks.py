"""TimeVAE's encoder, and its decoder as a sum of level, trend, seasons and residual.

All kernels start Glorot uniform and all biases at zero, as in Keras. A stride of 2 under "same"
padding takes n steps to ⌈n/2⌉ and pads on the right first, as in TensorFlow.
"""

from functools import partial

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

from pacodi_jax.types import Array

#: Numbers of an embedded condition.
CODE = 32

_GLOROT = nn.initializers.glorot_uniform()
_Dense = partial(nn.Dense, kernel_init=_GLOROT)


class Halve(nn.Module):
    """A convolution of three taps and stride 2 as one matrix product: y_i = Σ_j W_j x_{2i+j−p}.

    p = 0 for an even number of steps and 1 for an odd one. Inside a compiled loop XLA's own
    convolution takes several times as long on CPU.
    """

    features: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, n, in)`` to ``(B, ⌈n/2⌉, features)``."""
        kernel = self.param("kernel", _GLOROT, (3, x.shape[-1], self.features))
        bias = self.param("bias", nn.initializers.zeros, (self.features,))
        steps, odd = -(-x.shape[1] // 2), x.shape[1] % 2
        padded = jnp.pad(x, ((0, 0), (odd, 1), (0, 0)))
        taps = [padded[:, j : j + 2 * steps - 1 : 2] for j in range(3)]
        return jnp.concatenate(taps, axis=-1) @ kernel.reshape(-1, self.features) + bias


class Double(nn.Module):
    """The transposed convolution: y_{2i} = W_0 x_i + W_2 x_{i−1}, y_{2i+1} = W_1 x_i."""

    features: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, n, in)`` to ``(B, 2n, features)``."""
        kernel = self.param("kernel", _GLOROT, (3, x.shape[-1], self.features))
        bias = self.param("bias", nn.initializers.zeros, (self.features,))
        first, second, third = jnp.split(x @ jnp.concatenate(kernel, axis=-1), 3, axis=-1)
        even = first + jnp.pad(third, ((0, 0), (1, 0), (0, 0)))[:, :-1]
        pairs = jnp.stack([even, second], axis=2)
        return pairs.reshape(len(x), -1, self.features) + bias


class Encoder(nn.Module):
    """Convolutions of stride 2, then mean and log-variance of the latent.

    Attributes:
      latent: numbers of z.
      filters: channels of each convolution.
    """

    latent: int
    filters: tuple[int, ...]

    @nn.compact
    def __call__(self, x: Array, code: Array) -> tuple[Array, Array]:
        """Maps ``(B, L, C)`` and codes ``(B, 0 or 32)`` to two ``(B, latent)``."""
        for number, width in enumerate(self.filters):
            x = nn.relu(Halve(width, name=f"conv_{number}")(x))
        flat = jnp.concatenate([x.reshape(len(x), -1), code], axis=-1)
        mean = _Dense(self.latent, name="mean")(flat)
        return mean, _Dense(self.latent, name="log_variance")(flat)


class Level(nn.Module):
    """A constant per channel: two dense layers, the first with ReLU."""

    channels: int

    @nn.compact
    def __call__(self, z: Array) -> Array:
        """Maps ``(B, latent)`` to ``(B, 1, C)``."""
        hidden = nn.relu(_Dense(self.channels, name="hidden")(z))
        return _Dense(self.channels, name="out")(hidden)[:, None]


class Trend(nn.Module):
    """A polynomial per channel, Σ_p θ_p τᵖ for p = 1 … P, τ = (0 … L − 1)/L."""

    length: int
    channels: int
    degree: int

    @nn.compact
    def __call__(self, z: Array) -> Array:
        """Maps ``(B, latent)`` to ``(B, L, C)``."""
        size = self.channels * self.degree
        hidden = nn.relu(_Dense(size, name="hidden")(z))
        theta = _Dense(size, name="out")(hidden).reshape(len(z), self.channels, self.degree)
        powers = (np.arange(self.length)[:, None] / self.length) ** np.arange(1, self.degree + 1)
        return jnp.einsum("bcp,lp->blc", theta, jnp.asarray(powers, jnp.float32))


class Season(nn.Module):
    """One value per season and channel; the cycle begins anew with each window.

    Attributes:
      length: L.
      channels: C.
      count: seasons per cycle.
      steps: steps per season.
    """

    length: int
    channels: int
    count: int
    steps: int

    @nn.compact
    def __call__(self, z: Array) -> Array:
        """Maps ``(B, latent)`` to ``(B, L, C)``."""
        values = _Dense(self.channels * self.count, name="values")(z)
        values = values.reshape(len(z), self.channels, self.count)
        season = np.arange(self.length) // self.steps % self.count
        return jnp.swapaxes(values[..., season], 1, 2)


class Residual(nn.Module):
    """The encoder backwards: a dense layer, transposed convolutions, a dense layer over all.

    ReLU stands behind the last convolution too.
    """

    length: int
    channels: int
    filters: tuple[int, ...]

    @nn.compact
    def __call__(self, z: Array) -> Array:
        """Maps ``(B, latent)`` to ``(B, L, C)``."""
        steps = -(-self.length // 2 ** len(self.filters))
        x = nn.relu(_Dense(steps * self.filters[-1], name="spread")(z))
        x = x.reshape(len(z), steps, self.filters[-1])
        for number, width in enumerate((*self.filters[-2::-1], self.channels)):
            x = nn.relu(Double(width, name=f"conv_{number}")(x))
        x = _Dense(self.length * self.channels, name="out")(x.reshape(len(z), -1))
        return x.reshape(len(z), self.length, self.channels)


class Decoder(nn.Module):
    """The sum of the blocks, each fed by z.

    Attributes:
      length: L.
      channels: C.
      filters: of the encoder.
      trend_poly: degree of the trend; 0 for none.
      seasons: pairs (seasons per cycle, steps per season).
      residual: whether there is a residual block.
    """

    length: int
    channels: int
    filters: tuple[int, ...]
    trend_poly: int
    seasons: tuple[tuple[int, int], ...]
    residual: bool

    @nn.compact
    def __call__(self, z: Array) -> Array:
        """Maps ``(B, latent)`` to ``(B, L, C)``."""
        size = (self.length, self.channels)
        out = jnp.broadcast_to(Level(self.channels, name="level")(z), (len(z), *size))
        if self.trend_poly:
            out += Trend(*size, self.trend_poly, name="trend")(z)
        for number, (count, steps) in enumerate(self.seasons):
            out += Season(*size, count, steps, name=f"season_{number}")(z)
        if self.residual:
            out += Residual(*size, self.filters, name="residual")(z)
        return out


class Autoencoder(nn.Module):
    """Encoder and decoder; with conditions both also read the condition's code.

    Attributes:
      encoder: windows to the latent's law.
      decoder: the latent to windows.
      condition_width: E, or 0 without conditions.
    """

    encoder: Encoder
    decoder: Decoder
    condition_width: int = 0

    def setup(self) -> None:
        """Makes the projection of conditions, if there are any."""
        if self.condition_width:
            self.projection = _Dense(CODE)

    def __call__(
        self, x: Array, noise: Array, condition: Array | None = None, drop: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Returns x̂ ``(B, L, C)`` of z = μ + σ·noise, and μ and log σ² ``(B, latent)``."""
        code = self._code(len(x), condition, drop)
        mean, log_variance = self.encoder(x, code)
        z = mean + jnp.exp(log_variance / 2) * noise
        return self.decoder(jnp.concatenate([z, code], axis=-1)), mean, log_variance

    def decode(self, z: Array, condition: Array | None = None) -> Array:
        """Maps ``(B, latent)`` and conditions ``(B, E)``, or none, to ``(B, L, C)``."""
        code = self._code(len(z), condition, None)
        return self.decoder(jnp.concatenate([z, code], axis=-1))

    def _code(self, rows: int, condition: Array | None, drop: Array | None) -> Array:
        """The condition in 32 numbers, zeros for the null condition; none without conditions."""
        if not self.condition_width:
            return jnp.zeros((rows, 0))
        if condition is None:
            return jnp.zeros((rows, CODE))
        code = self.projection(condition)
        return code if drop is None else jnp.where(drop[:, None], 0.0, code)
