"""Networks as after some training, compiled in haste."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np

#: These programs run once: half the time to compile is worth more than speed.
quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@cache
def _program(network):
    return quick(network.apply)


def apply(network, params, *arguments):
    """Runs the network, compiled once a network and shape."""
    return _program(network)({"params": params}, *arguments)


def awake(network, *arguments):
    """Fills the parameters with noise, so that every path carries signal."""
    shapes = jax.eval_shape(network.init, jax.random.key(0), *arguments)["params"]
    generator = np.random.default_rng(0)
    return jax.tree.map(
        lambda x: jnp.asarray(generator.normal(0.0, 0.3, x.shape), jnp.float32), shapes
    )
