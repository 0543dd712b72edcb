"""A filter per channel along the time steps of a window, applied to its bins: a product there."""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

from pacodi_jax.networks.steps import step_count
from pacodi_jax.types import Array

#: Taps of a filter, centred, and groups of channels by the distance between taps.
TAPS, GROUPS = 5, 4
#: Between taps of the widest group lies the window's length over this.
WIDEST = 16


def distances(count: int) -> list[int]:
    """Steps between the taps of each group: from 1 to M/16, in equal ratios."""
    widest = max(1.0, count / WIDEST)
    return [round(widest ** (group / (GROUPS - 1))) for group in range(GROUPS)]


def response(taps: Array, bins: int, count: int) -> tuple[Array, Array]:
    """H_k = Σ_j h_j exp(−2πi k j s/M) at bins k < K, as its real and imaginary part ``(K, D)``.

    Args:
      taps: ``(5, D)``, h of each channel. Channels are cut into groups, each with its distance s.
      bins: K.
      count: M, time steps of the window, which is taken as periodic.
    """
    at = np.arange(TAPS) - TAPS // 2
    parts = []
    for distance, own in zip(distances(count), _groups(taps), strict=True):
        # Whole turns are taken out in integers: float32 angles would lose them in long windows.
        turns = np.outer(np.arange(bins), at * distance) % count / count
        parts.append([(wave(2 * np.pi * turns), own) for wave in (np.cos, np.sin)])
    real, imag = (
        jnp.concatenate([jnp.asarray(wave, jnp.float32) @ own for wave, own in part], axis=1)
        for part in zip(*parts, strict=True)
    )
    return real, -imag


def _groups(taps: Array) -> list[Array]:
    edges = [round(taps.shape[1] * group / GROUPS) for group in range(GROUPS + 1)]
    return [taps[:, edges[i] : edges[i + 1]] for i in range(GROUPS)]


class Filter(nn.Module):
    """A circular convolution in time per channel: a complex product per bin and channel.

    It costs six operations per bin and channel whatever its reach, no copies of shifted steps, and
    no product of channels with channels.

    Attributes:
      length: L of the windows whose bins the tokens are, or 0 if they are patches of bins.
    """

    length: int

    @nn.compact
    def __call__(self, real: Array, imag: Array) -> tuple[Array, Array]:
        """Filters bins ``(B, K, D)`` of both branches."""
        bins, width = real.shape[1:]
        taps = self.param("taps", nn.initializers.lecun_normal(), (TAPS, width), jnp.float32)
        along, across = response(taps, bins, step_count(bins, self.length))
        return along * real - across * imag, along * imag + across * real
