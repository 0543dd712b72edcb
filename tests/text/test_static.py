"""Labels and static columns at the command line: ``--static="grade=high,area=12.5"``."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import data
from pacodi_jax.configs import common
from pacodi_jax.data import attributes
from pacodi_jax.errors import PacodiError
from pacodi_jax.report import pictures
from pacodi_jax.run import folder, parts
from pacodi_jax.run.trained import sample_key
from pacodi_jax.train.from_config import train
from tests.text import runs
from tests.text.runs import LENGTH, made, tiny

ASKED = 'grade=very low,area=12.5,floor=2,lit=false,"in, out"="a=b, c"'
VALUES = {"grade": "very low", "area": 12.5, "floor": 2, "lit": False, "in, out": "a=b, c"}
STATIC = "--config.data.static=" + str(tuple(VALUES))
pytestmark = pytest.mark.usefixtures("quick_compiles")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of 40 series with a label, a quantity, a whole-number label, a flag, an odd name."""
    series = np.repeat(np.arange(40), LENGTH)
    odd = series % 2 == 1
    columns = {
        "who": series,
        "grade": np.where(odd, "high", "very low"),
        "area": 10.0 + series / 4,
        "floor": series % 4,
        "lit": odd,
        "in, out": np.where(odd, "plain", "a=b, c"),
        "value": np.random.default_rng(0).normal(size=len(series)).cumsum(),
    }
    path = tmp_path_factory.mktemp("table") / "houses.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def settings(path):
    data = {"id": "who", "static": tuple(VALUES), "split": "series"}
    return tiny(made(common.get_config("size=tiny", source="table", path=str(path), **data)), 10)


@pytest.fixture(scope="module")
def recipe(table):
    return parts.load_windows(settings(table)).recipe


@pytest.fixture(scope="module")
def workdir(table):
    train(settings(table), table.parent / "run")
    return table.parent / "run"


def command(workdir, *arguments) -> int:
    """Runs the command with the settings that the run has."""
    return runs.command(f"--workdir={workdir}", "--samples=3", *arguments)


def test_static_columns_at_the_command_line_are_drawn_and_told(workdir, capsys, monkeypatch):
    titles, panels, draw = [], [], pictures.windows

    def shown(*given, title, real_title, **options):
        titles.append(title)
        panels.append(real_title)
        return draw(*given, **options)

    monkeypatch.setattr(pictures, "windows", shown)
    assert command(workdir, "--mode=sample", f"--static={ASKED}") == 0
    place = workdir / "samples"
    told = json.loads((place / "samples.json").read_text())
    assert told["static"] == VALUES
    assert told["text"] is None
    assert titles == ["grade=very low, area=12.5, floor=2, lit=False, in, out=a=b, c"]
    written = pd.read_csv(place / "samples.csv")
    assert list(written) == ["window", "who", *VALUES, "value"]
    for name, value in VALUES.items():
        assert written[name].tolist() == [value] * 3 * LENGTH
    trained = folder.load(workdir)
    scaled = trained.draw_scaled(sample_key(0), 3, trained.recipe.condition(VALUES))
    drawn = trained.recipe.deliver(scaled)
    np.testing.assert_allclose(np.load(place / "samples.npy"), drawn, rtol=1e-5, atol=1e-5)
    null = trained.draw_scaled(sample_key(0), 3)
    assert np.abs(null - scaled).max() > 0
    # The same windows are not drawn again beside training, others are.
    assert command(workdir, f"--static={ASKED}") == 0
    assert "holds these 3 windows already" in capsys.readouterr().out
    for other in (f"--static={ASKED.replace('12.5', '13')}", "--config.seed=0"):
        assert command(workdir, other) == 0
        assert "already" not in capsys.readouterr().out
    assert panels[1:] == ["real, not chosen by the static columns", "real"]
    assert json.loads((place / "samples.json").read_text())["static"] is None


def test_columns_that_are_not_asked_for_are_drawn_from_train_and_written(workdir, recipe):
    rows = {tuple(row) for row in recipe.law.rows}
    for asked in ((), ("--static=grade=high",), ("--static=floor=2,lit=false",)):
        assert command(workdir, "--mode=sample", *asked) == 0
        written = pd.read_csv(workdir / "samples/samples.csv")
        assert list(written) == ["window", "who", *VALUES, "value"]
        windows = written.groupby("window")[list(VALUES)]
        assert (windows.nunique() == 1).all(axis=None)
        drawn = windows.first()
        assert {tuple(row) for row in drawn.itertuples(index=False)} <= rows
        if asked == ("--static=grade=high",):
            assert set(drawn["grade"]) == {"high"}
        if asked == ("--static=floor=2,lit=false",):
            assert set(drawn["floor"]) == {2}
    told = json.loads((workdir / "samples/samples.json").read_text())["static"]
    assert told == {"floor": 2, "lit": False}


REFUSED = [
    (ASKED.replace("grade", "grad"), "'grad' is no static column of this model; it has 'grade'"),
    (ASKED.replace("grade", "grad"), "Did you mean 'grade'?"),
    (ASKED.replace("very low", "Very Lo"), "known: 'high', 'very low'. Did you mean 'very low'?"),
    (ASKED.replace("floor=2", "floor=7"), "floor=7 was not in train; known: 0, 1, 2, 3. The near"),
    (ASKED.replace("floor=2", "floor=two"), "floor='two' was not in train"),
    (ASKED.replace("false", "maybe"), "lit='maybe' was not in train; known: False, True."),
    (ASKED.replace("12.5", "wide"), "area='wide' is not a finite number"),
    (ASKED.replace("12.5", "nan"), "area='nan' is not a finite number"),
    (ASKED.replace("12.5", "1e300"), "area=1e+300 is too far from the values of train"),
    (ASKED.replace("12.5", "9" * 400), "is not a finite number"),
    ("grade", "--static='grade' cannot be read from 'grade' on; write column=value"),
    ("grade=,area=1", "cannot be read from 'grade=,area=1' on"),
    ("grade=high,", "cannot be read at its end"),
    ("grade=high, low,area=1", "cannot be read from ' low,area=1' on"),
    ('grade="high,area=1', '"double quotes" around'),
    ("", "--static='' cannot be read"),
    ("grade=high,grade=high", "names the column 'grade' twice"),
    ("gr\udcffade=high", r"'gr\udcffade' is no static column"),
]


def _one_line(complaint: str, said: str) -> None:
    assert complaint.startswith("error: ")
    assert complaint.count("\n") == 1
    assert said in complaint


def test_what_cannot_be_asked_ends_the_command_with_one_line(workdir, capsys, monkeypatch):
    trained = folder.load(workdir)
    monkeypatch.setattr(folder, "load", lambda *_: trained)  # once for all
    for asked, said in REFUSED:
        assert command(workdir, "--mode=sample", f"--static={asked}") == 2
        _one_line(capsys.readouterr().err, said)
    bare = replace(trained, recipe=replace(trained.recipe, attributes=()))
    monkeypatch.setattr(folder, "load", lambda *_: bare)
    assert command(workdir, "--mode=sample", f"--static={ASKED}") == 2
    _one_line(capsys.readouterr().err, "this model has no static columns; train one with")


@pytest.mark.parametrize(("asked", "said"), REFUSED)
def test_what_cannot_be_asked_is_refused_before_training(table, tmp_path, capsys, asked, said):
    given = [
        "--config=configs/table.py:size=tiny,length=8",
        f"--config.data.path={table}",
        "--config.data.id=who",
        "--config.data.split=series",
        STATIC,
    ]
    assert command(tmp_path / "new", "--mode=all", f"--static={asked}", *given) == 2
    _one_line(capsys.readouterr().err, said)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--mode=train",), "--static draws samples, and --mode=train draws none"),
        (("--mode=evaluate",), "--static draws samples, and --mode=evaluate draws none"),
        (("--mode=all", "--text=up"), "--text needs a model that reads texts"),
        (("--mode=all", "--config.data.static=()"), "this model has no static columns; train one"),
        (("--mode=all", "--config.data.path=none.csv", STATIC), "none.csv"),
    ],
)
def test_static_that_nothing_comes_of_is_refused_before_training(tmp_path, capsys, arguments, said):
    config = ("--config=configs/table.py:size=tiny", "--config.data.path=x.csv")
    assert command(tmp_path / "new", *config, f"--static={ASKED}", *arguments) == 2
    _one_line(capsys.readouterr().err, said)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("floor", "2", 2),
        ("floor", " 2.0 ", 2),
        ("lit", "TRUE", True),
        ("lit", "0", False),
        ("area", "1e1", 10.0),
        ("area", "12", 12.0),
        ("grade", "  high ", "high"),
        ("grade", '"high"', "high"),
    ],
)
def test_values_are_read_in_the_types_of_their_columns(recipe, name, text, value):
    given = {"grade": "high", "area": "1", "floor": "0", "lit": "true", '"in, out"': "plain"}
    asked = ",".join(f"{column}={said}" for column, said in (given | {name: text}).items())
    for known in (recipe, data.Recipe.from_json(recipe.to_json())):
        found = known.parse_static(asked)[name]
        assert found == value
        assert type(found) is type(value)


def test_labels_that_look_like_numbers_stay_text_and_whole_quantities_whole():
    coded = attributes.fit("code", pd.Series(["01", "1", "2"]))
    assert [coded.parse(text) for text in ("01", "1")] == ["01", "1"]
    years = attributes.fit("year", pd.Series(range(1900, 2000)))
    assert years.levels is None
    assert repr([years.parse(text) for text in ("1950", "1950.5")]) == "[1950, 1950.5]"
    assert years.column([1950] * 2).dtype == "int64"
    assert years.column([1950.5] * 2).tolist() == [1950.5, 1950.5]
    large = attributes.fit("key", pd.Series([2**60, 2**60 + 1]))
    assert large.parse(str(2**60 + 1)) == 2**60 + 1
    assert type(years.parse("1e30")) is float


def test_static_columns_are_written_in_the_types_they_came_in():
    for values in (
        pd.Series([1, 2], dtype="int8"),
        pd.Series([1, 2], dtype="Int64"),
        pd.Series([True, False]),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series(["a", "b"]),
        pd.Series([0.5, 1.5], dtype="float32"),
    ):
        known = attributes.fit("it", values)
        value = known.parse(str(values[0]))
        known.check(value)
        written = known.column([value] * 3)
        assert str(written.dtype) == str(values.dtype)
        assert written.tolist() == [values[0]] * 3


def test_many_labels_are_not_all_listed():
    known = attributes.fit("name", pd.Series([f"label {n}" for n in range(1000)]))
    with pytest.raises(PacodiError, match=r"was not in train.*, …\. Did you mean 'label 77'") as it:
        known.check("labell 77")
    assert len(str(it.value)) < 400
