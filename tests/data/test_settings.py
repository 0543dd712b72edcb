"""The data section: one default per setting, and the fingerprints of kept runs."""

import json
from pathlib import Path

import pytest

from pacodi_jax import data
from pacodi_jax.configs import common
from pacodi_jax.errors import PacodiError

KEPT = Path(__file__).parent.parent / "fixtures" / "version_0_1"


@pytest.mark.parametrize("name", ["run_plain", "run_static"])
def test_a_kept_runs_table_has_the_fingerprint_it_was_trained_on(name):
    config = json.loads((KEPT / name / "config.json").read_text())
    own = {"path": KEPT / "shops.csv", "bounds": "none"}  # there were no bounds
    settings = data.DataSettings.make({**config["data"], **own})
    found = data.load(settings, seed=config["seed"])
    facts = json.loads((KEPT / name / "model.json").read_text())
    assert found.fingerprint == facts["fingerprint"]
    assert list(found.recipe.live_channels) == facts["channels"]


@pytest.mark.parametrize("name", ["run_plain", "run_static"])
def test_a_recipe_of_version_0_1_still_writes_its_table(name):
    recipe = data.Recipe.from_json((KEPT / name / "recipe.json").read_text())
    assert recipe.law is None
    assert recipe.backend == "pandas"
    live = int(recipe.scaler.live.sum())
    table = recipe.to_frame(recipe.deliver([[[0.0] * live] * 12]))
    assert str(table["visits"].dtype) == "int64"
    assert set(table["flat"]) == {1.5}


def test_the_defaults_are_those_of_the_configs():
    assert data.DataSettings.make(common.get_config().data.to_dict()) == data.DataSettings()


def test_a_single_name_is_a_list_of_one():
    settings = data.DataSettings(time="date", channels="load", static="grade")
    assert (settings.time, settings.channels, settings.static) == (("date",), ("load",), ("grade",))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"length": 1}, r"data\.length=1; accepted: 2, 3, 4"),
        ({"length": 2**31}, r"data\.length=2147483648; accepted: whole numbers below 2\*\*31"),
        ({"length": True}, r"data\.length=True; a whole number is needed"),
        ({"stride": 0}, r"data\.stride=0"),
        ({"scaling": "minmax"}, r"data\.scaling='minmax' is unknown.*mean 'min_max'"),
        ({"split": "tme"}, r"data\.split='tme' is unknown"),
        ({"fractions": (0.5, 0.2, 0.2)}, r"data\.fractions.*sum to 0\.9"),
        ({"fractions": ("a", "b", "c")}, r"data\.fractions=\('a', 'b', 'c'\)"),
        ({"lenght": 8}, r"no setting 'data\.lenght'.*Did you mean 'length'"),
    ],
)
def test_impossible_settings_are_refused_by_name(wrong, said):
    with pytest.raises(PacodiError, match=said):
        data.DataSettings.make(wrong)
