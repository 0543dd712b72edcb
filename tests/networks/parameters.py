"""Parameters as after some training: nothing is zero, so that every path carries signal."""

import jax
import jax.numpy as jnp
import numpy as np


def awake(network, *arguments):
    """Fills the network's parameters with noise, without compiling its initialisers."""
    shapes = jax.eval_shape(network.init, jax.random.key(0), *arguments)["params"]
    generator = np.random.default_rng(0)
    return jax.tree.map(
        lambda x: jnp.asarray(generator.normal(0.0, 0.3, x.shape), jnp.float32), shapes
    )
