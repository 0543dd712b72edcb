"""The judge as a function: the same numbers from whatever holds the windows."""

import dataclasses
import importlib
import inspect
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacodi_jax.cli import judge as cli
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics import Panel
from pacodi_jax.report.judgement import Verdict, judge
from tests.metrics.windows import waves
from tests.report.frames import table

REAL, MADE, LATER = waves(120), waves(90, seed=1), waves(60, seed=2)


def _values(panel):
    return {
        (s.name, s.split): (s.measured.values, s.floor.values, s.ceiling.values)
        for s in panel.scores
    }


@pytest.fixture
def verdict(untrained):
    return judge(table(REAL), table(MADE), held_out=table(LATER))


@pytest.mark.parametrize(
    "give",
    [
        lambda windows: windows,
        list,
        lambda windows: pl.from_pandas(table(windows)),
        lambda windows: table(windows).drop(columns="date"),
    ],
    ids=["arrays", "lists", "polars", "numbers only"],
)
def test_the_numbers_are_those_of_the_frames_whatever_holds_the_windows(verdict, give):
    other = judge(give(REAL), give(MADE), held_out=give(LATER))
    assert _values(other.panel) == _values(verdict.panel)
    assert other.panel.verdict == verdict.panel.verdict


def test_the_command_on_files_finds_the_same_numbers(verdict, tmp_path, capsys):
    paths = [tmp_path / name for name in ("real.csv", "made.parquet", "later.npy")]
    table(REAL).to_csv(paths[0], index=False)
    table(MADE).to_parquet(paths[1], index=False)
    np.save(paths[2], LATER)
    real, made, later = map(str, paths)
    assert cli.main([real, made, "--held-out", later, "--out", str(tmp_path / "out")]) == 0
    panel = Panel.from_json((tmp_path / "out" / "scores.json").read_text())
    assert _values(panel) == _values(verdict.panel)
    assert judge(*paths[:2], held_out=later).panel.scores == panel.scores
    written = pd.read_csv(tmp_path / "out" / "scores.csv")
    pd.testing.assert_frame_equal(written, verdict.frame)
    assert capsys.readouterr().out.splitlines()[:3] == [
        "real.csv: columns that are not numbers are not scored: date",
        "made.parquet: columns that are not numbers are not scored: date",
        panel.verdict[0],
    ]


def test_a_verdict_is_silent_and_says_in_notes_what_was_left_out(verdict, capfd):
    judge(table(REAL), MADE)
    assert capfd.readouterr() == ("", "")
    assert verdict.notes == tuple(
        f"{name}: columns that are not numbers are not scored: date"
        for name in ("real", "synthetic", "held_out")
    )


def test_a_verdict_prints_as_sentences_and_a_table_within_120_columns(verdict):
    long = dataclasses.replace(verdict.panel, protocol="a protocol " * 40)
    for shown in (verdict, dataclasses.replace(verdict, panel=long)):
        lines = repr(shown).splitlines()
        assert str(shown) == repr(shown)
        assert max(map(len, lines)) <= 120
    text = " ".join(repr(verdict).split())
    assert all(line in text for line in verdict.panel.verdict)
    assert "Note: held_out: columns that are not numbers" in text
    lines = repr(verdict).splitlines()
    head, row = (next(x for x in lines if x.startswith(y)) for y in ("score ", "Coverage "))
    score = verdict.panel.score("coverage_v1")
    assert row.endswith(score.word)
    assert row.index(score.word) == head.index("in words")
    assert len([line for line in lines if line.startswith("Coverage ")]) == 2


def test_a_verdict_is_a_frame_a_page_and_a_text(verdict, tmp_path):
    assert len(verdict.frame) == len(verdict.panel.scores) == 19
    assert list(verdict.frame.columns[:3]) == ["name", "split", "group"]
    first = verdict.panel.scores[0]
    assert verdict.frame["low"][0] == first.measured.interval[0]
    path = verdict.to_html(tmp_path / "new" / "report.html")
    assert path == tmp_path / "new" / "report.html"
    page = path.read_text()
    assert page.startswith("<!doctype html>")
    assert "<h1>Synthetic windows judged against real windows</h1>" in page
    assert json.loads(verdict.to_json()) == verdict.panel.record()
    small = verdict._repr_html_()
    assert small.count("<table>") == 2
    assert "<style" not in small


def test_names_from_users_are_escaped_in_a_notebook(verdict):
    evil = dataclasses.replace(verdict, notes=("<script>",))
    assert "<script" not in evil._repr_html_()


def _with_nan(windows):
    bad = windows.copy()
    bad[7, 3, 2] = np.nan
    return bad


@pytest.mark.parametrize("form", [lambda w: w, table, lambda w: pl.from_pandas(table(w))])
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (_with_nan, "{name} has nan in window 7, step 3, channel 2"),
        (lambda w: w[:5], "{name} has 5 windows; at least 20 are needed"),
        (lambda w: w[:, :9], "{name} windows have 9 steps but real ones have 16"),
        (lambda w: w[..., :3], "{name} .*channels"),
    ],
)
@pytest.mark.parametrize("name", ["synthetic", "held_out"])
def test_windows_that_cannot_be_judged_are_refused_by_name(untrained, form, edit, message, name):
    sets = {"synthetic": form(MADE), "held_out": form(LATER)}
    sets[name] = form(edit(MADE))
    with pytest.raises(PacodiError, match=message.format(name=name)):
        judge(form(REAL), **sets)


@pytest.mark.parametrize(
    "edit",
    [
        lambda f: f[["window", "c 1", "c 0", "c 2", "c 3"]],
        lambda f: f.rename(columns={"c 0": "z"}),
    ],
    ids=["order", "name"],
)
def test_other_channels_are_refused_by_name(untrained, tmp_path, edit):
    other = edit(table(MADE))
    with pytest.raises(PacodiError, match=r"synthetic has channels .* names and order must agree"):
        judge(table(REAL), other)
    other.to_csv(tmp_path / "made.csv", index=False)
    with pytest.raises(PacodiError, match=r"made\.csv has channels "):
        judge(table(REAL), tmp_path / "made.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 0}, "seeds=0; at least 1"),
        ({"windows": 19}, "windows=19; at least 20"),
        ({"cache": __file__}, "is a file; name a folder"),
    ],
)
def test_options_are_refused_by_name(untrained, options, message):
    with pytest.raises(PacodiError, match=message):
        judge(REAL, MADE, **options)


def test_tables_are_cut_by_length_and_a_quick_look_says_so(untrained, tmp_path):
    series = table(REAL).drop(columns="window")
    found = judge(series, series[:500], length=12, quick=True, cache=tmp_path / "kept")
    assert found.panel.data.real.windows == len(series) - 11
    assert found.panel.protocol == "judge (quick)"
    assert found.panel.settings.predictive_steps == 500
    assert [path.suffix for path in (tmp_path / "kept").iterdir()] == [".json"] * 2
    assert not (tmp_path / "cache").exists()


def test_progress_is_shown_when_asked_for(untrained, capfd, monkeypatch):
    monkeypatch.setattr("pacodi_jax.report.progress._PLAIN_EVERY", 0.0)
    judge(REAL, MADE, progress=True)
    assert "scoring: 1 of " in capfd.readouterr().err


def test_the_module_of_the_command_is_the_function_too():
    door = importlib.import_module("pacodi_jax.judge")
    assert inspect.ismodule(door)
    assert callable(door)
    assert door.judge is judge
    assert door.Verdict is Verdict
    with pytest.raises(PacodiError, match="real has shape"):
        door(np.zeros(3), np.zeros(3))
    assert list(inspect.signature(door).parameters) == list(inspect.signature(judge).parameters)


def test_the_module_runs_as_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "pacodi_jax.judge", "nowhere.npy", "nowhere.npy"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "error: nowhere.npy does not exist.\n"
