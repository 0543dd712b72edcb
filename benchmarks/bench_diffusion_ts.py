"""Our Diffusion-TS against the authors' PyTorch: windows per second of training and sampling.

    git clone https://github.com/Y-debug-sys/Diffusion-TS /elsewhere/Diffusion-TS
    OMP_NUM_THREADS=1 PYTHONPATH=/where/torch/is taskset -c 0 \
        python benchmarks/bench_diffusion_ts.py --clone /elsewhere/Diffusion-TS

The network is the authors' on ETTh1. A training step is theirs: two gradients of 128 windows, norm
clipped, Adam; here it is one gradient of 256, which is the same update. Ours also averages the
weights; the PyTorch side leaves that out. Sampling is 128 windows by T ancestral steps; T is small
here, and speeds are given for T = 500, as every step costs the same.

Both sides run in turn, round by round, in one process on one core. Times are the processor's, so
that other programs disturb both alike; ratios are taken within a round. PyTorch is no dependency,
and no line of the authors' is in this repository.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.cli.memory import reuse_memory
from pacodi_jax.data.batches import Order, Resident
from pacodi_jax.models import Batch, Shape
from pacodi_jax.run import parts
from pacodi_jax.settings import Config
from pacodi_jax.train import device_loop, optimiser
from pacodi_jax.train.sources import OnDevices

CHANNELS, BATCH = 7, 128
STEPS, DRAWN_STEPS, FULL_STEPS = 4, 10, 500

#: Does its work once and returns the windows it is worth.
Work = Callable[[], float]


def ours(length: int) -> dict[str, Work]:
    """Training and sampling of this package."""
    changes = {"data.length": length, "train.steps": 100, "diffusion.steps": DRAWN_STEPS}
    config = Config.default("diffusion_ts").changed(changes)
    windows = _windows(length)
    shape = Shape(length, CHANNELS)
    arrays = config.model.prepare(config.family, windows, None)
    generator = parts.build_generator(config, shape, arrays, optimiser.build)
    slots = np.arange(2 * BATCH, dtype=np.int32)
    state = jax.jit(generator.init)(jax.random.key(0), Batch(windows[: 2 * BATCH], slots))
    weights = jax.tree.map(jnp.asarray, generator.weights(state))
    series, starts = windows.reshape(-1, CHANNELS), np.arange(len(windows)) * length
    data = Resident(series, starts.astype(np.int32), None, np.arange(length, dtype=np.int32))
    source = OnDevices(data, Order(0, 2 * BATCH, len(windows)))
    program = parallel.map_step(device_loop.chunk(generator, source.batch, STEPS))
    resident = source.data(0, "pmap")
    held = [parallel.replicate(state)]

    def train() -> float:
        held[0], _ = jax.block_until_ready(program(held[0], resident, np.int32(STEPS)))
        return STEPS * 2 * BATCH

    def draw() -> float:
        generator.sample(jax.random.key(1), weights, BATCH, batch=BATCH)
        return BATCH * DRAWN_STEPS / FULL_STEPS

    return {"training": train, "sampling": draw}


def theirs(length: int) -> dict[str, Work]:
    """Training and sampling of the authors' modules, which must be importable."""
    import torch
    from Models.interpretable_diffusion.gaussian_diffusion import Diffusion_TS

    torch.set_num_threads(1)
    torch.manual_seed(0)

    def make(steps: int) -> Any:
        sizes = {"n_layer_enc": 3, "n_layer_dec": 2, "d_model": 64, "n_heads": 4}
        convolution = {"mlp_hidden_times": 4, "kernel_size": 1, "padding_size": 0}
        return Diffusion_TS(length, CHANNELS, timesteps=steps, **sizes, **convolution)

    model, windows = make(FULL_STEPS), torch.tensor(_windows(length).tolist())
    sampler = make(DRAWN_STEPS).eval()
    adam = torch.optim.Adam(model.parameters(), lr=1e-5, betas=(0.9, 0.96))

    def train() -> float:
        for _ in range(STEPS):
            for _ in range(2):
                batch = windows[torch.randint(len(windows), (BATCH,))]
                (model(batch, target=batch) / 2).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            adam.zero_grad()
        return STEPS * 2 * BATCH

    def draw() -> float:
        sampler.sample((BATCH, length, CHANNELS))
        return BATCH * DRAWN_STEPS / FULL_STEPS

    return {"training": train, "sampling": draw}


def _windows(length: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (512, length, CHANNELS)).astype(np.float32)


def speed(work: Work) -> float:
    """Windows per second of processor time."""
    begun = time.process_time()
    return work() / (time.process_time() - begun)


def compare(length: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Speeds of each round by task and side, after one round of warm-up."""
    sides = {"ours": ours(length), "theirs": theirs(length)}
    found: dict[str, dict[str, list[float]]] = {}
    for task in ("training", "sampling"):
        turns = [
            {name: speed(side[task]) for name, side in sides.items()} for _ in range(rounds + 1)
        ]
        found[task] = {name: [turn[name] for turn in turns[1:]] for name in sides}
    return found


def row(length: int, task: str, speeds: dict[str, list[float]]) -> str:
    """A line of the table: medians of the speeds, median and range of the ratios."""
    ratios = np.divide(speeds["ours"], speeds["theirs"])
    middles = [f"{np.median(speeds[name]):,.1f}" for name in ("ours", "theirs")]
    spread = f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
    return f"| {length} | {task} | {' | '.join(middles)} | {spread} |"


def main() -> None:
    """Prints the table, and keeps the speeds if a place is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clone", type=Path, required=True, help="of Y-debug-sys/Diffusion-TS")
    parser.add_argument("--lengths", default="24,64,128")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, help="a JSON file for the speeds of every round")
    given = parser.parse_args()
    if not (given.clone / "Models" / "interpretable_diffusion").is_dir():
        raise SystemExit(f"{given.clone} holds no Models/interpretable_diffusion; clone it there")
    sys.path.insert(0, str(given.clone))
    reuse_memory()
    print("| L | task | ours, windows/s | authors' | ratio (range) |\n|---|---|---:|---:|---:|")
    kept = {}
    for length in map(int, given.lengths.split(",")):
        kept[str(length)] = compare(length, given.rounds)
        for task, speeds in kept[str(length)].items():
            print(row(length, task, speeds), flush=True)
        if given.out:
            given.out.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
