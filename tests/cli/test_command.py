"""The command line: one program from settings to samples, one line for every mistake."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import pacodi_jax
from pacodi_jax import data
from pacodi_jax.cli import main, overrides, work
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import folder, samples
from pacodi_jax.settings import Config
from pacodi_jax.train import from_config

ROOT = Path(__file__).parents[2]
SMALL = (
    "--config=configs/sines.py:size=tiny,length=8",
    "--config.train.steps=40",
    "--config.train.batch=8",
    "--config.train.warmup=4",
    "--config.train.log_every=20",
    "--config.train.chunk=20",
    "--config.train.calibration=200",
    "--samples=5",
)


def start(cache, *arguments):
    environ = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(cache / "programs"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PLATFORMS": "cpu",
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "pacodi_jax.main", *arguments],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def command(cache, *arguments):
    process = start(cache, *arguments)
    said, complaint = process.communicate(timeout=400)
    return subprocess.CompletedProcess(process.args, process.returncode, said, complaint)


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
    page = (ROOT / "docs/reference/formats.md").read_text()
    for path in (*workdir.iterdir(), workdir / "samples/samples.json"):
        assert f"{path.name}{'/' * path.is_dir()}`" in page or path.name == ".lock", path
    environment = json.loads((workdir / "environment.json").read_text())
    assert environment["seed"] == 0
    assert json.loads((workdir / "config.json").read_text())["train"]["steps"] == 40
    card = json.loads((workdir / "model.json").read_text())
    assert card["steps"] == 40
    fingerprint = data.load(
        data.DataSettings(source="sines", length=8, scaling="standard")
    ).fingerprint
    assert environment["data"] == card["fingerprint"] == fingerprint
    losses = [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in losses if "loss" in line] == [20, 40]
    assert [line["step"] for line in losses if "validation" in line] == list(range(4, 41, 4))


def test_estimate_comes_before_compiling_and_the_time_to_go_after_twenty_steps(trained):
    said = [line.split()[0] for line in trained[1].splitlines()]
    assert said[:2] == ["71,178", "compiled"]
    first = trained[1].splitlines()[0]
    assert re.search(
        r"parameters; [\d.]+ GFLOP per step .* [\d.]+ MB of state and [\d.]+ MB", first
    )


def test_loaded_generator_draws_what_the_command_wrote(trained, monkeypatch):
    workdir, _ = trained
    monkeypatch.setattr(data, "load", lambda *_, **__: pytest.fail("sampling needs no data"))
    written = np.load(workdir / "samples/samples.npy")
    drawn = pacodi_jax.load(workdir).sample(5, output="numpy")
    np.testing.assert_allclose(drawn, written, rtol=1e-5, atol=1e-5)


def test_calibration_belongs_to_the_way_samples_were_drawn(cache, trained):
    workdir, said = trained
    assert "calibrating samples by 200 draws" in said
    generator = folder.load(workdir).generator
    assert generator.facts().calibrated
    assert generator.facts().note == ""
    assert json.loads((workdir / "samples/samples.json").read_text())["calibrated"] is True
    other = generator.facts(steps=7)
    assert not other.calibrated
    assert (
        "not calibrated: the model's calibration is for solver=wiener_ab2, steps=20" in other.note
    )


def test_damaged_weights_are_exported_again(trained, tmp_path):
    workdir = shutil.copytree(trained[0], tmp_path / "run")
    model = folder.load(workdir)
    assert from_config._kept(workdir, model, 200) is not None
    assert from_config._kept(workdir, model, 300) is None
    longer = dataclasses.replace(model, facts=model.facts | {"steps": 41})
    assert from_config._kept(workdir, longer, 200) is None
    whole = (workdir / "model.pacodi").read_bytes()
    (workdir / "model.pacodi").write_bytes(whole[:-8] + b"damaged!")
    assert from_config._kept(workdir, model, 200) is None
    (workdir / "model.pacodi").unlink()
    assert from_config._kept(workdir, model, 200) is None


def test_finished_run_keeps_its_calibration_whatever_samples_are_asked_for(cache, trained):
    workdir, _ = trained
    before = (workdir / "model.pacodi").read_bytes()
    asked = ("--config.sample.steps=7", "--samples=3")
    done = command(cache, f"--workdir={workdir}", *asked)
    assert done.returncode == 0, done.stderr
    assert "calibrating" not in done.stdout
    assert "note: samples are not calibrated" in done.stdout
    assert (workdir / "model.pacodi").read_bytes() == before
    back = command(cache, f"--workdir={workdir}", "--samples=5")
    assert back.returncode == 0, back.stderr
    assert folder.load(workdir).generator.facts().calibrated
    other = command(cache, *SMALL, f"--workdir={workdir}", "--config.train.calibration=0")
    assert "train.calibration=0, but the run in" in other.stderr


def test_finished_run_says_so_and_other_settings_are_refused(cache, trained):
    workdir, _ = trained
    files = ("metrics.jsonl", "environment.json", "config.json", "samples/samples.npy")
    files += ("model.pacodi", "model.json")
    before = [((workdir / f).read_bytes(), (workdir / f).stat().st_mtime_ns) for f in files]
    for given in (SMALL, ("--samples=5",)):  # without a config, the run's own
        again = command(cache, *given, f"--workdir={workdir}")
        assert again.returncode == 0, again.stderr
        assert "is trained: step 40 of 40" in again.stdout
        assert "samples holds these 5 windows already" in again.stdout
        assert "calibrating" not in again.stdout
    assert before == [((workdir / f).read_bytes(), (workdir / f).stat().st_mtime_ns) for f in files]
    other = command(cache, *SMALL, f"--workdir={workdir}", "--config.train.learning_rate=0.5")
    assert other.returncode == 2
    assert "train.learning_rate=0.5, but the run in" in other.stderr


def test_signal_saves_and_ends_with_the_code_that_a_launcher_wants(cache, trained, tmp_path):
    workdir = shutil.copytree(trained[0], tmp_path / "run")
    longer = (f"--workdir={workdir}", "--mode=train", "--config.train.steps=10000000")
    with start(cache, *SMALL, *longer, "--exit_on_signal=75") as process:
        while not process.stdout.readline().startswith("compiled"):
            assert process.poll() is None
        process.terminate()
        said, complaint = process.communicate(timeout=240)
    assert process.returncode == 75, complaint
    step = int(re.search(r"SIGTERM: step (\d+) is saved", said)[1])
    assert step > 40
    assert (workdir / f"checkpoints/{step}").is_dir()


def test_settings_of_the_run_serve_where_none_are_given(tmp_path):
    stored = Config.default().changed({"train.steps": 7})
    (tmp_path / "config.json").write_text(stored.to_json())
    assert overrides.make(None, {}, str(tmp_path)) == stored
    assert overrides.make(None, {"seed": "3"}, str(tmp_path)).seed == 3
    for elsewhere in (str(tmp_path / "empty"), None):
        with pytest.raises(PacodiError, match="or the --workdir of a run"):
            overrides.make(None, {}, elsewhere)


@pytest.mark.parametrize(
    ("words", "spec", "texts", "rest"),
    [
        (["--config=a.py:x=1", "--mode=all"], "a.py:x=1", {}, ["--mode=all"]),
        (["--config", "a.py", "--config.train.steps=5"], "a.py", {"train.steps": "5"}, []),
        (["-config.seed", "1", "--samples", "3"], None, {"seed": "1"}, ["--samples", "3"]),
        (["--config.data.time=a=b"], None, {"data.time": "a=b"}, []),
        (["--configs=x"], None, {}, ["--configs=x"]),
    ],
)
def test_a_config_and_its_overrides_are_found_in_a_command_line(words, spec, texts, rest):
    assert overrides.split(words) == (spec, texts, rest)


def test_samples_and_scores_are_made_anew_when_anything_about_them_differs(tmp_path):
    facts = {"windows": 5, "sampler": {"steps": 20}, "text": None}
    files = ("samples.json", "samples.npy")
    assert not samples.holds(tmp_path, facts, *files)
    (tmp_path / "samples.json").write_text(json.dumps({"windows": 5, "sampler": {"steps": 20}}))
    assert not samples.holds(tmp_path, facts, *files)
    (tmp_path / "samples.npy").touch()
    assert samples.holds(tmp_path, facts, *files)
    for change in ({"windows": 6}, {"sampler": {"steps": 10}}, {"text": "it rises"}):
        assert not samples.holds(tmp_path, facts | change, *files)


def test_compiled_programs_are_kept_where_the_user_or_the_system_says(monkeypatch, tmp_path):
    before = jax.config.jax_compilation_cache_dir
    chosen = []
    monkeypatch.setattr(jax.config, "update", lambda name, value: chosen.append((name, value)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    work.cache_programs()
    assert chosen == [("jax_compilation_cache_dir", str(tmp_path / "pacodi_jax/programs"))]
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/elsewhere")
    work.cache_programs()
    assert len(chosen) == 1
    assert jax.config.jax_compilation_cache_dir == before


def test_programs_of_a_run_are_in_the_cache(cache, trained):
    assert any(path.name.startswith("jit") for path in (cache / "programs").iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--config=configs/sines.py", "--config.train.stps=5"), "Did you mean 'train.steps'"),
        (("--config=configs/sines.py", "--config.train.steps=0"), "error: train.steps=0"),
        (("--config=configs/nothing.py",), "configs/nothing.py"),
        ((), "--config=configs/NAME.py, or the --workdir of a run"),
        (("--config=tests/train/broken_config.py",), "ZeroDivisionError: division by zero"),
    ],
)
def test_mistake_is_one_line_and_writes_nothing(cache, tmp_path, arguments, message):
    failed = command(cache, *arguments, f"--workdir={tmp_path / 'run'}")
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: ")
    assert failed.stderr.count("\n") == 1
    assert message in failed.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--config.train.stps=5", "no setting 'train.stps'. Did you mean 'train.steps'?"),
        ("--config.trian.steps=5", "no setting 'trian.steps'. Did you mean 'train.steps'?"),
        ("--config.train.steps=many", "train.steps='many'; a whole number is needed"),
        ("--config.train.ema=high", "train.ema='high'; a number is needed"),
        ("--config.model.remat=maybe", "model.remat='maybe'; True or False is needed"),
        ("--config=configs/sines.py:sze=tiny", "Did you mean 'size'?"),
        ("--mode=trian", "--mode=trian: value should be one of <train|sample"),
        ("--mode=trian", "Did you mean 'train'?"),
        ("--samples=many", "--samples=many: a whole number is needed"),
        ("--smaples=5", "Unknown command line flag 'smaples'"),
    ],
)
def test_mistake_in_the_flags_is_told_in_one_plain_line(argument, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main.parse(["main", "--config=configs/sines.py", "--workdir=x", argument])
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
