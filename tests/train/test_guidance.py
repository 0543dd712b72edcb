"""The guidance of texts is chosen on validation and travels with the model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.configs import text as text_config
from pacodi_jax.run import folder, parts
from pacodi_jax.text import statements
from pacodi_jax.train import guidance
from pacodi_jax.train.from_config import train
from pacodi_jax.train.guidance import Effect
from tests.compiling import compiling_quickly
from tests.text.conftest import waves
from tests.text.runs import made, tiny


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A model of statements and of a calendar beside them; its folder and its settings."""
    place = tmp_path_factory.mktemp("guided")
    days = pd.date_range("2024-01-01", periods=300, freq="D")
    table = pd.DataFrame({"day": days, "value": waves(1, 300)[0]})
    table.to_csv(place / "value.csv", index=False)
    source = {"data.source": "table", "data.path": str(place / "value.csv")}
    source |= {"data.time": "day", "data.calendar": "week"}
    changes = source | {"data.channels": ("value",)}
    config = tiny(made(text_config.get_config("size=tiny,encoder=statements"), changes), 10)
    with compiling_quickly():
        train(config, place / "run")
    return place / "run", config


def test_the_smallest_scale_near_the_best_of_those_in_range_is_chosen():
    found = {1.0: Effect(0.6, 0.0), 1.5: Effect(0.895, 0.0), 2.0: Effect(0.9, 0.005)}
    assert guidance.best(found) == 1.5
    assert guidance.best(found | {3.0: Effect(0.99, 0.02)}) == 1.5
    assert guidance.best(found | {3.0: Effect(0.99, 0.01)}) == 3.0
    assert guidance.best({1.0: Effect(0.5, 0.5), 2.0: Effect(0.9, 0.6)}) == 1.0


def test_the_range_is_widened_by_a_tenth():
    low, high = guidance.widened(np.array([-1.0, 4.0]))
    assert (low, high) == pytest.approx((-1.5, 4.5))


def test_training_keeps_the_choice_and_only_texts_take_it(run):
    model = folder.load(run[0])
    assert model.facts["guidance"] in guidance.SCALES
    assert model.config.sample.guidance is None
    assert model.facts["condition_width"] > statements.WIDTH  # the calendar is chosen with
    chosen = replace(model, facts=model.facts | {"guidance": 2.0})
    assert chosen.way("it rises", {}) == {"guidance": 2.0}
    assert chosen.way("it rises", {"guidance": 3.0, "steps": 2}) == {"guidance": 3.0, "steps": 2}
    assert chosen.way(None, {}) == {}  # the law of train is drawn without any exaggeration
    assert chosen.generator.facts(**chosen.way("it rises", {})).evaluations == 8
    assert chosen.generator.facts().evaluations == 4


def test_a_finished_run_keeps_its_choice(run):
    place, config = run
    before = (place / "model.pacodi").read_bytes()
    train(config, place)
    assert (place / "model.pacodi").read_bytes() == before


def test_nothing_is_chosen_where_the_settings_name_a_scale_or_texts_are_the_users_own(run):
    model, data = folder.load(run[0]), parts.load_data(run[1])
    named = replace(model, config=model.config.changed({"sample.guidance": 1.0}))
    assert guidance.choose(named, data) is None
    own = replace(model, recipe=replace(model.recipe, text="note"))
    assert guidance.choose(own, data) is None
    assert guidance.choose(model, parts.load_windows(run[1])) is None
