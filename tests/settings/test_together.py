"""All settings in one object: every mistake is named, every default and check stands once."""

import dataclasses

import pytest

from pacodi_jax.configs import common
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import FAMILIES
from pacodi_jax.settings import ENGINE, Config, flatten, sections_of


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
    assert flatten(Config.default().parsed(texts).to_dict())[name] == value


def test_every_setting_explains_itself():
    for kind in (*ENGINE.values(), *sections_of(FAMILIES["pacodi"]).values()):
        for field in dataclasses.fields(kind):
            assert field.metadata["text"], f"{kind.section}.{field.name}"


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


def test_config_dicts_hold_what_the_settings_hold():
    config = Config.default("temporal", "base").changed({"data.missing": -200})
    assert Config.make(common.to_config_dict(config).to_dict()) == config
    assert Config.make(common.to_config_dict(Config.default()).to_dict()) == Config.default()
