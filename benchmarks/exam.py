"""The test set for texts: held-out windows, their captions in held-out phrasings, and the errors.

Errors are in the scale of the data settings: standardised by train, as models see the windows.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pacodi_jax import files
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.conditional import best_of_n, crps, mse, wape
from pacodi_jax.run import parts
from pacodi_jax.settings import Config
from pacodi_jax.text import captions, facts, properties

#: Quantiles of train's values that bound their usual range.
_TAILS = (0.01, 0.99)


class Exam(NamedTuple):
    """What every model is asked, and what the answers are compared with.

    Attributes:
      windows: ``(N, L, 1)``, held out.
      texts: their captions, in held-out phrasings.
      yardsticks: of the captions, from train.
      mean: ``(L, 1)`` the mean training window, a reference.
      usual: the range of the central 98 % of train's values.
    """

    windows: np.ndarray
    texts: list[str]
    yardsticks: properties.Yardsticks
    mean: np.ndarray
    usual: tuple[float, float]


def prepare(config: Config, count: int, part: str = "held_out") -> Exam:
    """Takes ``count`` held-out windows, evenly spread, and words each in a held-out phrasing.

    Args:
      config: a run's settings; of these, what data it asks for.
      count: how many windows, at most those that there are.
      part: which windows; those of ``"validation"`` are for choices.

    Raises:
      PacodiError: if no window is held out.
    """
    dataset = parts.load_windows(config)
    asked = getattr(dataset, part)
    if not len(asked):
        raise PacodiError("no window is held out; give data.fractions a third part.")
    train = dataset.train.values()
    yardsticks = properties.fit(train[:, :, 0])
    rows = np.linspace(0, len(asked) - 1, count).astype(int)
    windows = asked.take(np.unique(rows))
    texts = [
        captions.word(
            facts.measure(window[:, 0], yardsticks), seed, split="held_out", detail="full"
        )
        for seed, window in enumerate(windows)
    ]
    low, high = np.quantile(train, _TAILS)
    return Exam(windows, texts, yardsticks, train.mean(axis=0), (float(low), float(high)))


def errors(windows: np.ndarray, draws: np.ndarray) -> dict[str, float]:
    """Errors of the draws' mean, of single draws, of the best one, and CRPS."""
    best = best_of_n(windows, draws)
    return {
        "mse": mse(windows, draws.mean(axis=0)),
        "wape": wape(windows, draws.mean(axis=0)),
        "mse_single": float(np.mean([mse(windows, one) for one in draws])),
        "wape_single": float(np.mean([wape(windows, one) for one in draws])),
        "mse_best": mse(windows, best),
        "wape_best": wape(windows, best),
        "crps": crps(windows, draws),
    }


def ratios(found: dict[str, float], references: dict[str, dict[str, float]]) -> dict[str, float]:
    """MSE and WAPE relative to each reference; below 1 is better than the reference."""
    return {
        f"{kind}_to_{name}": found[kind] / reference[kind]
        for name, reference in references.items()
        for kind in ("mse", "wape")
    }


def show(name: str, found: dict[str, float]) -> None:
    """Prints one line."""
    told = "  ".join(f"{key} {value:.3f}" for key, value in found.items())
    print(f"  {name:14s} {told}", flush=True)


def write(path: Path, found: dict[str, Any]) -> None:
    """Writes the results as JSON, numbers to four places."""
    rounded = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 4))
    files.write_text(path, json.dumps(rounded, indent=1) + "\n")
