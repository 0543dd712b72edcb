"""One branch, written once, and the stack that maps it over branches and layers."""

from collections.abc import Callable
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from einops import pack, rearrange

from pacodi_jax.networks import choices
from pacodi_jax.networks.attention import attend
from pacodi_jax.networks.layers import KEPT, Dense, modulate
from pacodi_jax.networks.meeting import Branches, Stepwise
from pacodi_jax.networks.octaves import summarise
from pacodi_jax.types import Array


def _eights(width: float) -> int:
    return max(8, 8 * round(width / 8))


def iso_flops_width(width: int) -> int:
    """4D/3, to a multiple of 8: an MLP fed both branches then costs what one of width 2D costs."""
    return _eights(4 * width / 3)


class Interaction(NamedTuple):
    """How the branches meet.

    Attributes:
      shared: whether each branch's MLP is fed the tokens of both.
      hidden: hidden width of a branch's MLP, from the width of a token.
      steps: hidden width of the MLP over time steps; 0 for none.
      lowest: so many tokens of lowest frequency have an MLP of their branch; 0 for all.
      octaves: whether attention is to the octaves of bins instead of to every bin.
    """

    shared: bool
    hidden: Callable[[int], int]
    steps: Callable[[int], int]
    lowest: int = 0
    octaves: bool = False


INTERACTIONS = {
    "long": Interaction(
        True,
        lambda width: _eights(2 * width / 3),
        lambda width: 3 * width // 4,
        lowest=12,
        octaves=True,
    ),
    "time": Interaction(True, lambda width: _eights(2 * width / 3), lambda width: 3 * width // 2),
    "iso_flops": Interaction(True, iso_flops_width, lambda width: 0),
    "paper": Interaction(True, lambda width: 2 * width, lambda width: 0),
    "none": Interaction(False, lambda width: 2 * width, lambda width: 0),
}


def over_branches(module: nn.Module, *arguments: Branches) -> tuple[Any, ...]:
    """Maps a module of one branch over all; its parameters have a leading branch axis.

    Args:
      module: what one branch does, as a submodule of the caller.
      *arguments: each with one array per branch.

    Returns:
      One result of the module per branch.
    """
    count = len(arguments[0])
    if module.is_initializing() or (choices.stacks_branches() and count > 1):
        mapped = nn.vmap(
            lambda one, *inputs: one(*inputs),
            variable_axes={"params": 0},
            split_rngs={"params": True},
        )
        result = mapped(module, *(jnp.stack(argument) for argument in arguments))
        return tuple(_pick(result, i) for i in range(count))
    one, params = module.clone(parent=None), module.variables["params"]
    return tuple(
        one.apply({"params": _pick(params, i)}, *inputs)
        for i, inputs in enumerate(zip(*arguments, strict=True))
    )


def _pick(tree: Any, index: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[index], tree)


class Attention(nn.Module):
    """The first half of a branch's block: adaLN-zero and self-attention.

    Attributes:
      heads: attention heads; must divide the width.
      form: of attention, see :func:`~pacodi_jax.networks.attention.attend`.
      octaves: attend to the means of octaves of tokens, so that the cost grows like N log N.
      dtype: of the products.
    """

    heads: int
    form: str
    octaves: bool
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, tokens: Array, code: Array) -> tuple[Array, Array, Array]:
        """Attends within one branch.

        Args:
          tokens: ``(B, N, D)``.
          code: ``(B, D)``, time and condition.

        Returns:
          The tokens after attention ``(B, N, D)``, the same tokens normalised and modulated for
          the MLP, and the MLP's gate ``(B, D)``.
        """
        width = tokens.shape[-1]
        modulation = Dense(6 * width, kernel_init=nn.initializers.zeros, name="modulation")(code)
        shift, scale, gate, mlp_shift, mlp_scale, mlp_gate = jnp.split(modulation, 6, axis=-1)
        inputs = modulate(tokens, shift, scale)
        query, key, value = (
            rearrange(x, "b n (h d) -> b h n d", h=self.heads) for x in self._mixed(inputs)
        )
        result = rearrange(attend(query, key, value, self.form), "b h n d -> b n (h d)")
        result = Dense(width, self.dtype, name="out")(result)
        tokens = tokens + gate[:, None] * result
        return tokens, modulate(tokens, mlp_shift, mlp_scale), mlp_gate

    def _mixed(self, inputs: Array) -> list[Array]:
        """Queries, keys and values, ``(B, N, D)``, or ``(B, P, D)`` of the last two by octaves.

        Split, not indexed: the derivative is one concatenation instead of three padded sums.
        """
        width = inputs.shape[-1]
        if not self.octaves:
            return jnp.split(Dense(3 * width, self.dtype, name="qkv")(inputs), 3, axis=-1)
        pairs = Dense(2 * width, self.dtype, name="pairs")(summarise(inputs))
        return [Dense(width, self.dtype, name="query")(inputs), *jnp.split(pairs, 2, axis=-1)]


class FeedForward(nn.Module):
    """The second half of a branch's block: the MLP, and with it the interaction.

    Attributes:
      hidden: width of the hidden layer.
      dtype: of the products.
    """

    hidden: int
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, tokens: Array, inputs: Array, gate: Array) -> Array:
        """Adds the gated MLP of ``inputs (B, N, D or 2D)`` to ``tokens (B, N, D)``."""
        hidden = nn.gelu(Dense(self.hidden, self.dtype, name="hidden")(inputs))
        result = Dense(tokens.shape[-1], self.dtype, name="out")(hidden)
        return tokens + gate[:, None] * result


class Block(nn.Module):
    """One layer of all branches; they meet only in their MLPs.

    Attributes:
      heads: attention heads.
      interaction: a name in ``INTERACTIONS``.
      length: L of the windows whose bins the tokens are, or 0.
      form: of attention.
      dtype: of the products.
    """

    heads: int
    interaction: str
    length: int
    form: str
    dtype: jnp.dtype

    @nn.compact
    def __call__(self, tokens: Branches, code: Array) -> tuple[Branches, None]:
        """Maps each branch's ``(B, N, D)``; the second result is required by ``nn.scan``."""
        kind, width = INTERACTIONS[self.interaction], tokens[0].shape[-1]
        attention = Attention(self.heads, self.form, kind.octaves, self.dtype, name="attention")
        attended = over_branches(attention, tokens, (code,) * len(tokens))
        tokens, inputs, gates = zip(*attended, strict=True)
        if kind.steps(width):
            stepwise = Stepwise(kind.steps(width), self.length, self.dtype, name="stepwise")
            parts = zip(tokens, gates, stepwise(inputs), strict=True)
            tokens = tuple(token + gate[:, None] * part for token, gate, part in parts)
        if kind.shared:
            inputs = (pack(inputs, "b n *")[0],) * len(tokens)
        mlp = FeedForward(kind.hidden(width), self.dtype, name="mlp")
        if not kind.lowest:
            return over_branches(mlp, tokens, inputs, gates), None
        low = [tuple(x[:, : kind.lowest] for x in part) for part in (tokens, inputs)]
        changed = over_branches(mlp, *low, gates)
        high = (x[:, kind.lowest :] for x in tokens)
        return tuple(pack(pair, "b * d")[0] for pair in zip(changed, high, strict=True)), None


def stacked(depth: int, remat: bool, unroll: int) -> Callable[..., nn.Module]:
    """Returns ``depth`` blocks as one scan: the compiled program does not grow with the depth.

    Args:
      depth: number of blocks.
      remat: keep only each block's input for the backward pass and recompute the rest. Otherwise
        the products are kept and cheap operations are recomputed, which is faster than copying
        their results into and out of the scan.
      unroll: blocks per scan step; ``depth`` unrolls all.

    Returns:
      A function of the attributes of :class:`Block` that makes the module of all layers.
    """
    policies = jax.checkpoint_policies
    policy = policies.nothing_saveable if remat else policies.save_only_these_names(KEPT)
    return nn.scan(
        nn.remat(Block, prevent_cse=False, policy=policy),
        variable_axes={"params": 0},
        split_rngs={"params": True},
        in_axes=nn.broadcast,
        length=depth,
        unroll=unroll,
    )
