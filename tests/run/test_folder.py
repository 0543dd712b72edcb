"""The folder of a run: old ones load and go on, edited and damaged ones are refused."""

import json
import shutil
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

from pacodi_jax.configs import common
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Batch, Shape
from pacodi_jax.run import folder, parts
from pacodi_jax.run.trained import Trained, sample_key
from pacodi_jax.train import optimiser
from pacodi_jax.train.from_config import train
from tests.text.runs import LENGTH, command, compiling_quickly, made, tiny

OLD = Path(__file__).parents[1] / "fixtures" / "version_0_1"
ASKED = {"run_plain": None, "run_static": {"grade": "high"}}


@pytest.mark.parametrize("name", ASKED)
def test_a_run_of_version_0_1_draws_the_windows_it_drew(name):
    trained = folder.load(OLD / name)
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
    again = Trained.open(workdir / folder.MODEL)
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
    ("section", "name", "value"), [("model", "heads", 4), ("diffusion", "schedule", "cosine")]
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
    for change in (("scaler", "factor", factor), ("channels", 0, "renamed")):
        (run / "recipe.json").write_text(whole)
        _edit(run / "recipe.json", *change)
        with pytest.raises(PacodiError, match=r"recipe\.json is not the recipe of the sealed"):
            folder.load(run)
    (run / "recipe.json").write_text("{")
    with pytest.raises(PacodiError, match=r"recipe\.json cannot be read"):
        folder.load(run)


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
        opened = Trained.open(model.save(tmp_path / "model.pacodi"))
        np.testing.assert_array_equal(opened.draw(3).values, model.draw(3).values)
    fitted = opened.generator.fitted
    assert (fitted.level is None) == (mode == "none")
    assert (fitted.borrowed is None) == (mode != "oracle")
    assert fitted.borrowed is None or fitted.borrowed[0].shape == (50, 2)
    assert ("oracle" in opened.label) == (mode == "oracle")
