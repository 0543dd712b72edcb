"""Training survives kills, signals, a full disk and bad numbers, and repeats bit for bit."""

import json
import random
import shutil
from signal import SIGINT, SIGKILL, SIGTERM

import numpy as np
import pytest

from pacodi_jax.checkpoint import Checkpoints
from tests.train import saver
from tests.train.processes import Process


@pytest.fixture(scope="module")
def reference(cache, tmp_path_factory):
    """The end of a run that nothing disturbed."""
    with Process(cache, "--workdir", tmp_path_factory.mktemp("reference")) as process:
        report = process.report()
    assert report["step"] == 300
    return report["digest"]


def steps_told(workdir):
    lines = (workdir / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["step"] for line in lines if "loss" in json.loads(line)]


def resume(cache, workdir, **options):
    with Process(cache, "--workdir", workdir, **options) as process:
        return process.report()


def test_five_kills_change_nothing(cache, tmp_path, reference):
    reached, chance = 0, random.Random(5)
    for _ in range(5):
        with Process(cache, "--workdir", tmp_path) as process:
            reached = min(reached + 10 * chance.randint(1, 5), 290)
            process.until(f"saving {reached}")
            process.send(SIGKILL)
            assert process.end() == -SIGKILL
        reached -= 10  # the save under way may be lost
    report = resume(cache, tmp_path)
    assert report["first"] > 0
    assert report["digest"] == reference
    assert steps_told(tmp_path) == list(range(10, 310, 10))


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.02, 0.05, 0.1, 0.2])
def test_kill_during_a_save_leaves_the_step_before(cache, tmp_path, delay):
    with Process(cache, tmp_path, script="saver.py") as process:
        process.until("saving 2")
        process.kill_after(delay)
    with Checkpoints(tmp_path) as store:
        newest = store.restore(saver.state_at(0))
        assert newest.step in (1, 2)
        for found in (newest, store.restore(saver.state_at(0), step=1)):
            for name, array in saver.state_at(found.step).items():
                assert found.state[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("number", [SIGTERM, SIGINT])
def test_signal_saves_and_ends_well(cache, tmp_path, reference, number):
    with Process(cache, "--workdir", tmp_path, "--every", 50) as process:
        process.until("saving 100")
        process.send(number)
        stopped = process.report()
    assert stopped["signal"] == number.name
    assert 100 <= stopped["step"] < 300
    report = resume(cache, tmp_path)
    assert report["first"] == stopped["step"]
    assert report["digest"] == reference


def test_finished_run_does_nothing_twice(cache, tmp_path, reference):
    assert resume(cache, tmp_path)["digest"] == reference
    before = (tmp_path / "metrics.jsonl").read_text()
    again = resume(cache, tmp_path)
    assert again == {"step": 300, "first": 300, "signal": None, "digest": reference}
    assert (tmp_path / "metrics.jsonl").read_text() == before


@pytest.mark.parametrize("full_at", [150, 300])
def test_full_disk_is_an_error_and_earlier_checkpoints_stay(cache, tmp_path, reference, full_at):
    with Process(cache, "--workdir", tmp_path, "--every", 50, "--full-at", full_at) as process:
        assert process.end() == 2
        assert f"saving {full_at + 50}" not in process.rest
        assert "error: no room for a checkpoint" in process.complaint()
        assert "Traceback" not in process.complaint()
    report = resume(cache, tmp_path)
    assert report["first"] == full_at - 50
    assert report["digest"] == reference


def test_bad_steps_are_skipped_and_counted(cache, tmp_path):
    with Process(cache, "--workdir", tmp_path, "--poison", 50, 53) as process:
        assert process.report()["step"] == 300
    with Checkpoints(tmp_path / "checkpoints", read_only=True) as store:
        sealed = store._seal(300)
    assert sealed["metadata"]["step"] == 300
    told = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    skipped = [line["skipped"] for line in told if "skipped" in line]
    assert (skipped[4], skipped[5], skipped[-1]) == (0, 3, 3)
    assert all(line["loss"] is not None for line in told if "loss" in line)


def test_too_many_bad_steps_in_a_row_end_the_run_in_plain_words(cache, tmp_path):
    with Process(cache, "--workdir", tmp_path, "--poison", 52, 300) as process:
        assert process.end() == 2
        complaint = process.complaint()
    assert "not finite at 7 steps in a row, the last at step 59" in complaint
    assert "the last checkpoint is step 50" in complaint
    assert "Traceback" not in complaint


def test_four_devices_resume_on_another_number(cache, tmp_path):
    with Process(cache, "--workdir", tmp_path / "4", "--every", 50, devices=4) as process:
        process.until("saving 150")
        process.send(SIGTERM)
        assert process.report()["signal"] == "SIGTERM"
    ends = {}
    for devices in (4, 1, 2, 8):
        workdir, out = tmp_path / f"on{devices}", tmp_path / f"{devices}.npz"
        shutil.copytree(tmp_path / "4", workdir)
        with Process(cache, "--workdir", workdir, "--out", out, devices=devices) as process:
            assert process.report()["first"] >= 150
        ends[devices] = np.load(out)
    for devices in (1, 2, 8):
        for name in ("kernel", "bias"):
            np.testing.assert_allclose(ends[devices][name], ends[4][name], atol=1e-6, rtol=0)
