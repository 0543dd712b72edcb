"""What is made with a trained run: labelled where its protocol leaks, scored on what it made."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from ml_collections import ConfigDict

from pacodi_jax import data, evaluate
from pacodi_jax.metrics import registry
from pacodi_jax.report import pictures
from pacodi_jax.run import Trained
from tests.metrics.windows import SMALL, waves


class _Copycat:
    """A generator of real windows with a little noise."""

    calibration = None
    statistics = SimpleNamespace(label="statistics=oracle: level and scale of REAL windows")

    def __init__(self, windows):
        self.windows = windows

    def sample(self, key, params, count, condition):
        noise = np.random.default_rng(0).normal(0, 0.01, (count, *self.windows.shape[1:]))
        return self.windows[:count] + noise


def _trained(found, statistics="none"):
    config = ConfigDict({"diffusion": {"statistics": statistics}, "sample": {"solver": "none"}})
    card = {"model": "copycat", "statistics": statistics, "protocol": found.recipe.protocol}
    return Trained(_Copycat(found.train.values()), None, found.recipe, config, card)


def _load(tmp_path, **options):
    """Ready-made windows of four channels, the last of them constant."""
    windows = np.concatenate([waves(400, channels=3), np.full((400, 16, 1), 7.0)], axis=2)
    np.save(tmp_path / "t.npy", windows.astype(np.float32))
    return data.load("table", path=tmp_path / "t.npy", length=16, **options)


@pytest.mark.parametrize(
    ("options", "statistics", "label"),
    [
        ({"protocol": "paper"}, "none", "protocol=paper: scaled on all windows"),
        ({}, "oracle", "REAL windows"),
        ({}, "none", "honest"),
    ],
)
def test_samples_say_by_which_protocol_they_were_made(tmp_path, options, statistics, label):
    found = _load(tmp_path, **options)
    written = evaluate.write_samples(_trained(found, statistics), tmp_path / "out", 3, 0)
    assert label in json.loads((tmp_path / "out/samples.json").read_text())["label"]
    assert {path.name for path in written} == {
        *("samples.csv", "samples.npy", "samples.json", "samples.png"),
    }
    assert (pd.read_csv(tmp_path / "out/samples.csv")["c3"] == 7).all()


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    figures, save = [], pictures._save
    monkeypatch.setattr(pictures, "_save", lambda f, path: figures.append(f) or save(f, path))
    return figures


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("text", ["W" * 400, "漢字" * 60, "rise " * 60, "a slow rise"])
def test_a_title_of_any_letters_stays_within_the_picture(tmp_path, drawn, text, beside):
    found = _load(tmp_path)
    evaluate.write_samples(
        _trained(found, "oracle"),
        tmp_path / "out",
        3,
        0,
        text=text,
        dataset=found if beside else None,
    )
    (figure,) = drawn
    title = figure._suptitle
    shown = "".join(title.get_text().split())
    assert text[:20].replace(" ", "") in shown
    assert "oracle" in shown
    assert len(shown) < 300
    assert shown.endswith("…”") == (len(text) > 200)
    with pictures._any_language():
        extent = title.get_window_extent(figure.canvas.get_renderer())
    assert extent.x0 >= 0
    assert extent.x1 <= figure.bbox.width
    assert extent.y1 <= figure.bbox.height


@pytest.fixture
def small(monkeypatch, tmp_path):
    """No score that trains: what is shown here is what is scored, and under which name."""
    further = registry.further_metrics
    monkeypatch.setattr(evaluate, "Budget", lambda **_: SMALL._replace(seeds=(0,)))
    monkeypatch.setattr(registry, "paper_metrics", lambda *_: ())
    monkeypatch.setattr(registry, "further_metrics", lambda budget: further(budget)[1:])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("options", "label", "splits"),
    [
        ({"protocol": "paper"}, "protocol=paper: scaled on all windows", {"train", "held_out"}),
        ({"fractions": (1, 0, 0)}, "honest, statistics=none", {"train"}),
    ],
)
def test_scores_say_their_protocol_and_leave_constant_channels_out(
    small, tmp_path, capsys, options, label, splits
):
    found = _load(tmp_path, **options)
    out = tmp_path / "scores"
    evaluate.write_scores(_trained(found), found, out, windows=200, seeds=1, seed=0)
    record = json.loads((out / "scores.json").read_text())
    assert label in record["protocol"]
    assert record["data"]["channels"] == ["c0", "c1", "c2"]
    assert {score["split"] for score in record["scores"]} == splits
    assert ("held_out" in record["memorisation"]) == ("held_out" in splits)
    assert set(pd.read_csv(out / "scores.csv")["protocol"]) == {record["protocol"]}
    page = (out / "report.html").read_text()
    assert page.count(record["protocol"]) >= 2 + len(splits)
    assert ("scored on train alone" in capsys.readouterr().out) == (splits == {"train"})
