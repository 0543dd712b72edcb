"""Saves step 1, says so, and starts to save step 2; the test kills it on the way."""

import sys

import numpy as np
from absl import logging

from pacodi_jax.checkpoint import Checkpoints


def state_at(step: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(step)
    return {f"array{n}": rng.standard_normal(500_000, np.float32) for n in range(8)}


def main() -> None:
    logging.set_verbosity(logging.ERROR)
    with Checkpoints(sys.argv[1]) as store:
        store.save(1, state_at(1), {})
        store.finish()
        state = state_at(2)
        print("saving 2", flush=True)
        store.save(2, state, {})
        store.finish()
    print("saved 2", flush=True)


if __name__ == "__main__":
    main()
