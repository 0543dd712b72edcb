"""The figures of the results page show what is kept, on light and dark pages."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def script(benchmark):
    return benchmark("results_figures")


@pytest.fixture
def kept(tmp_path):
    """One training per system, one of them unknown to the script, and the paper's figures."""

    def result(model, minutes, value):
        score = {"name": "context_fid_v1", "split": "train", "value": value}
        score |= {"interval": [value / 2, value * 2], "floor": {"value": 0.01}}
        cell = {"data": "etth1", "length": 24, "model": model, "protocol": "honest"}
        found = {"cell": cell | {"variant": "sde"}, "training_minutes": minutes}
        return found | {"scores": [score | {"ceiling": {"value": 4.0}}]}

    rows = [("pacodi", 2, 0.1), ("pacodi", 6, 0.03), ("pacodi", 6, 0.05), ("newcomer", 5, 0.2)]
    for number, row in enumerate(rows):
        (tmp_path / f"{number}.json").write_text(json.dumps(result(*row)))
    paper = {"etth1": {"24": {"context_fid_v1": {"FreqDiff": 0.03}}}}
    (tmp_path / "paper.json").write_text(json.dumps(paper))
    return tmp_path


def test_the_longest_trainings_of_a_system_are_averaged(script, kept):
    found = script.best(script.points(kept)["etth1"])
    assert found["pacodi"].value == pytest.approx(0.04)
    assert found["newcomer"].value == 0.2


def test_figures_name_every_system_and_follow_dark_pages(script, kept, tmp_path):
    minutes, systems = script.draw(kept, tmp_path)
    for path, words in ((minutes, ("PaCoDi", "newcomer")), (systems, ("FreqDiff, in the paper",))):
        text = path.read_text()
        assert text.startswith("<svg")
        assert "prefers-color-scheme:dark" in text
        assert all(f">{word}<" in text for word in words)
        assert "http://" not in text.replace("http://www.w3.org", "")


def test_the_figures_of_the_page_are_there_and_have_words(script):
    page = (ROOT / "docs" / "results.md").read_text()
    for path in (ROOT / "docs" / "pictures").glob("results_*.svg"):
        assert f"(pictures/{path.name})" in page
    assert page.count("![") == 3
