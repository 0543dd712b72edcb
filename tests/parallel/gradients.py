"""Writes what must not depend on devices: raw averaged gradients under both backends, and draws."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax import parallel
from pacodi_jax.data.batches import Resident
from pacodi_jax.train import device_loop
from pacodi_jax.train.sources import OnDevices

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.models import small

DESCENT = parallel.average_gradients(optax.sgd(1.0))


def windows() -> Resident:
    """The windows of the tests of models, end to end in one series."""
    rows = np.asarray(small.windows()).reshape(-1, small.CHANNELS)
    starts = np.arange(0, len(rows), small.LENGTH, dtype=np.int32)
    return Resident(rows, starts, None, np.arange(small.LENGTH))


def gradient(backend: str) -> dict[str, np.ndarray]:
    """One step of plain gradient descent with rate 1; the gradient is what it subtracted."""
    model = small.build(optimiser=DESCENT)
    source = OnDevices(windows(), lambda step: jnp.arange(small.BATCH))
    state = jax.tree.map(np.asarray, small.state(model, small.params()))
    step = parallel.map_step(device_loop.chunk(model, source.batch, 9), backend)
    live, data = parallel.replicate(state, backend), source.data(0, backend)
    after, sums = parallel.unreplicate(step(live, data, np.int32(1)), backend)
    moved = jax.tree.map(np.subtract, state.params, after.params)
    flat = {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree.leaves_with_path(moved)}
    return flat | {"loss": sums.total["loss"]}


def samples() -> np.ndarray:
    """Draws, in blocks that no number of devices divides evenly."""
    model = small.build(block=7)
    return np.asarray(model.sample(jax.random.key(3), small.params(), 17))


if __name__ == "__main__":
    jax.config.update("jax_disable_most_optimizations", True)  # compiles in half the time
    found = {
        f"{backend}.{name}": value
        for backend in parallel.BACKENDS
        for name, value in gradient(backend).items()
    }
    np.savez(sys.argv[1], samples=samples(), **found)
