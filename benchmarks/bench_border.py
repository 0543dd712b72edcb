"""The jump where observed steps end and drawn ones begin, and what does not explain it.

    python benchmarks/bench_border.py RUN [--windows 480]

Training windows, spread evenly, are given their first half; the rest is drawn. A jump is the
absolute difference of two neighbouring steps (*mean*), or the root of its mean square (*rms*), over
that of all training windows at the same place, the mean over channels. Printed for the Gaussian
conditional and for the network with several softnesses of the observations, steps and solvers.
"""

import argparse
import sys
from pathlib import Path

import bench_observed
import jax
import jax.numpy as jnp
import numpy as np
import observed_baselines as baselines
from observed_methods import KEY, Budget, Subject

from pacodi_jax.core import conditioning
from pacodi_jax.core.conditioning import Observed
from pacodi_jax.errors import PacodiError

#: Least variance of an observation, as a share of the mean of Σ_t's spectrum; and how it is drawn.
VARIANTS = (
    (conditioning.SOFTNESS, {}),
    (1e-6, {}),
    (1e-2, {}),
    (conditioning.SOFTNESS, {"steps": 50}),
    (conditioning.SOFTNESS, {"solver": "sde_dpmpp_2m"}),
)


def jumps(windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and root mean square of the jumps of ``(N, L, C)`` windows: ``(L − 1, C)`` each."""
    found = np.diff(windows, axis=1)
    return np.abs(found).mean(axis=0), np.sqrt((found**2).mean(axis=0))


def line(name: str, drawn: np.ndarray, train: np.ndarray) -> str:
    """The jumps at the border and beyond it over those of train."""
    border, told = drawn.shape[1] // 2 - 1, []
    for kind, ours, theirs in zip(("mean", "rms"), jumps(drawn), jumps(train), strict=True):
        ratio = (ours / theirs).mean(axis=1)
        told.append(
            f"{kind} {ratio[border]:.3f} at the border, {ratio[border + 1 :].mean():.3f} after"
        )
    return f"{name}: {'; '.join(told)}"


def given_half(
    subject: Subject, windows: np.ndarray, told: np.ndarray | None, how: dict
) -> np.ndarray:
    """Windows drawn given their first half."""
    mask = np.zeros(windows.shape, bool)
    mask[:, : windows.shape[1] // 2] = True
    observed = Observed(windows, mask, np.zeros(windows.shape[2], np.float32))
    condition = None if told is None else jnp.asarray(told)
    key = jax.random.key(KEY)
    return subject.generator.sample(
        key, subject.weights, len(windows), condition, observed=observed, batch=160, **how
    )


def gaussian(train: np.ndarray, windows: np.ndarray) -> np.ndarray:
    """The same, drawn from the Gaussian conditional."""
    seen = np.zeros(windows.shape[1:], bool)
    seen[: len(seen) // 2] = True
    law = baselines.given(baselines.fit(train), windows, seen)
    drawn = windows.astype(np.float64)
    drawn[:, ~seen] = baselines.draw(np.random.default_rng(0), law, 1)[0]
    return drawn


def main() -> None:
    """Prints a line per variant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--windows", type=int, default=480)
    asked = parser.parse_args()
    if asked.windows < 2:
        parser.error("--windows: 2 or more")
    subject, _ = bench_observed.prepare(asked.run, Budget(20, 2, 20))
    every, told = subject.train
    rows = np.arange(min(asked.windows, len(every))) * len(every) // min(asked.windows, len(every))
    windows, told = every[rows], None if told is None else told[rows]
    print(line("gaussian", gaussian(every, windows), every), flush=True)
    for softness, how in VARIANTS:
        conditioning.SOFTNESS = softness
        subject.generator._tables.clear()
        drawn = given_half(subject, windows, told, how)
        print(line(f"network, softness {softness:g}, {how}", drawn, every), flush=True)


if __name__ == "__main__":
    try:
        main()
    except PacodiError as error:
        sys.exit(f"error: {error}")
