"""Writes rows drawn in blocks: their values, and how the blocks lay on the devices."""

import sys

import jax
import numpy as np

from pacodi_jax.parallel import in_blocks

#: (count, block): one row, a block that divides, blocks that do not, and one block for all.
CASES = ((1, 4), (8, 4), (10, 4), (11, 3), (17, 7), (11, 100))


def draw(rows: jax.Array) -> jax.Array:
    """A row of random numbers that depends on its number alone."""
    return jax.vmap(
        lambda row: jax.random.uniform(jax.random.fold_in(jax.random.key(0), row), (3,))
    )(rows)


def record(count: int, block: int) -> tuple[np.ndarray, set[tuple[int, int]], int]:
    """The rows, the (size, devices) of every block and how often the program was traced."""
    seen, traces = set(), []

    def counted(rows: jax.Array) -> jax.Array:
        traces.append(rows.shape)
        return draw(rows)

    compiled = jax.jit(counted)

    def spy(rows: jax.Array) -> jax.Array:
        shares = {shard.data.shape[0] for shard in rows.addressable_shards}
        assert len(shares) == 1, "blocks are not shared out evenly"
        seen.add((rows.shape[0], len(rows.sharding.device_set)))
        return compiled(rows)

    return in_blocks(spy, count, block), seen, len(traces)


if __name__ == "__main__":
    found = {}
    for count, block in CASES:
        values, seen, traces = record(count, block)
        name = f"{count}.{block}"
        found |= {name: values, f"{name}.seen": sorted(seen), f"{name}.traces": traces}
    np.savez(sys.argv[1], **found)
