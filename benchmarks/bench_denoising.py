"""Compares a trained run's denoiser with the best linear ones, on windows that it never saw.

    python benchmarks/bench_denoising.py RUN [RUN …]

The noise loss on held-out windows at fixed times and with fixed noise; the linear denoisers are
fitted in closed form to the run's training windows. Below ``full`` the network knows what no
linear filter can.
"""

import sys
from functools import partial

import jax
import jax.numpy as jnp

from pacodi_jax import run
from pacodi_jax.core.linear import linear_denoiser, noise_error


def main(folders: list[str]) -> None:
    """Prints a table, one line a run."""
    print("| run | steps | network | full covariance | diagonal |\n|---|---:|---:|---:|---:|")
    for folder in folders:
        trained = run.load(folder)
        dataset, generator = run.load_data(trained.config), trained.generator
        coding, schedule = generator.statistics, generator.process.schedule
        train, unseen = (
            jax.jit(jax.vmap(coding.encode))(jnp.asarray(part.values()))
            for part in (dataset.train, dataset.held_out)
        )
        denoisers = [
            generator.denoiser(trained.params),
            linear_denoiser(train, schedule, coding.variance),
            linear_denoiser(train, schedule, coding.variance, diagonal=True),
        ]
        error = partial(
            noise_error, key=jax.random.key(0), schedule=schedule, variance=coding.variance
        )
        errors = [jax.jit(lambda clean, e=error, d=d: e(d, clean=clean))(unseen) for d in denoisers]
        told = " | ".join(f"{float(error):.5f}" for error in errors)
        print(f"| {folder} | {trained.card['steps']} | {told} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
