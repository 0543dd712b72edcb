"""Every setting is read by something that acts on it."""

import dataclasses
import sys

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.cli import work
from pacodi_jax.config import Section, setting
from pacodi_jax.data import DataSettings
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.models import FAMILIES
from pacodi_jax.run import parts, score
from pacodi_jax.settings import Config, Evaluation, TrainSettings, sections_of
from pacodi_jax.text.settings import TextSettings, build_encoder
from pacodi_jax.train.from_config import train

QUICK = Budget(encoder_steps=4, discriminative_steps=4, predictive_steps=4, strong_steps=4)
#: Functions that handle settings without knowing what they mean.
BLIND = {"to_dict", "check", "__post_init__", "make", "replace", "__eq__", "__hash__", "parse"}


@pytest.fixture
def reads(monkeypatch) -> set[str]:
    """Every ``section.setting`` that a meaningful reader asks for, while the test runs."""
    found: set[str] = set()

    def spy(section, name):
        reader = sys._getframe(1).f_code
        fields = type(section).__dataclass_fields__
        if name in fields and reader.co_name not in BLIND and "config.py" not in reader.co_filename:
            found.add(f"{type(section).section}.{name}")
        return object.__getattribute__(section, name)

    monkeypatch.setattr(Section, "__getattribute__", spy)
    return found


def test_only_what_acts_on_a_setting_counts_as_reading_it(reads):
    """A setting that is checked, compared and stored, but asked for by nobody, is found."""

    @dataclasses.dataclass(frozen=True)
    class Toy(Section, name="toy"):
        width: int = setting(3, "of it", least=1)
        idle: int = setting(3, "of nothing", least=1)

    toy = Toy().replace(idle=4)
    assert toy.to_dict() == {"width": 3, "idle": 4}
    assert toy != Toy()
    assert reads == set()
    assert toy.width == 3
    assert reads == {"toy.width"}


def test_no_setting_goes_unread(reads, tmp_path):
    """A short life of a run, and of the parts that only some runs have."""
    frame = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=400, freq="h")})
    frame["who"], frame["grade"] = "a", "high"
    frame["value"] = np.sin(np.arange(400) / 4)
    frame.to_csv(tmp_path / "t.csv", index=False)
    config = Config.default(size="tiny").changed(
        {
            "data.source": "table",
            "data.path": str(tmp_path / "t.csv"),
            "data.length": 8,
            "data.time": "when",
            "data.id": "who",
            "data.static": "grade",
            "train.steps": 4,
            "train.batch": 8,
            "train.decay": "plateau",
            "train.accumulate": 2,
            "train.warmup": 0,
            "evaluate.windows": 30,
            "evaluate.seeds": 1,
        }
    )
    outcome = train(config, tmp_path / "run")
    score.score(outcome.model, outcome.dataset, config.evaluate, seed=0, budget=QUICK, steps=2)
    captions = {"data.static": (), "data.channels": "value", "text.encoder": "hashed"}
    told = config.changed(captions | {"text.phrasings": 1})
    parts.load_data(told)
    parts.load_data(config.changed({"data.split": "blocks"}))
    work.sample(outcome.model, tmp_path / "out", work.Wish(), {"steps": 2, "count": 2})
    build_encoder(TextSettings(encoder="endpoint", url="http://127.0.0.1:1/v1", model="m"))
    kinds = (DataSettings, TextSettings, TrainSettings, Evaluation)
    sections = {kind.section: kind for kind in kinds} | sections_of(FAMILIES["pacodi"])
    every = {
        f"{name}.{field.name}"
        for name, kind in sections.items()
        for field in dataclasses.fields(kind)
    }
    assert every - reads == set()
