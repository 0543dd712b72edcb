"""Training from the host's memory against training from the device's: processor time per step.

    python benchmarks/bench_stream.py [--config etth1] [--length 24] [--rounds 9] [--steps 128]

Both sources train the same network on the same batches in one process, in turn. Processor time
counts all threads, those that read ahead too. One line per round, then the median of the ratios
and the least and the greatest.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import jax
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.cli.memory import reuse_memory
from pacodi_jax.configs import presets
from pacodi_jax.models import Shape
from pacodi_jax.run import parts
from pacodi_jax.settings import Config
from pacodi_jax.train import device_loop, optimiser
from pacodi_jax.train.sources import Source, source_of


def trainer(config: Config, stream: str, steps: int) -> Callable[[], float]:
    """Returns what takes ``steps`` steps and says how much processor time one of them took."""
    config = config.changed({"data.stream": stream})
    train = parts.load_data(config).train
    windows = train.once().values()
    arrays = config.model.prepare(config.family, windows, train.condition())
    generator = parts.build_generator(config, Shape(*windows.shape[1:]), arrays, optimiser.build)
    source: Source = source_of(train, config)
    state = jax.tree.map(
        np.asarray,
        jax.jit(generator.init)(jax.random.key(0), source.example(config.train.batch)),
    )
    program = parallel.map_step(device_loop.chunk(generator, source.batch, 20), own_data=source.own)
    live, at = parallel.replicate(state), 0

    def take() -> float:
        nonlocal live, at
        begun, end = time.process_time(), at + steps
        while at < end:
            count = min(end - at, source.steps - at % source.steps if source.steps else steps)
            live, sums = program(live, source.data(at, "pmap"), np.int32(count))
            jax.block_until_ready(sums)
            at += count
        return (time.process_time() - begun) / steps

    take()
    return take


def main() -> None:
    """Parses the command line, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="etth1")
    parser.add_argument("--length", default="24")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=128)
    given = parser.parse_args()
    reuse_memory()
    config = presets.config_of(given.config, {"length": given.length})
    resident, streamed = (trainer(config, name, given.steps) for name in ("off", "on"))
    ratios = []
    for number in range(given.rounds):
        order = (resident, streamed) if number % 2 else (streamed, resident)
        times = {take: take() for take in order}
        ratios.append(times[resident] / times[streamed])
        speeds = [config.train.batch / times[take] for take in (resident, streamed)]
        print(
            f"resident {speeds[0]:,.0f}, streamed {speeds[1]:,.0f} windows per processor second",
            flush=True,
        )
    print(
        f"streamed over resident: median {statistics.median(ratios):.3f}, "
        f"{min(ratios):.3f} to {max(ratios):.3f} over {len(ratios)} rounds"
    )


if __name__ == "__main__":
    main()
