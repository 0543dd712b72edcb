"""``pacodi show`` and ``model.show``: the page of a trained model is written, or one line says why
not.
"""

import json

import numpy as np
import pandas as pd
import pytest

import pacodi_jax as pj
from pacodi_jax.cli import pacodi
from pacodi_jax.cli import show as show_command
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import folder
from pacodi_jax.run.samples import holds
from pacodi_jax.series import show
from tests.report.test_viewer import Seen

pytestmark = pytest.mark.usefixtures("quick_compiles", "no_cache")

LENGTH = 8


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny model of two channels of which one is constant, beside its table."""
    place = tmp_path_factory.mktemp("show")
    day = pd.date_range("2024-01-01", periods=240).strftime("%Y-%m-%d")
    wave = np.sin(np.arange(240) / 3) + np.random.default_rng(0).normal(size=240)
    pd.DataFrame({"day": day, "load": wave, "fixed": 3.0}).to_csv(place / "mine.csv", index=False)
    chosen = {"train.steps": 4, "train.batch": 8, "sample.steps": 3}
    estimator = pj.PaCoDi(length=LENGTH, size="tiny", time="day", settings=chosen)
    return estimator.fit(place / "mine.csv", progress=False, workdir=place / "run")


@pytest.fixture(scope="module")
def run(model, tmp_path_factory):
    return next(tmp_path_factory.getbasetemp().glob("show*/run"))


def numbers(page):
    """What the script of a page is given."""
    return json.loads(Seen(page.read_text(encoding="utf-8")).scripts[0])


@pytest.fixture
def asked(monkeypatch):
    """What the page would be made of; nothing is drawn."""
    seen = []

    def write(trained, path, dataset, **request):
        seen.append({"path": path, "dataset": dataset, **request})
        return path

    monkeypatch.setattr(show, "write", write)
    return seen


def test_the_command_writes_one_page_with_everything(run, capsys):
    ask = ["show", str(run), "-n", "30", "--span", "50", "--set", "sample.steps=2"]
    assert pacodi.main(ask) == 0
    page = run / "show.html"
    assert capsys.readouterr().out.strip() == str(page)
    found = numbers(page)
    assert found["channels"] == ["load"]
    assert len(found["whole"]["values"][0]) == 50
    assert found["whole"]["stamps"][:2] == ["2024-01-01", "2024-01-02"]
    assert found["fans"]["part"] == "held-out"
    assert np.shape(found["fans"]["bands"]) == (1, 6, 5, LENGTH // 2)
    assert f"--workdir={run} --mode=evaluate" in page.read_text()


def test_what_was_given_to_a_forecast_is_the_first_half_of_a_held_out_window(model, run):
    found = show.gather(model.trained_, model._dataset, windows=4, span=8).fans
    held_out = model._dataset.held_out
    real = held_out.recipe.deliver(held_out.take([0]))[0, :, :1]
    np.testing.assert_allclose(found.truth[0], real, rtol=1e-6)
    assert found.seen == LENGTH // 2
    assert found.starts[0] == held_out.to_table([0])["day"].iloc[0]


def test_scores_of_this_model_are_shown_and_those_of_another_are_not(run, asked):
    place = run / "scores" / "scores.json"
    place.parent.mkdir()
    facts = json.loads(json.dumps(folder.load(run).facts))
    for text in (json.dumps(_scores(facts)), json.dumps(_scores(facts | {"steps": 999})), "{"):
        place.write_text(text)
        assert pacodi.main(["show", str(run)]) == 0
    own, other, damaged = asked
    assert own["panel"].verdict == ("a verdict in words",)
    assert own["notes"] == ()
    assert other["panel"] is None
    assert "scores another model" in other["notes"][0]
    assert damaged["panel"] is None
    assert "cannot be read" in damaged["notes"][0]


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept.update(verdict=[[1]]),
        lambda kept: kept.update(verdict=3),
        lambda kept: kept["scores"][0].update(interval=[0.1]),
        lambda kept: kept.update(scores=7),
        lambda kept: kept.update(settings=[]),
        lambda kept: kept.update(protocol=None),
        lambda kept: kept.update(privacy={"attacks": 3}),
    ],
)
def test_forged_scores_are_refused_by_name(tmp_path, change):
    kept, path = _scores({}), tmp_path / "scores.json"
    change(kept)
    path.write_text(json.dumps(kept))
    with pytest.raises(PacodiError, match=r"scores\.json cannot be read"):
        show_command.read_scores(path)


def test_deep_scores_are_refused_by_name(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text("[" * 100_000)
    with pytest.raises(PacodiError, match=r"scores\.json cannot be read"):
        show_command.read_scores(path)
    assert not holds(tmp_path, {}, "scores.json", "scores.json")


def _scores(facts):
    """A file of scores with one score."""
    bound = {"value": 0.1, "interval": [0.0, 0.2]}
    score = {"name": "fid", "better": "lower", "split": "train", "word": "good", "value": 0.2}
    score |= {"interval": [0.1, 0.3], "floor": bound, "ceiling": bound, "position": 0.5}
    counts = dict.fromkeys(
        ("windows", "encoder_steps", "discriminative_steps", "predictive_steps", "strong_steps"), 1
    )
    counts |= {"correlational_windows": 1, "projections": 1, "neighbours": 1}
    words = dict.fromkeys(("encoder", "scale", "interval"), "x")
    return {
        "protocol": "honest",
        "verdict": ["a verdict in words"],
        "scores": [score],
        "settings": {"seeds": [0], **counts, **words},
        "model": facts,
    }


def test_a_loaded_model_shows_the_data_that_it_is_given(model, run, tmp_path, asked):
    loaded = pj.load(run)
    loaded.show(tmp_path / "a.html")
    loaded.show(tmp_path / "b.html", real=run.parent / "mine.csv")
    model.show(tmp_path / "c.html", span=9, seed=3)
    assert [one["dataset"] is None for one in asked] == [True, False, False]
    assert (asked[2]["span"], asked[2]["seed"]) == (9, 3)
    with pytest.raises(pj.PacodiError, match="no file"):
        loaded.show(tmp_path / "d.html", real="nowhere.csv")


def test_data_that_are_not_at_hand_are_said_to_be_so(model, run, asked):
    moved = run.parent / "moved.csv"
    (run.parent / "mine.csv").rename(moved)
    try:
        assert pacodi.main(["show", str(run)]) == 0
    finally:
        moved.rename(run.parent / "mine.csv")
    assert asked[0]["dataset"] is None
    assert "mine.csv" in asked[0]["notes"][0]
    request = {"windows": 4, "span": 8, "notes": asked[0]["notes"]}
    found = show.gather(model.trained_, None, **request)
    assert found.real is found.beside is found.fans is None
    assert "nothing real is shown" in found.notes[-1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--span", "0"], "span=0"),
        (["--span", "99999999"], "a page holds"),
        (["-n", "0"], "windows=0"),
        (["--out", ""], "--out is empty"),
        (["--out", "."], "is a folder"),
        (["--set", "train.steps=3"], "only sample.* can change"),
        (["--sed", "3"], "--seed"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(run, capsys, arguments, told):
    (run / "show.html").unlink(missing_ok=True)
    assert pacodi.main(["show", str(run), *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not (run / "show.html").exists()


def test_a_run_that_is_not_there_is_refused(tmp_path, capsys):
    assert pacodi.main(["show", str(tmp_path / "none")]) == 2
    assert "is not there" in capsys.readouterr().err
