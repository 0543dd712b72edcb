"""Where both branches meet in time: MLPs over the steps of the window."""

import flax.linen as nn
import jax.numpy as jnp
from einops import pack
from jax.ad_checkpoint import checkpoint_name

from pacodi_jax.networks.layers import KEPT, Dense
from pacodi_jax.networks.steps import from_steps, step_count, to_steps
from pacodi_jax.types import Array

#: One array per branch: ``(tokens,)`` or ``(real, imag)``.
Branches = tuple[Array, ...]


class Stepwise(nn.Module):
    """An MLP over time steps: it sees both branches at one step and what lies around it.

    What is local in time (a spike, a kink, a bound on the values) is spread over all bins and both
    quadratures, so an MLP of single bins cannot see it. Like the transform, this one treats the
    window as periodic: a step and its two neighbours side by side are its inputs.

    Attributes:
      hidden: width of the hidden layer.
      length: L of the windows whose bins the tokens are, or 0 if they are patches of bins.
      dtype: of the products.
    """

    hidden: int
    length: int
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, inputs: Branches) -> Branches:
        """Maps ``(B, N, D)`` of both branches through time steps and back."""
        real, imag = inputs
        bins, width = real.shape[1:]
        steps = checkpoint_name(to_steps(real, imag, step_count(bins, self.length)), KEPT)
        steps, _ = pack([jnp.roll(steps, shift, axis=1) for shift in (1, 0, -1)], "b n *")
        hidden = nn.gelu(Dense(self.hidden, self.dtype, name="hidden")(steps))
        result = Dense(width, self.dtype, name="out")(hidden)
        return from_steps(result.astype(jnp.float32), bins)
