"""The default guidance of a model that reads texts, chosen on validation.

Short held-out requests are made of validation windows: what a caption states of a window, and what
it says. Per scale of guidance, windows are drawn for them, and measured as captions are. The choice
is the smallest scale that comes within :data:`_NEAR` of the best share of requests that are met,
among those whose draws stay within the range of train.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import numpy as np

from pacodi_jax.data import Dataset
from pacodi_jax.data.captioned import Captioned
from pacodi_jax.run.trained import Trained
from pacodi_jax.text import captions, facts, properties, statements

SCALES = (1.0, 1.5, 2.0, 3.0)
_REQUESTS = 400
_NEAR = 0.01
#: At most so many values may lie beyond train's range by :data:`MARGIN` of it.
_OUTSIDE, MARGIN = 0.01, 0.1
_STREAM = 4  # folded into the run's seed


class Effect(NamedTuple):
    """What a scale of guidance does.

    Attributes:
      met: the share of requests that are met.
      outside: the share of values beyond train's range by a tenth of it.
    """

    met: float
    outside: float


def choose(model: Trained, dataset: Dataset) -> float | None:
    """The scale for requests by text; None where nothing can be chosen.

    That is without texts, without windows to validate on, for texts of the user's own, which state
    nothing that could be measured, and where the settings name a scale.
    """
    open_scale = getattr(model.config.sample, "guidance", 1.0) is None
    known = isinstance(dataset.train, Captioned) and model.recipe.text is None
    if not (open_scale and known and len(dataset.validation)):
        return None
    return best(scores(model, dataset))


def best(found: dict[float, Effect]) -> float:
    """The smallest scale near the best one of those that stay in range; else the smallest."""
    fine = {scale: one.met for scale, one in found.items() if one.outside <= _OUTSIDE}
    near = [scale for scale, met in fine.items() if met >= max(fine.values()) - _NEAR]
    return min(near or found)


def scores(model: Trained, dataset: Dataset) -> dict[float, Effect]:
    """What every scale does with the same requests and the same noise."""
    assert isinstance(dataset.validation, Captioned), "texts were given to every part"
    train = dataset.train.once().values()
    yardsticks = properties.fit(train[:, :, 0])
    rows = np.linspace(0, len(dataset.validation) - 1, _REQUESTS).astype(int)
    told = [
        captions.tell(facts.measure(window, yardsticks), seed, split="held_out", detail="drawn")
        for seed, window in enumerate(dataset.validation.take(rows)[:, :, 0])
    ]
    short = [bool(one.stated) and one.text.count(". ") < 2 for one in told]
    brief = [one for one, chosen in zip(told, short, strict=True) if chosen]
    asked = replace(dataset.validation.pick(rows[short]), vectors=_vectors(model, brief))
    conditions = asked.condition()  # their static columns and dates are those of their windows
    key = jax.random.fold_in(jax.random.key(model.config.seed), _STREAM)
    low, high = widened(train)
    found = {}
    for scale in SCALES:
        made = model.draw_scaled(key, len(brief), conditions, guidance=scale)[:, :, 0]
        met = [
            statements.holds(facts.measure(window, yardsticks), one.stated or {})
            for window, one in zip(made, brief, strict=True)
        ]
        outside = np.mean((made < low) | (made > high))
        found[scale] = Effect(float(np.mean(met)), float(outside))
    return found


def widened(train: np.ndarray) -> tuple[float, float]:
    """The range of train, wider by a tenth of it at both ends."""
    low, high = float(train.min()), float(train.max())
    return low - MARGIN * (high - low), high + MARGIN * (high - low)


def _vectors(model: Trained, told: list[captions.Told]) -> np.ndarray:
    encoder = model.encoder()
    if encoder.gives_statements:
        return np.stack([statements.vector(one.stated or {}) for one in told])
    return encoder.encode([one.text for one in told])
