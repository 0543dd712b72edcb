"""The two backbones: one branch per quadrature, and everything in one branch."""

import flax.linen as nn
import jax.numpy as jnp

from pacodi_jax.networks import choices
from pacodi_jax.networks.blocks import Branches, over_branches, stacked
from pacodi_jax.networks.embedding import (
    ConditionCode,
    Embed,
    Project,
    from_patches,
    time_features,
    to_patches,
)
from pacodi_jax.networks.layers import Perceptron
from pacodi_jax.networks.refusals import (
    DTYPES,
    both,
    check_bins,
    check_condition,
    check_inputs,
    check_options,
)
from pacodi_jax.types import Array, Quadratures


class DualBranch(nn.Module):
    """The paper's network: one transformer per quadrature; the two meet in their MLPs.

    Tokens are frequency bins, or patches of ``patch_size`` bins. Two branches with half as
    many tokens need half the attention products of a network over time steps. In total
    ``long`` and ``iso_flops`` cost about as much as such a network, and less for long windows;
    ``paper`` and ``time`` cost more (see the table in docs/experiments/efficiency.md).

    Attributes:
      channels: C, of the series.
      width: D, of a token.
      depth: number of blocks.
      heads: attention heads; must divide the width.
      patch_size: bins per token.
      interaction: ``paper`` (MLPs of hidden width 2D, fed both branches), ``iso_flops`` (the same
        with 4D/3), ``time`` (with 2D/3, and an MLP over time steps and their neighbours),
        ``long`` (the same with 3D/4 over time steps, MLPs of the 12 lowest bins alone, and
        attention to octaves of bins)
        or ``none`` (decoupled).
      length: L of the windows, on whose time steps ``time`` and ``long`` work; K does not
        determine it. 0 takes 2K − 1 or slightly more. With patches it is not used: the patch index
        is transformed.
      condition_width: E, of the condition vector; 0 for none.
      dtype: of the products, ``float32`` or ``bfloat16``; all else stays float32.
      remat: recompute each block in the backward pass instead of keeping its activations; with
        ``unroll`` above 1 that saves nothing.
      unroll: blocks per scan step; ``depth`` unrolls all, 0 chooses for this platform.
      attention: ``auto``, or one form of it: ``plain``, ``chunked``, ``cudnn``.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> from pacodi_jax.core import spectrum
      >>> from pacodi_jax.networks import DualBranch
      >>> key, t, live = jax.random.key(0), jnp.array([0.1, 0.9]), spectrum.noise_variance(24)
      >>> state = jax.vmap(spectrum.to_spectrum)(jax.random.normal(key, (2, 24, 7)))
      >>> network = DualBranch(channels=7, width=64, depth=2, heads=4, length=24)
      >>> params = network.init(key, state, t, live)['params']
      >>> velocity = network.apply({'params': params}, state, t, live)
      >>> velocity.real.shape
      (2, 13, 7)
    """

    channels: int
    width: int
    depth: int
    heads: int
    patch_size: int = 1
    interaction: str = "time"
    length: int = 0
    condition_width: int = 0
    dtype: str = "float32"
    remat: bool = False
    unroll: int = 0
    attention: str = "auto"

    @nn.compact
    def __call__(
        self,
        state: Quadratures,
        t: Array,
        live: Quadratures,
        condition: Array | None = None,
        drop: Array | None = None,
    ) -> Quadratures:
        """Predicts both quadratures from both.

        Args:
          state: ``(B, K, C)`` per quadrature.
          t: ``(B,)``, times in [0, 1].
          live: ``(K, C)`` or ``(K, 1)``, positive where the slot has noise. The other slots have
            no effect on any output, and their own output is 0.
          condition: ``(B, E)``; without it every example gets the learned null condition.
          drop: ``(B,)`` bool, the examples whose condition is replaced by the null condition.

        Returns:
          ``(B, K, C)`` per quadrature, float32.
        """
        check_options(self)
        states, masks = both("state", state), both("live", live)
        check_inputs(self.channels, states, masks, t)
        check_bins(self.length, states[0].shape[1])
        code = _code(self, t, condition, drop)
        return Quadratures(*_transform(self, self.interaction, states, masks, code))


class SingleBranch(nn.Module):
    """The baselines: one transformer over all features of a slot.

    Over time steps it is a temporal DiT; over bins with the quadratures side by side on the
    feature axis, a monolithic spectral network.

    Attributes:
      features: F, of a slot: C, or 2C for both quadratures of a bin.
      width: D, of a token.
      depth: number of blocks.
      heads: attention heads; must divide the width.
      patch_size: slots per token.
      condition_width: E, of the condition vector; 0 for none.
      dtype: of the products, ``float32`` or ``bfloat16``; all else stays float32.
      remat: recompute each block in the backward pass instead of keeping its activations; with
        ``unroll`` above 1 that saves nothing.
      unroll: blocks per scan step; ``depth`` unrolls all, 0 chooses for this platform.
      attention: ``auto``, or one form of it: ``plain``, ``chunked``, ``cudnn``.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> from pacodi_jax.networks import SingleBranch
      >>> key, t = jax.random.key(0), jnp.array([0.1, 0.9])
      >>> windows = jax.random.normal(key, (2, 24, 7))
      >>> network = SingleBranch(features=7, width=64, depth=2, heads=4)
      >>> params = network.init(key, windows, t)['params']
      >>> network.apply({'params': params}, windows, t).shape
      (2, 24, 7)
    """

    features: int
    width: int
    depth: int
    heads: int
    patch_size: int = 1
    condition_width: int = 0
    dtype: str = "float32"
    remat: bool = False
    unroll: int = 0
    attention: str = "auto"

    @nn.compact
    def __call__(
        self,
        tokens: Array,
        t: Array,
        live: Array | None = None,
        condition: Array | None = None,
        drop: Array | None = None,
    ) -> Array:
        """Predicts every slot from every slot.

        Args:
          tokens: ``(B, N, F)``.
          t: ``(B,)``, times in [0, 1].
          live: ``(N, F)`` or ``(N, 1)``, positive where the slot has noise; all if not given.
          condition: ``(B, E)``; without it every example gets the learned null condition.
          drop: ``(B,)`` bool, the examples whose condition is replaced by the null condition.

        Returns:
          ``(B, N, F)``, float32.
        """
        check_options(self)
        check_inputs(self.features, (tokens,), () if live is None else (live,), t)
        live = jnp.ones((tokens.shape[1], 1)) if live is None else live
        code = _code(self, t, condition, drop)
        return _transform(self, "none", (tokens,), (live,), code)[0]


def window_length(network: DualBranch | SingleBranch) -> int:
    """L, if the tokens are the bins of windows of a known length; else 0, as for patches."""
    whole = isinstance(network, DualBranch) and network.patch_size == 1
    return network.length if whole else 0


def _transform(
    network: "DualBranch | SingleBranch",
    interaction: str,
    states: Branches,
    live: Branches,
    code: Array,
) -> Branches:
    """Embeds, transforms and projects ``(B, N, F)`` per branch; other slots than ``live`` are 0."""
    dtype = DTYPES[network.dtype]
    slots, features = states[0].shape[1:]
    states = tuple(jnp.where(on > 0, x, 0.0) for x, on in zip(states, live, strict=True))
    patches = tuple(to_patches(x, network.patch_size) for x in states)
    tokens = over_branches(Embed(network.width, dtype, name="embed"), patches)
    unroll = network.unroll or choices.unroll(network.depth, network.remat)
    blocks = stacked(network.depth, network.remat, unroll)(
        network.heads,
        interaction,
        window_length(network),
        network.attention,
        dtype,
        name="blocks",
    )
    tokens, _ = blocks(tokens, code)
    project = Project(patches[0].shape[-1], name="project")
    patches = over_branches(project, tokens, (code,) * len(tokens))
    outputs = (from_patches(x, features)[:, :slots] for x in patches)
    return tuple(jnp.where(on > 0, x, 0.0) for x, on in zip(outputs, live, strict=True))


def _code(
    network: "DualBranch | SingleBranch", t: Array, condition: Array | None, drop: Array | None
) -> Array:
    """The embedding ``(B, width)`` of time and condition."""
    check_condition(network.condition_width, t, condition, drop)
    code = Perceptron(network.width, name="time")(time_features(t, network.width))
    if network.condition_width:
        if condition is None:
            condition = jnp.zeros((*t.shape, network.condition_width))
            drop = jnp.ones(t.shape, bool)
        drop = jnp.zeros(t.shape, bool) if drop is None else drop
        code = code + ConditionCode(network.width, name="condition")(condition, drop)
    return nn.silu(code)
