"""Measures what `python -m pacodi_jax.flops` leaves out; see docs/experiments/efficiency.md.

    python benchmarks/bench_networks.py memory [--model temporal|iso_flops|paper|time]
                                               memory of a training step at L = 4096
    python benchmarks/bench_networks.py torch      the same network in PyTorch, if it is installed
    python benchmarks/bench_networks.py branches   two plain products against one batched product
    python benchmarks/bench_networks.py precision  bfloat16 against float32
    python benchmarks/bench_networks.py small      training a small model, and compiling it

Programs are timed in turn, round by round, and ratios are taken within a round: another program on
the machine then slows both sides of a ratio. Memory is reused as in the training command, for
PyTorch too; MALLOC_ARENA_MAX=8 restores glibc's defaults. On a busy machine give it one core
(`taskset -c 0`, OMP_NUM_THREADS=1) and read the ratio of CPU times. PyTorch is not a dependency; a
copy elsewhere is found through PYTHONPATH.
"""

import argparse
import importlib.util
import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.cli.memory import reuse_memory
from pacodi_jax.cli.network_costs import models
from pacodi_jax.core import spectrum
from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.networks import DualBranch, SingleBranch, choices
from pacodi_jax.networks.cost import of_length
from pacodi_jax.types import Quadratures

ROUNDS = 15


def example(network: Any, length: int, batch: int) -> tuple[Any, tuple]:
    """Random parameters, none of them zero, and inputs."""
    key = jax.random.key(0)
    t = jnp.linspace(0.0, 1.0, batch)
    if isinstance(network, SingleBranch):
        inputs: tuple = jax.random.normal(key, (batch, length, network.features)), t
    else:
        real, imag = jax.random.normal(key, (2, batch, length // 2 + 1, network.channels))
        inputs = Quadratures(real, imag), t, spectrum.noise_variance(length)
    shapes = jax.eval_shape(network.init, key, *inputs)
    generator = np.random.default_rng(0)
    draw = lambda x: jnp.asarray(0.05 * generator.normal(size=x.shape), jnp.float32)  # noqa: E731
    return jax.tree.map(draw, shapes), inputs


def compiled_gradient(network: Any, length: int, batch: int) -> tuple[Any, Any]:
    """The program of a forward and backward pass, and the parameters to call it with."""
    network = of_length(network, length)
    params, inputs = example(network, length, batch)
    loss = lambda params: optax.tree.norm(network.apply(params, *inputs), squared=True)  # noqa: E731
    return jax.jit(jax.grad(loss)).lower(params).compile(), params


def gradient(network: Any, length: int, batch: int) -> Callable[[], Any]:
    """Forward and backward pass, ready to be called."""
    run, params = compiled_gradient(network, length, batch)
    return lambda: jax.block_until_ready(run(params))


def forward(network: Any, length: int, batch: int) -> Callable[[], Any]:
    """Forward pass, ready to be called."""
    network = of_length(network, length)
    params, inputs = example(network, length, batch)
    run = jax.jit(network.apply).lower(params, *inputs).compile()
    return lambda: jax.block_until_ready(run(params, *inputs))


def compare(title: str, first: Callable[[], Any], second: Callable[[], Any]) -> None:
    """Prints both times and their ratio; each program runs twice and the second run counts."""
    wall, cpu = np.zeros((2, ROUNDS, 2))
    for one in range(ROUNDS):
        for i, program in enumerate((first, second)):
            program()
            start = time.perf_counter(), time.process_time()
            program()
            wall[one, i] = 1e3 * (time.perf_counter() - start[0])
            cpu[one, i] = 1e3 * (time.process_time() - start[1])
    middle = np.median(wall, axis=0)
    low, ratio, high = np.quantile(wall[:, 1] / wall[:, 0], [0.25, 0.5, 0.75])
    print(
        f"{title:36s} {middle[0]:8.1f} ms {middle[1]:8.1f} ms   second/first {ratio:.2f} "
        f"({low:.2f}-{high:.2f}), CPU time {np.median(cpu[:, 1] / cpu[:, 0]):.2f}",
        flush=True,
    )


def memory(network: Any, length: int = 4096, batch: int = 8) -> None:
    """One forward and backward pass: the peak of the whole process, and XLA's temporary buffers."""
    run, params = compiled_gradient(network, length, batch)
    start = time.perf_counter()
    jax.block_until_ready(run(params))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    temporary = run.memory_analysis().temp_size_in_bytes / 2**30
    print(
        f"{getattr(network, 'interaction', 'temporal')} L={length} batch={batch}: peak {peak:.2f} "
        f"GiB, XLA's temporary buffers {temporary:.2f} GiB, {time.perf_counter() - start:.1f} s"
    )


def branches() -> None:
    """Two plain products (first) against one batched product (second)."""
    for length, batch, width in [(24, 128, 64), (128, 32, 128)]:
        network = DualBranch(7, width, 4, 4)
        decided, programs = choices.stacks_branches, []
        for stacks in (False, True):
            choices.stacks_branches = lambda stacks=stacks: stacks
            programs.append(gradient(network, length, batch))
        choices.stacks_branches = decided
        compare(f"L={length} B={batch} D={width} plain, batched", *programs)


def precision() -> None:
    """Products in float32 (first) and in bfloat16 (second)."""
    for length, batch in [(24, 128), (128, 32)]:
        pair = [DualBranch(7, 128, 4, 4, dtype=dtype) for dtype in ("float32", "bfloat16")]
        compare(f"L={length} B={batch} D=128", *(gradient(one, length, batch) for one in pair))


def small() -> None:
    """L = 24, batch 128, D = 64: scanned (first) against unrolled (second), and compilation."""
    programs = []
    for unroll in (1, 4):
        start = time.process_time()
        programs.append(gradient(DualBranch(7, 64, 4, 4, unroll=unroll), 24, 128))
        print(f"unroll={unroll}: built in {time.process_time() - start:.1f} s of CPU time")
    compare("L=24 B=128 D=64 scanned, unrolled", *programs)


def torch() -> None:
    """The same network in PyTorch (second), `paper` interaction, D = 128, 4 layers."""
    if importlib.util.find_spec("torch") is None:
        raise PacodiError("PyTorch is not importable; put a copy of it on PYTHONPATH.")
    import torch_block

    for length, batches in [(24, (128, 256)), (128, (128, 256))]:
        network = DualBranch(7, 128, 4, 4, interaction="paper")
        twin = partial(torch_block.program, width=128, depth=4, heads=4, channels=7, length=length)
        title = f"L={length} B={batches[0]} forward + backward"
        compare(title, gradient(network, length, batches[0]), twin(batch=batches[0], train=True))
        title = f"L={length} B={batches[1]} forward"
        compare(title, forward(network, length, batches[1]), twin(batch=batches[1], train=False))


def main(arguments: Sequence[str]) -> None:
    """Runs the benchmarks that are named."""
    parser = argparse.ArgumentParser(
        description="Measures the networks; see docs/experiments/efficiency.md."
    )
    parser.add_argument("names", nargs="*", default=["small"], help="what to measure (small)")
    parser.add_argument("--model", default="time", help="whose memory (time)")
    options = parser.parse_args(arguments)
    network = choose("--model", options.model, models(channels=7, width=128, depth=4, heads=4))
    benchmarks = {f.__name__: f for f in (torch, branches, precision, small)}
    benchmarks["memory"] = partial(memory, network)
    for name in options.names:
        choose("benchmark", name, benchmarks)()


if __name__ == "__main__":
    reuse_memory()
    try:
        main(sys.argv[1:])
    except PacodiError as error:
        sys.exit(f"error: {error}")
