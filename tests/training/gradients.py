"""Writes the raw averaged gradient of one batch under both backends, for one device count."""

import sys

import double
import jax
import numpy as np
import optax

from pacodi_jax import parallel
from pacodi_jax.train import engine, loop


def gradient(backend: str) -> dict[str, np.ndarray]:
    """One step of plain gradient descent with rate 1; the gradient is what it subtracted."""
    optimizer = parallel.average_gradients(optax.sgd(1.0))
    generator, data, indices = double.make(1, optimizer=optimizer)
    state = jax.tree.map(np.asarray, generator.init(jax.random.key(0), loop.example(data, 8)))
    step = parallel.map_step(engine.chunk(generator, indices, 9), backend)
    live, resident = parallel.replicate(state, backend), parallel.replicate(data, backend)
    after, sums = parallel.unreplicate(step(live, resident, np.int32(1)), backend)
    moved = {name: state.params[name] - after.params[name] for name in state.params}
    return moved | {"loss": sums.total["loss"]}


if __name__ == "__main__":
    np.savez(
        sys.argv[1],
        **{
            f"{backend}.{name}": value
            for backend in parallel.BACKENDS
            for name, value in gradient(backend).items()
        },
    )
