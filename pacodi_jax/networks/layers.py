"""Dense layers and the modulated layer norm."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

from pacodi_jax.types import Array

#: The checkpoint name of what a block keeps for its backward pass; it recomputes the rest.
KEPT = "kept"


class Dense(nn.Module):
    """x W + b with float32 parameters, computed in ``dtype``.

    All leading axes are folded into one first: XLA's weight gradient over two contracting axes
    is twice as slow on CPU.
    """

    features: int
    dtype: jnp.dtype = jnp.float32
    kernel_init: nn.initializers.Initializer = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(..., in)`` to ``(..., features)``."""
        kernel = self.param("kernel", self.kernel_init, (x.shape[-1], self.features), jnp.float32)
        bias = self.param("bias", nn.initializers.zeros, (self.features,), jnp.float32)
        rows = x.reshape(-1, x.shape[-1]).astype(self.dtype)
        result = rows @ kernel.astype(self.dtype) + bias.astype(self.dtype)
        return checkpoint_name(result.reshape(*x.shape[:-1], self.features), KEPT)


def normalise(x: Array, epsilon: float = 1e-6) -> tuple[Array, Array]:
    """Layer norm without parameters over the last axis: the result and 1/std, in float32."""
    x = x.astype(jnp.float32)
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    rate = jax.lax.rsqrt(jnp.mean(jnp.square(centred), axis=-1, keepdims=True) + epsilon)
    return centred * rate, rate


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def modulate(x: Array, shift: Array, scale: Array, epsilon: float = 1e-6) -> Array:
    """adaLN: norm(x)·(1 + scale) + shift, for ``x (B, N, D)`` and one ``(B, D)`` per example.

    Its derivative is written out: it keeps only ``x`` and ``scale``, where the automatic one keeps
    seven arrays, and it compiles to fewer kernels. A written derivative (``custom_vjp``) has
    no forward mode: ``jax.jvp`` and ``jax.jacfwd`` are refused.
    """
    return normalise(x, epsilon)[0] * (1 + scale[:, None]) + shift[:, None]


def _modulate_forward(
    x: Array, shift: Array, scale: Array, epsilon: float
) -> tuple[Array, tuple[Array, Array]]:
    return modulate(x, shift, scale, epsilon), (x, scale)


def _modulate_backward(
    epsilon: float, kept: tuple[Array, Array], slope: Array
) -> tuple[Array, Array, Array]:
    x, scale = kept
    normal, rate = normalise(x, epsilon)
    inner = slope * (1 + scale[:, None])
    mean = jnp.mean(inner, axis=-1, keepdims=True)
    along = jnp.mean(inner * normal, axis=-1, keepdims=True)
    return rate * (inner - mean - normal * along), slope.sum(1), (slope * normal).sum(1)


modulate.defvjp(_modulate_forward, _modulate_backward)


class Perceptron(nn.Module):
    """Two dense layers with a SiLU between, in float32; ``hidden`` is ``width`` unless given."""

    width: int
    hidden: int = 0

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Maps ``(B, in)`` to ``(B, width)``."""
        hidden = Dense(self.hidden or self.width, name="hidden")(x)
        return Dense(self.width, name="out")(nn.silu(hidden))
