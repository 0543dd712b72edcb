"""The command line: one program from settings to samples, one line for every mistake."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pacodi_jax
from pacodi_jax import data
from pacodi_jax.evaluate import sample_key

ROOT = Path(__file__).parents[2]
SMALL = (
    "--config=configs/sines.py:size=tiny,length=8",
    "--config.train.steps=40",
    "--config.train.batch=8",
    "--config.train.warmup=4",
    "--config.train.log_every=20",
    "--config.train.chunk=20",
    "--samples=5",
)


def command(cache, *arguments):
    environ = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(cache / "programs"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PLATFORMS": "cpu",
    }
    return subprocess.run(
        [sys.executable, "-m", "pacodi_jax.main", *arguments],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=400,
    )


@pytest.fixture(scope="module")
def trained(cache, tmp_path_factory):
    workdir = tmp_path_factory.mktemp("runs") / "sines"
    done = command(cache, *SMALL, f"--workdir={workdir}")
    assert done.returncode == 0, done.stderr
    return workdir, done.stdout


def test_run_folder_explains_itself(trained):
    workdir, said = trained
    assert "parameters" in said
    assert "windows/s" in said
    environment = json.loads((workdir / "environment.json").read_text())
    assert environment["seed"] == 0
    assert json.loads((workdir / "config.json").read_text())["train"]["steps"] == 40
    card = json.loads((workdir / "model.json").read_text())
    assert card["steps"] == 40
    fingerprint = data.load("sines", length=8, scaling="standard").fingerprint
    assert environment["data"] == card["fingerprint"] == fingerprint
    losses = [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in losses if "loss" in line] == [20, 40]
    assert [line["step"] for line in losses if "validation" in line] == [40]


def test_loaded_generator_draws_what_the_command_wrote(trained):
    workdir, _ = trained
    written = np.load(workdir / "samples/samples.npy")
    drawn = pacodi_jax.load(workdir).sample(sample_key(0), 5)
    np.testing.assert_allclose(drawn, written, rtol=1e-5, atol=1e-5)


def test_finished_run_says_so_and_other_settings_are_refused(cache, trained):
    workdir, _ = trained
    before = (workdir / "metrics.jsonl").read_text()
    again = command(cache, *SMALL, f"--workdir={workdir}", "--mode=train")
    assert again.returncode == 0, again.stderr
    assert "is trained: step 40 of 40" in again.stdout
    assert (workdir / "metrics.jsonl").read_text() == before
    other = command(cache, *SMALL, f"--workdir={workdir}", "--config.train.learning_rate=0.5")
    assert other.returncode == 2
    assert "config.train.learning_rate=0.5, but the run in" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--config=configs/sines.py", "--config.train.stps=5"), "Did you mean 'steps'"),
        (("--config=configs/sines.py:sze=tiny",), "Did you mean 'size'"),
        (("--config=configs/nothing.py",), "configs/nothing.py"),
        (("--config=tests/training/broken_config.py",), "ZeroDivisionError: division by zero"),
    ],
)
def test_mistake_is_one_line_and_writes_nothing(cache, tmp_path, arguments, message):
    failed = command(cache, *arguments, f"--workdir={tmp_path / 'run'}")
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: ")
    assert failed.stderr.count("\n") == 1
    assert message in failed.stderr
    assert not (tmp_path / "run").exists()
