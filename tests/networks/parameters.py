"""Small networks with random parameters, their inputs, and programs compiled quickly."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.networks import DualBranch
from pacodi_jax.types import Quadratures

BATCH, CHANNELS, WIDTH, DEPTH = 3, 2, 16, 2
KEY = jax.random.key(0)

#: These programs run once: compiling in half the time is worth more than running fast.
quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@cache
def _program(network):
    return quick(network.apply)


def apply(network, params, *arguments):
    """Runs the network, compiled once per network and shape."""
    return _program(network)({"params": params}, *arguments)


def awake(network, *arguments):
    """Fills the parameters with noise, so that every path carries signal."""
    shapes = jax.eval_shape(network.init, jax.random.key(0), *arguments)["params"]
    generator = np.random.default_rng(0)
    return jax.tree.map(
        lambda x: jnp.asarray(generator.normal(0.0, 0.3, x.shape), jnp.float32), shapes
    )


def dual(**options) -> DualBranch:
    return DualBranch(CHANNELS, WIDTH, DEPTH, heads=2, **options)


def inputs(length: int, batch: int = BATCH):
    """A state, times from 0 to 1, and the mask of a window of this length."""
    bins = length // 2 + 1
    real, imag = jax.random.normal(KEY, (2, batch, bins, CHANNELS))
    alone = np.zeros(bins, bool)
    alone[0] = True
    alone[-1] |= length % 2 == 0
    live = Quadratures(jnp.ones((bins, 1)), jnp.asarray(~alone, jnp.float32)[:, None])
    return Quadratures(real, imag), jnp.linspace(0.0, 1.0, batch), live


def close(first, second, tolerance=1e-6):
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=tolerance, rtol=0), first, second
    )
