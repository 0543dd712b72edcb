"""Scores and panels read back from their files as they were."""

import dataclasses
import json
from pathlib import Path

import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics import Estimate, Panel, Score
from pacodi_jax.metrics.results import Memorisation, Method, Side, Sides
from pacodi_jax.metrics.score import summarise

RESULTS = Path(__file__).parents[2] / "docs" / "results"
#: Files of other contents: figures of the paper, of the block bootstrap, of speed and of attacks.
OTHERS = {"paper", "history", "pace", "privacy"}
KEPT = sorted(path for path in RESULTS.glob("*.json") if path.stem not in OTHERS)

METHOD = Method((0, 1), 200, 40, 400, 400, 50, "TS2Vec", 1000, 256, 5, "min-max", "Student's t")


def _panel(**changes):
    side = Side(200, 16, 4, "0123456789abcdef")
    parts = [summarise(values, 200) for values in ([0.1, 0.2], [0.0, 0.1], [1.0, 1.1])]
    more = {"title": "Context-FID", "about": "It sees.", "group": "paper", "seeds": (0, 1)}
    score = Score(
        "context_fid_v1",
        "train",
        "lower",
        *parts,
        "unclear",
        position=0.1,
        above_floor=False,
        **more,
    )
    other = dataclasses.replace(score, split="held_out", position=0.0)
    whole = Panel(
        "judge",
        (score, other),
        METHOD,
        Sides(side, side, None, ("a", "b", "c", "d")),
        ("No score distinguishes them.",),
        Memorisation(0.1, 0.2, None, 0.5),
        1.5,
        facts={"model": {"steps": 3}, "draw": {"seed": 0}},
    )
    return dataclasses.replace(whole, **changes)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_kept_results_read_back_as_they_were(path):
    record = json.loads(path.read_text())
    panel = Panel.from_json(path.read_text())
    assert panel.record() == record
    assert Panel.from_json(panel.to_json()) == panel
    assert panel.score("context_fid_v1", "held_out").value == next(
        score["value"]
        for score in record["scores"]
        if (score["name"], score["split"]) == ("context_fid_v1", "held_out")
    )
    assert panel.facts["cell"] == record["cell"]


def test_there_are_kept_results():
    assert len(KEPT) > 40


@pytest.mark.parametrize(
    "changes",
    [{}, {"memorisation": None}, {"data": None, "verdict": None, "seconds": None}, {"facts": {}}],
)
def test_a_panel_reads_back_as_it_was(changes):
    panel = _panel(**changes)
    assert Panel.from_json(panel.to_json()) == panel
    for key, value in changes.items():
        assert (key in panel.record()) == (value is not None and key != "facts")


def test_a_record_has_the_keys_that_the_documentation_names():
    record = _panel().record()
    assert list(record) == [
        *("schema", "protocol", "verdict", "data", "settings", "scores", "seconds"),
        *("model", "draw", "memorisation"),
    ]
    assert list(record["scores"][0]) == [
        *("name", "title", "about", "group", "better", "split", "value", "values", "interval"),
        *("windows", "seeds", "floor", "ceiling", "position", "above_floor", "word"),
    ]
    assert record["data"]["held_out"] is None
    assert record["settings"]["seeds"] == [0, 1]


def test_results_cannot_be_changed():
    panel = _panel()
    for value, name in ((panel, "protocol"), (panel.scores[0], "word"), (panel.settings, "seeds")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, "other")


def test_a_score_without_its_title_is_called_by_its_name():
    score = _panel().scores[0]
    assert score.label == "Context-FID"
    assert dataclasses.replace(score, title=None).label == "context_fid_v1"


def test_half_the_width_of_an_interval_stands_after_plus_minus():
    assert Estimate(2.0, (1.5, 2.5)).half_width == 0.5


def test_a_later_schema_is_refused():
    with pytest.raises(PacodiError, match="schema 2; this version reads up to 1"):
        Panel.from_record(_panel().record() | {"schema": 2})
