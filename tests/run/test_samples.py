"""Samples as files: labelled where their protocol leaks, with titles that fit."""

import json

import pandas as pd
import pytest

from pacodi_jax.report import pictures
from pacodi_jax.run.samples import write_samples
from tests.run.copycat import ORACLE, load, trained


@pytest.mark.parametrize(
    ("options", "oracle", "label"),
    [
        ({"protocol": "paper"}, "", "protocol=paper: scaled on all windows"),
        ({}, ORACLE, "REAL windows"),
        ({}, "", "honest"),
    ],
)
def test_samples_say_by_which_protocol_they_were_made(tmp_path, options, oracle, label):
    model = trained(load(tmp_path, **options), oracle)
    written = write_samples(model, model.draw(3), tmp_path / "out")
    assert label in json.loads((tmp_path / "out/samples.json").read_text())["label"]
    assert {path.name for path in written} == {
        *("samples.csv", "samples.npy", "samples.json", "samples.png"),
    }
    assert (pd.read_csv(tmp_path / "out/samples.csv")["c3"] == 7).all()


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    figures, save = [], pictures.save
    monkeypatch.setattr(pictures, "save", lambda f, path: figures.append(f) or save(f, path))
    return figures


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("text", ["W" * 400, "漢字" * 60, "rise " * 60, "a slow rise"])
def test_a_title_of_any_letters_stays_within_the_picture(tmp_path, drawn, text, beside):
    found = load(tmp_path)
    model = trained(found, ORACLE)
    asked = model.draw(3)
    asked = asked._replace(facts=asked.facts | {"text": text})
    write_samples(model, asked, tmp_path / "out", dataset=found if beside else None)
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
