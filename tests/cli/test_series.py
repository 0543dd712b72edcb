"""The commands for whole series: tables and pictures are written, or one line says why not."""

import matplotlib.axes
import numpy as np
import pandas as pd
import pytest

import pacodi_jax as pj
from pacodi_jax.cli import pacodi

pytestmark = pytest.mark.usefixtures("quick_compiles", "no_cache")

HOLE = slice(130, 150)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two shops of 100 days; the second has a hole."""
    rng = np.random.default_rng(0)
    day = pd.date_range("2024-01-01", periods=100).strftime("%Y-%m-%d")
    frame = pd.DataFrame({"day": [*day, *day], "shop": ["north"] * 100 + ["south"] * 100})
    frame["sales"] = rng.poisson(20, 200).astype("float64")
    frame.loc[HOLE, "sales"] = np.nan
    path = tmp_path_factory.mktemp("table") / "mine.csv"
    frame.to_csv(path, index=False)
    return path


def _trained(source, folder, **columns):
    """A run folder with a tiny model of a file."""
    chosen = {"train.steps": 4, "train.batch": 8, "sample.steps": 3}
    model = pj.PaCoDi(length=8, size="tiny", settings=chosen, **columns)
    model.fit(source, progress=False, workdir=folder)
    return folder


@pytest.fixture(scope="module")
def run(table):
    """A model of the two shops."""
    return _trained(table, table.parent / "run", time="day", id="shop")


@pytest.fixture(scope="module")
def of_array(tmp_path_factory):
    """A model of an array, which has neither stamps nor names."""
    path = tmp_path_factory.mktemp("array") / "walk.npy"
    np.save(path, np.cumsum(np.random.default_rng(1).normal(size=(120, 2)), axis=0))
    return _trained(path, path.parent / "run")


@pytest.fixture
def drawn(monkeypatch):
    """What the pictures show: titles and labels of axes."""
    seen = []
    for name in ("set_ylabel", "set_title"):
        real = getattr(matplotlib.axes.Axes, name)

        def spy(axis, text, *args, real=real, **how):
            seen.append(text)
            return real(axis, text, *args, **how)

        monkeypatch.setattr(matplotlib.axes.Axes, name, spy)
    real_title = matplotlib.figure.Figure.suptitle

    def title(figure, text, **how):
        seen.append(text)
        return real_title(figure, text, **how)

    monkeypatch.setattr(matplotlib.figure.Figure, "suptitle", title)
    return seen


def _is_picture(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_a_series_is_simulated_and_drawn_above_the_real_one(run, capsys, drawn):
    given = ["simulate", str(run), "--steps=20", "--start=2027-01-01", "-n", "2", "--seed=3"]
    assert pacodi.main([*given, "--set", "sample.steps=3"]) == 0  # not the steps of the series
    made = pd.read_csv(run / "simulate/simulate.csv")
    assert list(made) == ["day", "shop", "sales"]
    assert made["day"].tolist() == 2 * pd.date_range("2027-01-01", periods=20).astype(str).tolist()
    assert made["shop"].nunique() == 2
    assert _is_picture(run / "simulate/simulate.png")
    assert {"synthetic", "real", "sales"} <= set(drawn)
    said = capsys.readouterr().out.split()
    assert said == [str(run / "simulate" / f"simulate.{kind}") for kind in ("csv", "png")]


def test_a_table_is_continued(run, table, tmp_path, drawn):
    given = ["simulate", str(run), "--steps=5", f"--after={table}", f"--out={tmp_path}"]
    assert pacodi.main(given) == 0
    more = pd.read_csv(tmp_path / "simulate.csv")
    assert more["shop"].tolist() == 5 * ["north"] + 5 * ["south"]
    assert more["day"].iloc[0] == "2024-04-10"
    assert "north: 5 steps after the table" in drawn


def test_gaps_are_filled_and_the_series_that_has_them_is_drawn(run, table, tmp_path, drawn):
    given = ["impute", str(run), str(table), "--draws=3", "--quantiles=0.1,0.9"]
    assert pacodi.main([*given, f"--out={tmp_path}"]) == 0
    whole, gaps = pd.read_csv(tmp_path / "impute.csv"), pd.read_csv(table)
    assert list(whole) == ["day", "shop", "sales", "sales_q10", "sales_q90"]
    assert not whole.isna().any().any()
    seen = gaps["sales"].notna()
    assert (whole["sales"][seen] == gaps["sales"][seen]).all()
    assert (whole["sales_q10"] < whole["sales_q90"])[HOLE].any()
    assert _is_picture(tmp_path / "impute.png")
    assert "south: the 32 steps with the most gaps" in drawn


def test_a_forecast_has_quantiles_or_draws(run, table, tmp_path, drawn):
    given = ["forecast", str(run), str(table), "--horizon=3", "--draws=4", f"--out={tmp_path}"]
    assert pacodi.main(given) == 0
    ahead = pd.read_csv(tmp_path / "forecast.csv")
    assert list(ahead) == ["day", "shop", "sales_q10", "sales_q50", "sales_q90"]
    assert len(ahead) == 2 * 3
    assert _is_picture(tmp_path / "forecast.png")
    assert "north: the next 3 steps" in drawn
    assert pacodi.main([*given, "--each"]) == 0
    assert list(pd.read_csv(tmp_path / "forecast.csv")) == ["draw", "day", "shop", "sales"]


def test_a_model_of_an_array_writes_arrays(of_array, tmp_path):
    out = f"--out={tmp_path / 'out'}"
    assert pacodi.main(["simulate", str(of_array), "--steps=20", "-n", "2", out]) == 0
    assert np.load(tmp_path / "out/simulate.npy").shape == (2, 20, 2)
    walk, holed = tmp_path / "walk.npy", np.random.default_rng(2).normal(size=(30, 2))
    holed[5:9] = np.nan
    np.save(walk, holed)
    assert pacodi.main(["impute", str(of_array), str(walk), "--draws=3", out]) == 0
    whole = np.load(tmp_path / "out/impute.npy")
    assert whole.shape == (30, 2)
    np.testing.assert_array_equal(whole[9:], holed[9:])
    assert np.isfinite(whole).all()
    assert _is_picture(tmp_path / "out/simulate.png")
    assert _is_picture(tmp_path / "out/impute.png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate", "RUN"), "required: --steps"),
        (("simulate", "nowhere", "--steps=9"), "nowhere is not there"),
        (("simulate", "RUN", "--steps=0"), "steps=0; accepted"),
        (("simulate", "RUN", "--steps=9", "--seed=-1"), "seed=-1; accepted"),
        (("simulate", "RUN", "--steps=9", "--start=soon"), "'soon' is no stamp"),
        (("simulate", "RUN", "--steps=9", "--start=01/02/2027"), "write the year first"),
        (("simulate", "RUN", "--steps=9", "--start=2024-02-01 05:00"), "not on the grid"),
        (("simulate", "RUN", "--steps=9", "--overlap=8"), "overlap=8; accepted"),
        (
            ("simulate", "RUN", "--steps=9", "--after=TABLE", "--start=2027-01-01"),
            "--start is read from the table that --after names",
        ),
        (("simulate", "RUN", "--steps=0", "--after=TABLE"), "steps=0; accepted"),
        (("simulate", "ARRAY", "--steps=9", "--start=2027-01-01"), "no time column"),
        (("forecast", "RUN", "nosuch.csv"), "nosuch.csv does not exist"),
        (("forecast", "RUN", "TABLE", "--quantiles=low"), "--quantiles='low'; write numbers"),
        (("forecast", "RUN", "TABLE", "--quantiles=1.5"), "quantile 1.5"),
        (("forecast", "RUN", "TABLE", "--horizon=0"), "horizon=0; accepted"),
        (("forecast", "RUN", "TABLE", "--set=train.steps=3"), "only sample.* can change"),
        (("impute", "RUN", "nosuch.csv"), "nosuch.csv does not exist"),
        (("impute", "RUN", "TABLE", "--draws=0"), "draws=0; accepted"),
        (("impute", "RUN", "TABLE", "--noise=-1"), "0 or more"),
        (("impute", "ARRAY", "TABLE"), "no column"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    arguments, message, run, of_array, table, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    stand = {"RUN": str(run), "ARRAY": str(of_array), "TABLE": str(table)}
    given = [stand.get(word, word.replace("=TABLE", f"={table}")) for word in arguments]
    assert pacodi.main([*given, "--out=out"]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1, said.err
    assert said.out == ""
    assert not list(tmp_path.iterdir())
