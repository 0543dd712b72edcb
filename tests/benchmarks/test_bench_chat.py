"""The zero-shot chat baseline on the exam of text-conditional runs, asked on loopback."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.configs import text as text_config
from pacodi_jax.errors import PacodiError
from pacodi_jax.text import properties
from pacodi_jax.text.chat import Answers, Failure
from tests.text.conftest import Reply, waves
from tests.text.runs import made, tiny

WINDOWS = 12


@pytest.fixture(scope="module")
def scripts(benchmark):
    """The modules of ``benchmarks`` as its commands see them."""
    return {name: benchmark(name) for name in ("bench_chat", "exam", "controllability")}


@pytest.fixture
def folder(tmp_path):
    """The settings of a run on one column of a table; nothing of it was trained."""
    pd.DataFrame({"value": 40 + 5 * waves(1, 400)[0]}).to_csv(tmp_path / "value.csv", index=False)
    source = {"data.source": "table", "data.path": str(tmp_path / "value.csv")}
    config = made(text_config.get_config("size=tiny"), source | {"data.channels": ("value",)})
    (tmp_path / "run").mkdir()
    (tmp_path / "run/config.json").write_text(tiny(config, 10).to_json())
    return tmp_path / "run"


@pytest.fixture
def command(scripts, folder, loopback, monkeypatch):
    """Runs the command on the run's data, with pauses that take no time."""
    bench = scripts["bench_chat"]
    monkeypatch.setattr(bench, "Service", lambda url, **_: loopback.service(attempts=2))

    def command(*arguments, source=str(folder)):
        cache, out = folder.parent / "replies.jsonl", folder.parent / "found.json"
        given = [source, f"--url={loopback.url}", "--model=m", f"--cache={cache}"]
        return bench.main([*given, f"--windows={WINDOWS}", f"--out={out}", *arguments])

    return command


def _caption(body) -> str:
    return body["messages"][1]["content"].partition("Description: ")[2]


def _said(values) -> Reply:
    return Reply({"choices": [{"message": {"content": json.dumps(list(values))}}]})


@pytest.fixture
def exam(scripts, folder):
    return scripts["exam"].prepare(scripts["bench_chat"].settings(str(folder)), WINDOWS)


def test_answers_are_scored_beside_the_mean_window_on_what_was_answered(
    command, exam, folder, loopback, capsys
):
    off, silent, refused = 0.1, exam.texts[3], exam.texts[5]

    def answer(_, body):
        text = _caption(body)
        if text == refused:
            return Reply({"error": "filtered"}, status=400)
        if text == silent:
            return _said([1.0])
        return _said(exam.windows[exam.texts.index(text), :, 0].astype(float) + off)

    loopback.answer = answer
    assert command() == 0
    found = json.loads((folder.parent / "found.json").read_text())
    assert (found["answered"], found["asked"]) == (WINDOWS - 2, WINDOWS)
    assert [failure["number"] for failure in found["failures"]] == [3, 5]
    usable = np.delete(exam.windows, [3, 5], axis=0).astype(float)
    mean = np.mean((usable - exam.mean) ** 2)
    wape = np.abs(usable - exam.mean).sum() / np.abs(usable).sum()
    told = found["errors"]
    assert told["mse"] == pytest.approx(off**2, abs=1e-4)
    assert told["crps"] == pytest.approx(off, abs=1e-4)
    assert told["wape"] == pytest.approx(off * usable.size / np.abs(usable).sum(), abs=1e-4)
    assert found["references"]["train_mean"]["mse"] == pytest.approx(mean, abs=1e-4)
    assert told["mse_to_train_mean"] == pytest.approx(off**2 / mean, abs=1e-4)
    assert told["wape_to_train_mean"] == pytest.approx(told["wape"] / wape, abs=2e-4)
    said = capsys.readouterr().out
    assert f"{WINDOWS - 2} of {WINDOWS} held-out windows answered" in said
    assert "window 3: 1 values" in said
    assert "status 400" in said


def _asked(scripts, windows):
    """An exam of windows ``(N, L)`` of which the scores need nothing else."""
    mean = np.zeros((windows.shape[1], 1))
    return scripts["exam"].Exam(windows[..., None], [""] * len(windows), None, mean, (-1.0, 1.0))


def test_errors_are_those_of_usable_answers_only(scripts):
    windows = np.array([[1.0, 2.5, -2.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.5]])
    series = np.array([[1.0, 2.5, -3.0], [np.nan] * 3, [0.0, 0.0, 0.0]])
    answers = Answers(series, (Failure(1, "2 values"),))
    found = scripts["bench_chat"].score(_asked(scripts, windows), answers)
    assert found["errors"]["mse"] == pytest.approx((1.0 + 0.25) / 6)
    assert found["errors"]["wape"] == pytest.approx(1.5 / 6.0)
    assert (found["answered"], found["asked"]) == (2, 3)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (Answers(np.zeros((2, 3)), ()), r"shape \(5, 3\), the answers \(2, 3\)"),
        (
            Answers(np.full((5, 3), np.nan), (Failure(0, "not JSON"),)),
            "none of 5 replies was usable.*not JSON",
        ),
    ],
)
def test_answers_that_cannot_be_scored_are_refused(scripts, answers, said):
    with pytest.raises(PacodiError, match=said):
        scripts["bench_chat"].score(_asked(scripts, np.ones((5, 3))), answers)


def test_the_model_is_told_the_usual_range_in_the_scale_of_the_windows(command, exam, loopback):
    loopback.answer = lambda *_: _said(np.zeros(exam.windows.shape[1]))
    assert command() == 0
    assert len(loopback.requests) == WINDOWS
    asked = loopback.requests[0][2]["messages"][1]["content"]
    low, high = map(float, re.search(r"between (\S+) and (\S+)\. ", asked).groups())
    assert (low, high) == pytest.approx(exam.usual, rel=1e-3)
    assert -4 < low < -1 < 1 < high < 4


def test_a_run_that_was_stopped_asks_only_for_what_is_missing(command, exam, loopback, capsys):
    good = _said(np.zeros(exam.windows.shape[1]))
    loopback.replies = [good] * 5 + [Reply(status=500)]
    assert command() == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: ")
    assert complaint.count("\n") == 1
    assert "failed 2 times" in complaint
    loopback.requests.clear()
    loopback.replies = [good]
    assert command() == 0
    assert len(loopback.requests) == WINDOWS - 5
    loopback.requests.clear()
    assert command() == 0
    assert not loopback.requests
    assert f"{WINDOWS} of {WINDOWS}" in capsys.readouterr().out


def test_progress_is_told_where_the_output_is_no_terminal(
    command, exam, loopback, capsys, monkeypatch
):
    monkeypatch.setattr("pacodi_jax.report.progress._PLAIN_EVERY", 0.0)
    loopback.answer = lambda *_: _said(np.zeros(exam.windows.shape[1]))
    assert command() == 0
    said = capsys.readouterr().err.splitlines()
    counts = [line.partition(",")[0] for line in said[:2]]
    assert counts == [f"asking: 1 of {WINDOWS}", f"asking: 2 of {WINDOWS}"]


def test_no_usable_answer_and_a_source_that_is_none_are_one_line(command, folder, loopback, capsys):
    loopback.replies = [_said([1.0])]
    for options, said in (
        ({}, f"none of {WINDOWS} replies was usable"),
        ({"source": "etth"}, "Did you mean 'etth1'?"),
        ({"source": str(folder.parent)}, "is not the folder of a run"),
        ({"source": "runs/none"}, "is not the folder of a run"),
    ):
        assert command(**options) == 2
        complaint = capsys.readouterr().err
        assert said in complaint
        assert complaint.count("\n") == 1
    assert not (folder.parent / "found.json").exists()


def test_a_source_by_name_has_the_settings_of_the_text_config(scripts):
    config = scripts["bench_chat"].settings("etth1,length=48")
    assert (config.data.source, config.data.length) == ("etth1", 48)
    assert config.data.channels == ("OT",)
    assert config.data.scaling == "standard"


def test_the_requests_of_controllability_are_checked_by_the_captioners_yardsticks(
    scripts, windows, yardsticks
):
    requests = scripts["controllability"].REQUESTS
    line = np.linspace(-1, 1, 24) * 4 * yardsticks.unit
    held = {name for name, request in requests.items() if request.holds(line, yardsticks)}
    assert held >= {"up", "low volatility"}
    assert not held & {"down", "flat", "one peak", "two peaks", "high volatility"}
    rates = scripts["controllability"].base_rates(windows[:, :, None], yardsticks)
    trends = [properties.trend(window, yardsticks).direction for window in windows]
    assert rates["up"] == pytest.approx(trends.count("up") / len(windows))
    assert rates["up"] + rates["down"] + rates["flat"] == pytest.approx(1)
