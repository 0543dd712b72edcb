"""A trained model without a network: it returns real windows with a little noise."""

import numpy as np

from pacodi_jax import data
from pacodi_jax.models import Facts
from pacodi_jax.run.trained import Trained
from pacodi_jax.settings import Config
from tests.metrics.windows import waves

ORACLE = "statistics=oracle: level and scale of REAL windows"


class Copycat:
    """A generator of real windows with a little noise."""

    def __init__(self, windows, label):
        self.windows, self.label = windows, label

    def sample(self, key, weights, count, condition=None, *, progress=None, **how):
        noise = np.random.default_rng(0).normal(0, 0.01, (count, *self.windows.shape[1:]))
        return self.windows[:count] + noise

    def facts(self, **how):
        return Facts(self.label, evaluations=1)


def trained(found: data.Dataset, label: str = "") -> Trained:
    """A copycat of the training windows; ``label`` is what its files must say."""
    facts = {
        "model": "copycat",
        "channels": list(found.recipe.live_channels),
        "condition_width": 0,
        "encoder": "",
    }
    made = Trained(Config.default().changed({"data.length": 16}), found.recipe, facts, {}, {})
    made.__dict__["generator"] = Copycat(found.train.values(), label)
    return made


def load(folder, **options) -> data.Dataset:
    """Ready-made windows of four channels, the last of them constant."""
    windows = np.concatenate([waves(400, channels=3), np.full((400, 16, 1), 7.0)], axis=2)
    np.save(folder / "t.npy", windows.astype(np.float32))
    path = str(folder / "t.npy")
    return data.load(data.DataSettings(source="table", path=path, length=16, **options))
