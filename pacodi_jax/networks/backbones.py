"""The two backbones: one branch a quadrature, and everything in one branch."""

import flax.linen as nn
import jax.numpy as jnp

from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.networks import choices
from pacodi_jax.networks.blocks import INTERACTIONS, Branches, over_branches, stacked
from pacodi_jax.networks.embedding import ConditionCode, Embed, Project, time_features, to_patches
from pacodi_jax.networks.layers import Perceptron
from pacodi_jax.types import Array, Quadratures

DTYPES = {"float32": jnp.float32, "bfloat16": jnp.bfloat16}


class DualBranch(nn.Module):
    """The paper's network: one transformer a quadrature, which meet in their MLPs.

    Tokens are frequency bins, or patches of ``patch_size`` bins. Half as many tokens in each of
    two branches make half the attention products of a network over time steps.

    Attributes:
      channels: C, of the series.
      width: D, of a token.
      depth: number of blocks.
      heads: attention heads; must divide the width.
      patch_size: bins a token.
      interaction: ``paper`` (MLPs of hidden width 2D, fed both branches), ``iso_flops`` (the same
        with 4D/3), ``time`` (with 2D/3, and an MLP over time steps) or ``none`` (decoupled).
      length: L, of the windows, on whose time steps ``time`` works; K bins do not tell it. 0 stands
        for 2K − 1 or a few more; so it is with patches, whose index is transformed instead.
      condition_width: E, of the condition vector; 0 for none.
      dtype: of the products, ``float32`` or ``bfloat16``; all else stays float32.
      remat: recompute each block in the backward pass instead of keeping its insides.
      unroll: blocks a scan step; ``depth`` writes them all out, 0 is the best on this platform.
      attention: ``auto``, or one form of it: ``plain``, ``chunked``, ``cudnn``.

    Example:
      >>> network = DualBranch(channels=7, width=64, depth=4, heads=4)
      >>> params = network.init(key, state, t, live)['params']
      >>> velocity = network.apply({'params': params}, state, t, live)
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
          state: ``(B, K, C)`` a quadrature.
          t: ``(B,)``, times in [0, 1].
          live: ``(K, C)`` or ``(K, 1)``, positive where the slot has noise. The other slots have
            no effect on any output, and their own output is 0.
          condition: ``(B, E)``; without it every example has the learned null.
          drop: ``(B,)`` bool, the examples whose condition gives way to the null.

        Returns:
          ``(B, K, C)`` a quadrature, float32.
        """
        _check(self, self.interaction, self.channels, tuple(state), tuple(live), t)
        bins = state.real.shape[1]
        if self.length and self.length // 2 + 1 != bins:
            raise PacodiError(
                f"length={self.length} has {self.length // 2 + 1} bins; the state has {bins}."
            )
        code = _code(self, t, condition, drop)
        return Quadratures(*_transform(self, self.interaction, tuple(state), tuple(live), code))


class SingleBranch(nn.Module):
    """The rivals: one transformer over all features of a slot.

    Over time steps it is a temporal DiT; over bins with the quadratures side by side on the
    feature axis it is a monolithic spectral network.

    Attributes:
      features: F, of a slot: C, or 2C for both quadratures of a bin.
      width: D, of a token.
      depth: number of blocks.
      heads: attention heads; must divide the width.
      patch_size: slots a token.
      condition_width: E, of the condition vector; 0 for none.
      dtype: of the products, ``float32`` or ``bfloat16``; all else stays float32.
      remat: recompute each block in the backward pass instead of keeping its insides.
      unroll: blocks a scan step; ``depth`` writes them all out, 0 is the best on this platform.
      attention: ``auto``, or one form of it: ``plain``, ``chunked``, ``cudnn``.
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
          condition: ``(B, E)``; without it every example has the learned null.
          drop: ``(B,)`` bool, the examples whose condition gives way to the null.

        Returns:
          ``(B, N, F)``, float32.
        """
        live = jnp.ones((tokens.shape[-2], 1)) if live is None else live
        _check(self, "none", self.features, (tokens,), (live,), t)
        code = _code(self, t, condition, drop)
        return _transform(self, "none", (tokens,), (live,), code)[0]


def _transform(
    network: "DualBranch | SingleBranch",
    interaction: str,
    states: Branches,
    live: Branches,
    code: Array,
) -> Branches:
    """Embeds, transforms and projects ``(B, N, F)`` a branch; only ``live`` slots count."""
    dtype = DTYPES[network.dtype]
    slots, features = states[0].shape[1:]
    states = tuple(jnp.where(on > 0, x, 0.0) for x, on in zip(states, live, strict=True))
    patches = tuple(to_patches(x, network.patch_size) for x in states)
    tokens = over_branches(Embed(network.width, dtype, name="embed"), patches)
    unroll = network.unroll or choices.unroll(network.depth)
    whole = isinstance(network, DualBranch) and network.patch_size == 1
    blocks = stacked(network.depth, network.remat, unroll)(
        network.heads,
        interaction,
        network.length if whole else 0,
        network.attention,
        dtype,
        name="blocks",
    )
    tokens, _ = blocks(tokens, code)
    project = Project(patches[0].shape[-1], name="project")
    patches = over_branches(project, tokens, (code,) * len(tokens))
    outputs = (x.reshape(x.shape[0], -1, features)[:, :slots] for x in patches)
    return tuple(jnp.where(on > 0, x, 0.0) for x, on in zip(outputs, live, strict=True))


def _code(
    network: "DualBranch | SingleBranch", t: Array, condition: Array | None, drop: Array | None
) -> Array:
    """The embedding ``(B, width)`` of time and condition."""
    _check_condition(network.condition_width, t, condition, drop)
    code = Perceptron(network.width, name="time")(time_features(t, network.width))
    if network.condition_width:
        if condition is None:
            condition = jnp.zeros((*t.shape, network.condition_width))
            drop = jnp.ones(t.shape, bool)
        drop = jnp.zeros(t.shape, bool) if drop is None else drop
        code = code + ConditionCode(network.width, name="condition")(condition, drop)
    return nn.silu(code)


def _check(
    network: DualBranch | SingleBranch,
    interaction: str,
    features: int,
    states: Branches,
    live: Branches,
    t: Array,
) -> None:
    """Refuses options and shapes that cannot work, by name."""
    choose("interaction", interaction, INTERACTIONS)
    choose("dtype", network.dtype, DTYPES)
    for name in ("width", "depth", "heads", "patch_size"):
        if getattr(network, name) < 1:
            raise PacodiError(f"{name}={getattr(network, name)} must be at least 1.")
    if network.unroll < 0:
        raise PacodiError(f"unroll={network.unroll} must be at least 0.")
    if network.width % network.heads:
        raise PacodiError(f"heads={network.heads} must divide width={network.width}.")
    shape = states[0].shape
    same = all(state.shape == shape for state in states)
    if not same or len(shape) != 3 or shape[-1] != features or t.shape != shape[:1]:
        raise PacodiError(
            f"the network takes (batch, slots, {features}) and one time an example; "
            f"got {', '.join(str(state.shape) for state in states)} and times of shape {t.shape}."
        )
    for mask in live:
        if mask.shape not in ((shape[1], 1), shape[1:]):
            raise PacodiError(
                f"live has shape {mask.shape}; accepted for {shape[1]} slots: "
                f"({shape[1]}, 1) or {shape[1:]}."
            )


def _check_condition(width: int, t: Array, condition: Array | None, drop: Array | None) -> None:
    """Refuses a condition or a drop mask that does not fit the network or the batch."""
    if condition is not None and (not width or condition.shape != (*t.shape, width)):
        raise PacodiError(
            f"condition has shape {condition.shape}; a network with condition_width={width} "
            + (f"takes {(*t.shape, width)} here." if width else "takes none.")
        )
    if drop is not None and (not width or drop.shape != t.shape):
        raise PacodiError(
            f"drop has shape {drop.shape}; a network with condition_width={width} "
            + (f"takes {t.shape} here." if width else "has no condition to drop.")
        )
