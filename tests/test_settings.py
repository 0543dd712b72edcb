"""Settings: every one is read, every mistake is named, one default and one check each."""

import dataclasses
import json
import sys

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import settings
from pacodi_jax.cli import work
from pacodi_jax.config import Section, setting
from pacodi_jax.configs import common
from pacodi_jax.data import DataSettings
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.models import FAMILIES
from pacodi_jax.run import parts, score
from pacodi_jax.settings import Config, Evaluation, TrainSettings
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
    sections = {kind.section: kind for kind in kinds} | settings._sections(FAMILIES["pacodi"])
    every = {
        f"{name}.{field.name}"
        for name, kind in sections.items()
        for field in dataclasses.fields(kind)
    }
    assert every - reads == set()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("train.steps", 0, "train.steps=0; accepted: 1, 2, 3, …"),
        ("train.max_skips", 10**30, "train.max_skips=100000000000000000000000000000; accepted: w"),
        ("sample.steps", 10**9, "sample.steps=1000000000; accepted: 1 to 100000"),
        ("train.learning_rate", -1.0, "train.learning_rate=-1.0; accepted: a positive number"),
        ("train.ema", 1.0, "0 <= ema < 1"),
        ("train.warmup", 40_000, "train.warmup=40000 leaves none of the 40000 updates"),
        ("train.warmup", -0.1, "train.warmup=-0.1; accepted: 0, a share"),
        ("train.checkpoint_every", 0, "train.checkpoint_every=0.0; accepted: a share"),
        ("train.clip", float("nan"), "train.clip=nan; accepted: a positive number"),
        ("train.backend", "shardmap", "Did you mean 'shard_map'?"),
        ("train.steps", "many", "train.steps='many'; a whole number is needed"),
        ("train.steps", 2.5, "train.steps=2.5; a whole number is needed"),
        ("train.calibration", 5, "0 (none), or 100 and more draws"),
        ("sample.solver", "heunn", "Did you mean 'heun'?"),
        ("sample.eta", 1.5, "0 <= eta <= 1"),
        ("model.heads", 5, "model.heads=5 must divide model.width=64"),
        ("model.remat", "yes", "True or False is needed"),
        ("diffusion.parameterisation", "noise", "needs diffusion.parameterisation='wiener'"),
        ("diffusion.statistics", "generatd", "Did you mean 'generated'?"),
        ("model.name", "pacodo", "Did you mean 'pacodi'?"),
        ("seed", -1, "seed=-1; accepted: 0 <= seed < 2**32"),
        ("text.encoder", "hash", "Did you mean 'hashed'?"),
        ("train.stpes", 5, "no setting 'train.stpes'. Did you mean 'train.steps'?"),
        ("trian.steps", 5, "Did you mean 'train.steps'?"),
    ],
)
def test_an_impossible_setting_is_named(name, value, message):
    with pytest.raises(PacodiError) as error:
        Config.default().changed({name: value})
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("texts", "name", "value"),
    [
        ({"train.steps": "2000"}, "train.steps", 2000),
        ({"train.warmup": "100"}, "train.warmup", 100.0),
        ({"data.static": "('a', 'b')"}, "data.static", ("a", "b")),
        ({"data.static": "a, b"}, "data.static", ("a", "b")),
        ({"data.time": "2024"}, "data.time", ("2024",)),
        ({"data.id": "7"}, "data.id", "7"),
        ({"data.fractions": "0.5,0.25,0.25"}, "data.fractions", (0.5, 0.25, 0.25)),
        ({"data.missing": "-200"}, "data.missing", -200.0),
        ({"data.missing": "none"}, "data.missing", None),
        ({"model.remat": "TRUE"}, "model.remat", True),
        ({"seed": "7"}, "seed", 7),
    ],
)
def test_texts_of_a_command_line_are_read_in_the_settings_type(texts, name, value):
    assert settings.flatten(Config.default().parsed(texts).to_dict())[name] == value


def test_every_setting_explains_itself():
    for kind in (*settings._ENGINE.values(), *settings._sections(FAMILIES["pacodi"]).values()):
        for field in dataclasses.fields(kind):
            assert field.metadata["text"], f"{kind.section}.{field.name}"


def test_a_section_is_written_once_and_checked_when_it_is_made():
    @dataclasses.dataclass(frozen=True)
    class Toy(Section, name="toy"):
        width: int = setting(3, "of it", least=1)
        names: tuple[str, ...] = setting((), "of them")

    assert Toy(width=np.int64(4)).width == 4
    assert Toy(names="one").names == ("one",)
    assert Toy(names=["one", "two"]).names == ("one", "two")
    assert Toy().replace(width=5).to_dict() == {"width": 5, "names": ()}
    with pytest.raises(PacodiError, match=r"toy\.width=0"):
        Toy(width=0)
    with pytest.raises(PacodiError, match=r"no setting 'toy\.widht'. Did you mean 'width'"):
        Toy.make({"widht": 3})


def test_what_excludes_one_another_is_refused():
    for changes, message in (
        ({"model.name": "temporal", "diffusion.statistics": "generated"}, "temporal"),
        ({"train.calibration": 500, "data.static": "a"}, r"train\.calibration=500 is for models"),
        (
            {"train.calibration": 500, "diffusion.statistics": "oracle"},
            r"train\.calibration=500 would change the level",
        ),
        ({"text.encoder": "precomputed"}, "is for data.source='tsfragment'"),
        ({"data.text": "caption"}, r"data\.text='caption'.*text\.encoder"),
        ({"sample.solver": "heun", "sample.steps": 1}, "needs sample.steps of 2 or more"),
    ):
        with pytest.raises(PacodiError, match=message):
            Config.default().changed(changes)


def test_runs_of_version_0_1_have_the_settings_they_had():
    from pathlib import Path

    for path in (Path(__file__).parent / "fixtures/version_0_1").glob("*/config.json"):
        stored, found = json.loads(path.read_text()), settings.read(path)
        told = json.loads(json.dumps(found.to_dict()))
        assert told.pop("data") == stored.pop("data") | settings._EARLIER
        assert told == stored
        assert found.train.warmup_updates == stored["train"]["warmup"]
        del stored["train"]["calibration"]  # not in runs of earlier versions
        assert Config.make(stored).train.calibration == 0


def test_a_share_and_the_number_it_gives_are_the_same_run():
    share, number = Config.default(), Config.default().changed({"train.warmup": 500})
    assert settings.first_difference(share, number) is None
    other = Config.default().changed({"train.warmup": 501, "sample.steps": 3})
    assert settings.first_difference(share, other) == ("train.warmup", 0.0125, 501.0)


def test_config_dicts_hold_what_the_settings_hold():
    config = Config.default("temporal", "base").changed({"data.missing": -200})
    assert Config.make(common.to_config_dict(config).to_dict()) == config
    assert Config.make(common.to_config_dict(Config.default()).to_dict()) == Config.default()
