"""Settings: every one is read, every mistake is named."""

import ast
import importlib
import json
from pathlib import Path

import pytest

from pacodi_jax.configs import common
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Architecture, Settings
from pacodi_jax.train import config as configuration

ROOT = Path(__file__).parent.parent
PRESETS = ROOT / "pacodi_jax" / "configs"
CONFIGS = sorted(p.stem for p in PRESETS.glob("*.py") if p.stem not in ("common", "__init__"))
READERS = ("run/parts.py", "run/trained.py", "evaluate.py", "cli/main.py", "train/from_config.py")


def _attributes_read() -> set[str]:
    trees = [ast.parse((ROOT / "pacodi_jax" / name).read_text()) for name in READERS]
    return {n.attr for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Attribute)}


def test_no_setting_goes_unread():
    config = common.get_config()
    assert set(config.model.keys()) == set(Architecture._fields)
    assert set(config.diffusion.keys()) == set(Settings._fields)
    read = _attributes_read()
    for section in ("data", "train", "sample", "evaluate", "text"):
        unread = set(config[section].keys()) - read
        assert not unread, f"config.{section}: nothing reads {unread}"


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("arguments", ["", "length=64,variant=ddpm,size=small", "preset=paper"])
def test_every_config_is_valid_and_survives_json(name, arguments):
    config = importlib.import_module(f"pacodi_jax.configs.{name}").get_config(arguments)
    configuration.validate(config)
    again = configuration.from_json(configuration.to_json(config))
    assert again.to_dict() == config.to_dict()
    assert config.data.length == (64 if "length" in arguments else 24)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_config_opens_with_its_command(name):
    text = (PRESETS / f"{name}.py").read_text()
    head = ast.get_docstring(ast.parse(text))
    assert f"python -m pacodi_jax.main --config=configs/{name}.py" in head
    assert "Two CPU cores:" in head
    assert "Scores" in head


def test_the_paper_preset_is_the_papers_model():
    sde, ddpm = (common.get_config(f"preset=paper,variant={v}") for v in ("sde", "ddpm"))
    for config in (sde, ddpm):
        assert config.diffusion.parameterisation == config.diffusion.loss == "noise"
        assert config.model.interaction == "paper"
        assert config.sample.steps == 500
        assert config.diffusion.statistics == "oracle"
    assert (sde.diffusion.schedule, sde.sample.solver) == ("vp", "euler_maruyama")
    assert (ddpm.diffusion.schedule, ddpm.sample.solver) == ("cosine", "ancestral")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("lenght=64", "Did you mean 'length'?"),
        ("length", "accepted: length="),
        ("length=0", "whole number from 1"),
        ("length=2.5", "whole number from 1"),
        ("variant=sdee", "Did you mean 'sde'?"),
        ("size=huge", "accepted: base, large, small, tiny"),
    ],
)
def test_a_wrong_argument_is_named(arguments, message):
    with pytest.raises(PacodiError, match="config argument") as error:
        common.get_config(arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("train.steps", 0, "config.train.steps=0"),
        ("train.learning_rate", -1.0, "config.train.learning_rate=-1.0"),
        ("train.ema", 1.0, "0 <= ema < 1"),
        ("sample.solver", "heunn", "Did you mean 'heun'?"),
        ("model.heads", 5, "must divide"),
        ("diffusion.parameterisation", "noise", "needs config.diffusion.parameterisation='wiener'"),
        ("diffusion.statistics", "generatd", "Did you mean 'generated'?"),
        ("seed", -1, "0 <= seed"),
        ("sample.eta", 1.5, "0 <= eta <= 1"),
        ("train.warmup", 40_000, "config.train.warmup=40000 leaves none of the 40000 updates"),
        ("train.accumulate", 100, "config.train.warmup=500 leaves none of the 400 updates"),
        ("train.clip", float("nan"), "config.train.clip=nan; accepted: a positive number"),
        ("train.backend", "shardmap", "Did you mean 'shard_map'?"),
        ("text.encoder", "hash", "Did you mean 'hashed'?"),
    ],
)
def test_an_impossible_value_is_named(key, value, message):
    config = common.get_config()
    with config.unlocked():
        config.update_from_flattened_dict({key: value})
    with pytest.raises(PacodiError) as error:
        configuration.validate(config)
    assert message in str(error.value)


def test_generated_statistics_need_a_spectrum():
    config = common.get_config("model=temporal")
    config.diffusion.statistics = "generated"
    with pytest.raises(PacodiError, match="temporal"):
        configuration.validate(config)


def test_what_is_better_on_a_data_set_gives_way_to_the_paper_and_must_exist():
    air = importlib.import_module("pacodi_jax.configs.air")
    assert air.get_config().train.calibration > 0
    assert air.get_config().diffusion.statistics == "generated"
    assert air.get_config("model=temporal").diffusion.statistics == "none"
    paper = air.get_config("preset=paper")
    assert (paper.train.calibration, paper.diffusion.statistics) == (0, "oracle")
    etth1 = importlib.import_module("pacodi_jax.configs.etth1")
    assert etth1.get_config().train.calibration > 0
    assert etth1.get_config("preset=paper").train.calibration == 0
    with pytest.raises(KeyError, match="calibraton"):
        common.get_config(better={"train.calibraton": 5})


def test_runs_of_earlier_versions_were_not_calibrated():
    settings = common.get_config().to_dict()
    del settings["train"]["calibration"]
    assert configuration.from_json(json.dumps(settings)).train.calibration == 0


@pytest.mark.parametrize(
    ("key", "value"), [("data.static", ("a",)), ("diffusion.statistics", "oracle")]
)
def test_calibration_of_conditional_and_borrowing_models_is_refused(key, value):
    config = common.get_config(better={"train.calibration": 500, key: value})
    with pytest.raises(PacodiError, match=r"train\.calibration=500"):
        configuration.validate(config)
