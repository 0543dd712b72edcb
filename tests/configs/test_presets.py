"""Presets: valid with every argument, trained with every argument, found from anywhere."""

import ast
from pathlib import Path

import jax
import numpy as np
import pytest
from ml_collections import ConfigDict

from pacodi_jax.configs import common, loader, presets, text
from pacodi_jax.errors import PacodiError
from pacodi_jax.settings import Config, flatten
from pacodi_jax.train.from_config import train

pytestmark = pytest.mark.usefixtures("quick_compiles")

ROOT = Path(__file__).parents[2]
NAMES = loader.names()
ARGUMENTS = [
    "",
    "length=64",
    "variant=ddpm",
    "model=temporal",
    "model=monolithic",
    "size=tiny",
    "size=large",
    "preset=paper",
    "preset=paper,variant=ddpm",
    "preset=paper,model=temporal",
    "preset=ddpm,model=temporal",
]


def _config(name: str, arguments: str = "") -> Config:
    return Config.make(loader.load(f"{name}:{arguments}").to_dict())


def test_the_presets_are_those_of_the_card():
    assert {"etth1", "stocks", "sines", "air", "table", "text"} <= set(NAMES)
    assert sorted(path.stem for path in (ROOT / "configs").glob("*.py")) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_every_preset_is_valid_and_survives_json(name, arguments, tmp_path):
    config = _config(name, arguments)
    assert Config.make(config.to_dict()) == config
    assert config.data.length == (64 if "length" in arguments else 24)


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_opens_with_its_command_and_the_clone_re_exports_it(name):
    head = ast.get_docstring(ast.parse((ROOT / f"pacodi_jax/configs/{name}.py").read_text()))
    assert f"python -m pacodi_jax.main --config=configs/{name}.py" in head
    assert "Two CPU cores:" in head
    assert "Scores" in head
    here = loader.load(str(ROOT / f"configs/{name}.py:length=12"))
    assert here.to_dict() == loader.load(f"{name}:length=12").to_dict()


SHRUNK = {
    "data.length": 8,
    "data.fractions": (0.8, 0.2, 0.0),
    "model.width": 16,
    "model.depth": 1,
    "model.heads": 2,
    "train.steps": 8,
    "train.batch": 8,
    "train.calibration": 0,
    "train.chunk": 4,
}


def _table(channels: int = 1, rows: int = 300) -> np.ndarray:
    steps = np.arange(rows)[:, None] / (5 + np.arange(channels))
    return np.sin(steps) + 0.1 * np.random.default_rng(0).normal(size=(rows, channels))


def _trains(config: Config, keep: str = " ") -> None:
    """No step is skipped, weights move, and the loss is finite."""
    columns = config.data.channels or ("a", "b")
    frame = dict(zip(columns, _table(len(columns), 700).T, strict=True))
    import pandas as pd

    plain = {"data.source": "table", "text.width": 64} | SHRUNK
    plain = {name: value for name, value in plain.items() if not name.startswith(keep)}
    if config.text.encoder == "precomputed":
        plain |= {"text.encoder": "hashed", "data.channels": ("a",)}
        frame = {"a": _table(1, 700)[:, 0]}
    outcome = train(config.changed(plain), table=pd.DataFrame(frame))
    state = outcome.run.state
    assert int(state.skipped) == 0
    assert int(state.step) == 8
    moved = [
        np.abs(p - e).max()
        for p, e in zip(*map(jax.tree.leaves, (state.params, state.ema)), strict=True)
    ]
    assert max(moved) > 0
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state.params))
    assert np.isfinite(outcome.model.draw(2, steps=2).values).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_trains(name):
    _trains(_config(name))


#: What an argument is for, and so must not be shrunk.
KEPT = {"length": "data.length", "size": "model."}


@pytest.mark.parametrize("arguments", [a for a in ARGUMENTS if a])
def test_every_argument_trains(arguments):
    name = arguments.partition("=")[0]
    assert name in common.ARGUMENTS
    _trains(_config("sines", arguments), KEPT.get(name, " "))


def test_every_argument_is_among_those_that_are_tested():
    tried = {piece.partition("=")[0] for a in ARGUMENTS if a for piece in a.split(",")}
    assert tried == set(common.ARGUMENTS)


@pytest.mark.parametrize("source", [*text.CHANNELS, "tsfragment"])
def test_every_source_of_text_is_valid_and_gives_way_to_the_paper(source):
    config = _config("text", f"source={source}")
    assert (config.data.source, config.family.model.interaction) == (source, "iso_flops")
    assert config.text.encoder == ("precomputed" if source == "tsfragment" else "hashed")
    paper = _config("text", f"source={source},preset=paper")
    assert (paper.text, paper.data.channels) == (config.text, config.data.channels)
    assert (paper.family.model.interaction, paper.train.decay) == ("paper", "plateau")
    assert paper.train == _config("etth1", "preset=paper").train


def test_a_preset_of_texts_trains_with_the_vectors_of_its_source_replaced():
    _trains(_config("text", "source=tsfragment"))


def test_the_papers_recipe_lowers_its_loss_and_resumes_bit_for_bit(tmp_path):
    """Accumulated gradients behind a plateau: both lose a naive chain."""
    config = _config("sines", "preset=paper").changed(
        SHRUNK
        | {"train.steps": 40, "train.warmup": 2, "train.log_every": 10, "data.source": "table"}
    )
    whole = train(config, tmp_path / "whole", table=_table(2))
    losses = [
        ast.literal_eval(line.replace("null", "None"))
        for line in (tmp_path / "whole/metrics.jsonl").read_text().splitlines()
    ]
    values = [line["loss"] for line in losses if "loss" in line]
    assert values[-1] < values[0]
    train(config.changed({"train.steps": 13}), tmp_path / "parts", table=_table(2))
    parts = train(config, tmp_path / "parts", table=_table(2))
    assert parts.run.first == 13
    for first, second in zip(
        *map(jax.tree.leaves, (whole.run.state, parts.run.state)), strict=True
    ):
        np.testing.assert_array_equal(first, second)


def test_the_paper_preset_is_the_papers_model():
    sde, ddpm = (common.get_config(f"preset=paper,variant={v}") for v in ("sde", "ddpm"))
    for config in (sde, ddpm):
        assert config.diffusion.parameterisation == config.diffusion.loss == "noise"
        assert config.model.interaction == "paper"
        assert config.sample.steps == 500
        assert config.diffusion.statistics == "oracle"
        train = Config.make(config.to_dict()).train
        assert (train.updates, train.warmup_updates) == (18_000, 500)  # the release's, of 2 x 128
    assert (sde.diffusion.schedule, sde.sample.solver) == ("vp", "euler_maruyama")
    assert (ddpm.diffusion.schedule, ddpm.sample.solver) == ("cosine", "ancestral")


def test_the_ddpm_preset_is_a_thousand_ancestral_steps_of_a_temporal_network():
    config = Config.make(common.get_config("preset=ddpm,model=temporal").to_dict()).family
    assert (config.diffusion.variant, config.diffusion.schedule) == ("ddpm", "ddpm_linear")
    assert config.diffusion.ddpm_steps == config.sample.steps == 1000
    assert config.diffusion.parameterisation == config.diffusion.loss == "noise"
    assert (config.sample.solver, config.sample.grid) == ("ancestral", "uniform")


@pytest.mark.parametrize(
    ("name", "model"),
    [*((name, "diffusion_ts") for name in NAMES), ("etth1", "freqdiff"), ("air", "freqdiff")],
)
def test_a_family_keeps_what_it_wants_in_every_preset(name, model):
    """What measures better for PaCoDi on a data set does not override another family's own."""
    config = _config(name, f"model={model}")
    wanted = config.model.defaults | config.model.per_source.get(config.data.source, {})
    assert {key: flatten(config.to_dict())[key] for key in wanted} == wanted


def test_the_authors_settings_of_a_data_set_leave_a_size_alone():
    plain, sized = (_config("sines", f"model=diffusion_ts{size}") for size in ("", ",size=base"))
    assert (plain.family.model.encoders, plain.train.plateau_patience) == (1, 3000)
    assert (sized.family.model.encoders, sized.train.plateau_patience) == (4, 3000)
    assert plain.train.warmup_updates == sized.train.warmup_updates == 500
    assert _config("stocks", "model=diffusion_ts").train.warmup_updates == 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("preset=ddpm", "preset=ddpm is not for model=pacodi; it needs model=temporal"),
        ("preset=ddpm,model=freqdiff", "preset=ddpm is not for model=freqdiff"),
        ("preset=ddpm,model=temporal,variant=sde", "preset=ddpm excludes variant=sde"),
        ("preset=paper,model=diffusion_ts", "preset=paper is not for model=diffusion_ts"),
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


def test_what_is_better_on_a_data_set_gives_way_to_the_paper_and_must_exist():
    assert _config("air").train.calibration > 0
    assert _config("air").family.diffusion.statistics == "generated"
    assert _config("air", "model=temporal").family.diffusion.statistics == "none"
    paper = _config("air", "preset=paper")
    assert (paper.train.calibration, paper.family.diffusion.statistics) == (0, "oracle")
    assert _config("etth1").train.calibration > 0
    assert _config("etth1", "preset=paper").train.calibration == 0
    with pytest.raises(KeyError, match="calibraton"):
        common.get_config(better={"train.calibraton": 5})


def test_a_preset_is_found_by_file_by_name_and_outside_a_clone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    packaged = loader.load("configs/sines.py:length=12").to_dict()
    assert packaged == loader.load("sines:length=12").to_dict()
    own = tmp_path / "my own:config.py"
    own.write_text(
        "from pacodi_jax.configs import common\n"
        "def get_config(arguments=''):\n"
        "    return common.get_config(arguments, source='sines')\n"
    )
    assert loader.load(f"{own}:length=12").to_dict() == packaged
    assert isinstance(loader.load(str(own)), ConfigDict)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no config"),
        ("x = 1\n", "has no function get_config"),
        ("def get_config():\n    return {}\n", "returned dict, no ConfigDict"),
    ],
)
def test_a_file_that_is_no_config_is_named(tmp_path, text, message):
    path = tmp_path / "own.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(PacodiError, match=message):
        loader.load(str(path))
    with pytest.raises(PacodiError, match="Did you mean 'sines'"):
        loader.load("configs/sine.py")


def test_a_source_is_a_preset_or_a_file(tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("a\n1\n")
    found = presets.config_of(str(table), {"size": "tiny", "model": None})
    assert (found.data.source, found.data.path) == ("table", str(table))
    assert found.family.model.width == 32
    assert presets.config_of("air", {}).data.source == "air"
    with pytest.raises(PacodiError, match=r"no file 'etth'.* Did you mean 'etth1'"):
        presets.config_of("etth", {})
