"""The folder of a run: old ones load and go on, edited and damaged ones are refused."""

import json
import shutil
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

from pacodi_jax import checkpoint, settings
from pacodi_jax.configs import common
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Batch, Shape
from pacodi_jax.run import folder, parts, sealed
from pacodi_jax.run.trained import Trained, sample_key
from pacodi_jax.train import optimiser
from pacodi_jax.train.from_config import train
from tests.compiling import compiling_quickly
from tests.text.runs import LENGTH, command, made, tiny

OLD = Path(__file__).parents[1] / "fixtures" / "version_0_1"
ASKED = {"run_plain": None, "run_static": {"grade": "high"}}


@pytest.mark.parametrize("name", ASKED)
def test_a_run_of_version_0_1_draws_the_windows_it_drew(name, caplog):
    trained = folder.load(OLD / name)
    assert (
        f"{name} is of version 0.1: its settings and recipe are not under the seal" in caplog.text
    )
    before = json.loads((OLD / name / "samples/samples.json").read_text())
    drawn = trained.draw(before["windows"], seed=before["seed"], static=ASKED[name])
    table = pd.read_csv(OLD / name / "samples/samples.csv")[["load", "visits", "flat"]]
    np.testing.assert_allclose(drawn.values.reshape(-1, 3), table, rtol=1e-4)
    request = trained.request(before["seed"], before["windows"], static=ASKED[name], text=None)
    scaled = trained.draw_scaled(sample_key(before["seed"]), before["windows"], request.vectors)
    stored = np.load(OLD / name / "samples/samples.npy")  # before whole numbers were rounded
    np.testing.assert_allclose(trained.recipe.scaler.unscale(scaled), stored, rtol=1e-4)
    assert drawn.facts["calibrated"] == before["calibrated"]
    for other in (10, 30):
        assert not trained.generator.facts(steps=other).calibrated


def test_a_run_of_version_0_1_has_no_law_of_its_static_columns():
    with pytest.raises(PacodiError, match=r"version 0\.1, which kept no law .* each of 'grade'"):
        folder.load(OLD / "run_static").draw(3)


def test_weights_of_version_0_1_that_do_not_fit_edited_settings_are_refused(tmp_path):
    shutil.copytree(OLD / "run_plain", tmp_path / "run")
    _edit(tmp_path / "run/config.json", "model", "width", 16)
    with pytest.raises(PacodiError, match=r"model\.safetensors"):
        folder.load(tmp_path / "run")


def test_a_run_of_version_0_1_goes_on_by_the_command(tmp_path):
    workdir = tmp_path / "run"
    shutil.copytree(OLD / "run_plain", workdir)
    shutil.copy(OLD / "shops.csv", tmp_path)
    given = (f"--workdir={workdir}", f"--config.data.path={tmp_path / 'shops.csv'}")
    with compiling_quickly():
        assert command(*given, "--samples=4") == 0
    assert np.load(workdir / "samples/samples.npy").shape == (4, 12, 3)
    again = sealed.read(workdir / folder.MODEL)
    assert again.facts["fingerprint"] == folder.load(OLD / "run_plain").facts["fingerprint"]
    assert again.generator.facts().calibrated


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of a few steps."""
    place = tmp_path_factory.mktemp("finished")
    np.save(place / "walk.npy", np.random.default_rng(0).normal(size=(300, 2)).cumsum(0))
    config = made(common.get_config("size=tiny", source="table", path=str(place / "walk.npy")))
    with compiling_quickly():
        train(tiny(config, 4), place / "run")
    return place / "run"


@pytest.fixture
def run(finished, tmp_path):
    """A copy of it to spoil."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def _edit(path: Path, *names_and_value) -> None:
    """Changes one value of a JSON file."""
    *names, last, value = names_and_value
    tree = inner = json.loads(path.read_text())
    for name in names:
        inner = inner[name]
    inner[last] = value
    path.write_text(json.dumps(tree))


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [("model", "heads", 4), ("diffusion", "schedule", "cosine"), ("sample", "steps", 7)],
)
def test_edited_settings_are_refused_by_name(run, section, name, value):
    _edit(run / "config.json", section, name, value)
    with pytest.raises(PacodiError, match=rf"config\.json says {section}\.{name}={value!r}, but"):
        folder.load(run)
    folder.load(run / folder.MODEL)  # the model itself is whole


def test_an_edited_recipe_is_refused_by_name(run):
    whole = (run / "recipe.json").read_text()
    recipe = json.loads(whole)
    factor = [1000 * value for value in recipe["scaler"]["factor"]]
    for change, named in (
        (("scaler", "factor", factor), r"scaler\.factor\[0\]"),
        (("channels", 0, "renamed"), r"channels\[0\]='renamed'"),
    ):
        (run / "recipe.json").write_text(whole)
        _edit(run / "recipe.json", *change)
        with pytest.raises(PacodiError, match=rf"recipe\.json says {named}.* but the sealed"):
            folder.load(run)
    (run / "recipe.json").write_text("{")
    with pytest.raises(PacodiError, match=r"recipe\.json cannot be read"):
        folder.load(run)


def test_an_edited_card_is_refused_by_name_and_a_missing_one_is_not(run):
    _edit(run / "model.json", "steps", 99)
    with pytest.raises(PacodiError, match=r"model\.json says steps=99, but the sealed model has 4"):
        folder.load(run)
    for text in ("", "[]", "[" * 100_000):
        (run / "model.json").write_text(text)
        with pytest.raises(PacodiError, match=r"model\.json (cannot be read|says everything)"):
            folder.load(run)
    (run / "model.json").unlink()
    folder.load(run)


@pytest.mark.parametrize("name", ["data", "model", "train"])
def test_settings_without_a_section_are_refused(run, name):
    settings = json.loads((run / "config.json").read_text())
    del settings[name]
    (run / "config.json").write_text(json.dumps(settings))
    with pytest.raises(PacodiError, match=f"it has no section '{name}'"):
        folder.load(run)


def test_settings_edited_between_two_commands_do_not_enter_the_model(run):
    """The checkpoints know the settings that they were made under."""
    _edit(run / "config.json", "diffusion", "schedule", "cosine")
    edited = settings.read(run / "config.json").changed({"train.steps": 6})
    with pytest.raises(PacodiError, match=r"other diffusion\.schedule and is at step 4 \(vp then"):
        train(edited, run)


def test_a_run_whose_checkpoints_were_taken_away_does_not_begin_anew(run):
    config = settings.read(run / "config.json")
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(PacodiError, match=r"checkpoints is gone.* --mode=sample"):
        train(config, run)
    (run / "model.pacodi").unlink()
    with pytest.raises(PacodiError, match=r"checkpoints is gone"):
        train(config, run)


def test_a_foreign_config_is_not_overwritten(finished, tmp_path):
    config = settings.read(finished / "config.json")
    for text in ('{"name": "another program"}', "{}", '{"seed": 1}'):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(PacodiError, match=r"config\.json cannot be read.* another folder"):
            train(config, tmp_path)
        assert (tmp_path / "config.json").read_text() == text


def _forged(run, change) -> Path:
    """A model under an intact seal that this package would not have written."""
    stored = checkpoint.load(run / folder.MODEL)
    change(stored.arrays, stored.header)
    return checkpoint.save(run.with_name("forged.pacodi"), stored)


FORGERIES = {
    "elsewhere": lambda arrays, header: header["recipe"].update(kind="/../../x.csv"),
    "no kind": lambda arrays, header: header["recipe"].update(kind=3),
    "channel": lambda arrays, header: header["recipe"]["channels"].append("extra"),
    "twice": lambda arrays, header: header["recipe"].update(channels=["c0", "c0"]),
    "type": lambda arrays, header: header["recipe"].update(dtypes=[1, 2]),
    "length": lambda arrays, header: header["recipe"].update(length=10**12),
    "frequency": lambda arrays, header: header["recipe"].update(
        clock={
            "columns": ["t"],
            "format": "",
            "zone": "",
            "frequency": "fortnight",
            "numeric": False,
            "start": "2024-01-01",
            "rows": 5,
        }
    ),
    "factor": lambda arrays, header: header["recipe"]["scaler"].update(factor=[1.0, float("nan")]),
    "facts": lambda arrays, header: header["facts"].pop("channels"),
    "fact": lambda arrays, header: header.update(facts=[1]),
    "width": lambda arrays, header: header["facts"].update(condition_width=10**12),
    "settings": lambda arrays, header: header.update(settings={"model": 3}),
    "no settings": lambda arrays, header: header.pop("settings"),
    "huge": lambda arrays, header: header["settings"]["model"].update(width=10**6),
    "weights": lambda arrays, header: arrays["weights"].popitem(),
    "fitted": lambda arrays, header: arrays["arrays"].popitem(),
    "shape": lambda arrays, header: arrays["arrays"]["moments"].update(
        {name: np.zeros(3) for name in arrays["arrays"]["moments"]}
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_model_is_one_line(run, name):
    with pytest.raises(PacodiError) as refused:
        folder.load(_forged(run, FORGERIES[name]))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "other"])
def test_a_damaged_model_is_refused(run, damage):
    path = run / folder.MODEL
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    spoilt = {"flipped": bytes(raw), "cut": bytes(raw[:-8]), "empty": b"", "other": b"no model"}
    path.write_bytes(spoilt[damage])
    for place in (run, path):
        with pytest.raises(PacodiError, match=r"model\.pacodi"):
            folder.load(place)


def test_a_missing_model_says_what_to_do(run, tmp_path):
    (run / folder.MODEL).unlink()
    with pytest.raises(PacodiError, match=r"model\.pacodi is not there\. Train first: pacodi tr"):
        folder.load(run)
    with pytest.raises(PacodiError, match="give a model file or the folder of a run"):
        folder.load(tmp_path / "nowhere")


def test_a_model_draws_the_same_after_its_folder_has_moved(run, finished):
    moved = shutil.move(run, run.with_name("moved"))
    drawn = [folder.load(place).draw(3).values for place in (moved, finished)]
    np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize("mode", ["none", "generated", "oracle"])
def test_a_model_of_any_statistics_saves_and_loads(finished, tmp_path, mode):
    first = folder.load(finished)
    config = first.config.changed({"diffusion.statistics": mode})
    windows = np.random.default_rng(0).normal(size=(50, LENGTH, 2)).astype(np.float32)
    arrays = config.model.prepare(config.family, windows, None)
    generator = parts.build_generator(config, Shape(LENGTH, 2), arrays, optimiser.build)
    with compiling_quickly():
        state = generator.init(jax.random.key(0), Batch(windows[:1], np.arange(1)))
        weights = jax.tree.map(np.asarray, generator.weights(state))
        model = Trained(config, first.recipe, first.facts, arrays, weights)
        opened = sealed.read(sealed.write(model, tmp_path / "model.pacodi"))
        np.testing.assert_array_equal(opened.draw(3).values, model.draw(3).values)
    fitted = opened.generator.fitted
    assert (fitted.level is None) == (mode == "none")
    assert (fitted.borrowed is None) == (mode != "oracle")
    assert fitted.borrowed is None or fitted.borrowed[0].shape == (50, 2)
    assert ("oracle" in opened.label) == (mode == "oracle")
