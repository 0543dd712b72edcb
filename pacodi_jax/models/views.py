"""How each network sees a half spectrum: the only difference between PaCoDi and its relatives.

Diffusing a spectrum with the Hermitian noise law is diffusing its window with white noise, so a
network over time steps fits behind the same door: transform, denoise, transform back.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax.core.spectrum import live, to_series, to_spectrum
from pacodi_jax.models.protocol import Shape
from pacodi_jax.models.settings import Network
from pacodi_jax.networks import DualBranch, SingleBranch
from pacodi_jax.types import Array, Key, Quadratures


class View(NamedTuple):
    """A network as a function of spectra.

    Attributes:
      init: ``(key, state) -> params`` for a batch of states, ``(B, K, C)`` per part.
      apply: ``(params, state, t, condition, drop) -> Quadratures`` of the state's shape.
    """

    init: Callable[[Key, Quadratures], Any]
    apply: Callable[[Any, Quadratures, Array, Array | None, Array | None], Quadratures]


def network_options(network: Network, shape: Shape) -> dict[str, Any]:
    """The options that every network takes."""
    return {
        "width": network.width,
        "depth": network.depth,
        "heads": network.heads,
        "patch_size": network.patch_size,
        "condition_width": shape.condition_width,
        "dtype": network.dtype,
        "remat": network.remat,
    }


def dual_branch(network: DualBranch, variance: Quadratures) -> View:
    """PaCoDi: one branch per quadrature."""
    mask = live(variance)

    def init(key: Key, state: Quadratures) -> Any:
        return network.init(key, state, jnp.zeros(state.real.shape[0]), mask)["params"]

    def apply(
        params: Any, state: Quadratures, t: Array, condition: Array | None, drop: Array | None
    ) -> Any:
        return network.apply({"params": params}, state, t, mask, condition, drop)

    return View(init, apply)


def monolithic(network: SingleBranch, variance: Quadratures) -> View:
    """Both quadratures side by side as the features of one token."""
    parts = live(variance)
    widths = [jnp.broadcast_to(m, (m.shape[0], network.features // 2)) for m in parts]
    mask = jnp.concatenate(widths, axis=-1)

    def init(key: Key, state: Quadratures) -> Any:
        tokens = jnp.concatenate(state, axis=-1)
        return network.init(key, tokens, jnp.zeros(tokens.shape[0]), mask)["params"]

    def apply(
        params: Any, state: Quadratures, t: Array, condition: Array | None, drop: Array | None
    ) -> Quadratures:
        tokens = jnp.concatenate(state, axis=-1)
        out: Any = network.apply({"params": params}, tokens, t, mask, condition, drop)
        return Quadratures(*jnp.split(out, 2, axis=-1))

    return View(init, apply)


def temporal(network: SingleBranch, length: int) -> View:
    """A temporal DiT: tokens are time steps, and the transform stands outside the network."""
    back = jax.vmap(lambda state: to_series(state, length))

    def init(key: Key, state: Quadratures) -> Any:
        series = back(state)
        return network.init(key, series, jnp.zeros(series.shape[0]))["params"]

    def apply(
        params: Any, state: Quadratures, t: Array, condition: Array | None, drop: Array | None
    ) -> Quadratures:
        out: Any = network.apply({"params": params}, back(state), t, None, condition, drop)
        return jax.vmap(to_spectrum)(out)

    return View(init, apply)
