"""Scores of a trained model: labelled by protocol, without constant channels."""

import json

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.run.score import score
from pacodi_jax.settings import Evaluation
from tests.run.copycat import load, trained


@pytest.mark.parametrize(
    ("options", "label", "splits"),
    [
        ({"protocol": "paper"}, "protocol=paper: scaled on all windows", {"train", "held_out"}),
        ({"fractions": (1, 0, 0)}, "honest", {"train"}),
    ],
)
def test_scores_say_their_protocol_and_leave_constant_channels_out(
    budget, tmp_path, options, label, splits
):
    found = load(tmp_path, **options)
    model = trained(found)
    verdict = score(model, found, Evaluation(windows=200, seeds=1), seed=0, budget=budget)
    np.testing.assert_array_equal(verdict.synthetic, model.draw(200, seed=0).values[..., :3])
    out = tmp_path / "scores"
    verdict.write(out)
    record = json.loads((out / "scores.json").read_text())
    assert label in record["protocol"]
    assert record["data"]["channels"] == ["c0", "c1", "c2"]
    assert {score["split"] for score in record["scores"]} == splits
    assert ("held_out" in record["memorisation"]) == ("held_out" in splits)
    assert set(pd.read_csv(out / "scores.csv")["protocol"]) == {record["protocol"]}
    page = (out / "report.html").read_text()
    assert page.count(record["protocol"]) >= 2 + len(splits)
    alone = any("scored on train alone" in note for note in verdict.notes)
    assert alone == (splits == {"train"})


def test_a_split_of_blocks_is_scored_for_generalisation(budget, tmp_path):
    """The copycat is train with a little noise, so it stands for unseen windows as train does."""
    found = load(tmp_path, split="blocks")
    few = budget._replace(encoder_steps=5)
    verdict = score(trained(found), found, Evaluation(windows=200, seeds=1), seed=0, budget=few)
    (note,) = (note for note in verdict.notes if note.startswith("generalisation"))
    record = json.loads(verdict.to_json())["generalisation"]
    assert [one["name"] in note for one in record] == [True] * 7
    assert {one["blocks"] for one in record} == {10}
    by_name = {one["name"]: one for one in record}
    assert 0.5 < by_name["Wasserstein (windows)"]["ratio"] < 2
