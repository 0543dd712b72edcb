"""Compares a trained run's denoiser with the best linear ones, on held-out windows.

    python benchmarks/bench_denoising.py RUN [RUN …]

Prints the noise loss on held-out windows at fixed times and with fixed noise. The linear denoisers
are fitted in closed form to the run's training windows. A network below ``full covariance`` has
learned what no linear filter can.
"""

import sys
from functools import partial

import jax
import jax.numpy as jnp

from pacodi_jax.core.linear import linear_denoiser, noise_error
from pacodi_jax.run import folder, parts


def main(runs: list[str]) -> None:
    """Prints a table, one line per run."""
    print("| run | steps | network | full covariance | diagonal |\n|---|---:|---:|---:|---:|")
    for name in runs:
        trained = folder.load(name)
        dataset, generator = parts.load_data(trained.config), trained.generator
        coding, schedule = generator.coding, generator.process.schedule
        train, unseen = (
            jax.jit(jax.vmap(coding.encode))(jnp.asarray(part.values()))
            for part in (dataset.train, dataset.held_out)
        )
        denoisers = [
            generator.denoiser(trained.weights),
            linear_denoiser(train, schedule, coding.variance),
            linear_denoiser(train, schedule, coding.variance, diagonal=True),
        ]
        error = partial(
            noise_error, key=jax.random.key(0), schedule=schedule, variance=coding.variance
        )
        errors = [jax.jit(lambda clean, e=error, d=d: e(d, clean=clean))(unseen) for d in denoisers]
        figures = " | ".join(f"{float(error):.5f}" for error in errors)
        print(f"| {name} | {trained.facts['steps']} | {figures} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
