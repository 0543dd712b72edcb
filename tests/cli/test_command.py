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
from absl import flags
from ml_collections import config_flags

import pacodi_jax
from pacodi_jax import data, run
from pacodi_jax.cli import main
from pacodi_jax.cli.flags import flag_mistake
from pacodi_jax.evaluate import sample_key
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


def test_estimate_comes_before_compiling_and_the_time_to_go_after_twenty_steps(trained):
    said = [line.split()[0] for line in trained[1].splitlines()]
    assert said[:2] == ["71,178", "compiled"]
    first = trained[1].splitlines()[0]
    assert re.search(r"parameters; [\d.]+ GFLOP a step .* [\d.]+ MB of state and [\d.]+ MB", first)


def test_loaded_generator_draws_what_the_command_wrote(trained, monkeypatch):
    workdir, _ = trained
    monkeypatch.setattr(data, "load", lambda *_, **__: pytest.fail("sampling needs no data"))
    written = np.load(workdir / "samples/samples.npy")
    drawn = pacodi_jax.load(workdir).sample(sample_key(0), 5)
    np.testing.assert_allclose(drawn, written, rtol=1e-5, atol=1e-5)


def test_calibration_belongs_to_the_way_samples_were_drawn(cache, trained):
    workdir, said = trained
    assert "calibrating samples by 200 draws" in said
    loaded = pacodi_jax.load(workdir)
    assert loaded.generator.calibration is not None
    assert loaded.note == ""
    assert json.loads((workdir / "samples/samples.json").read_text())["calibrated"] is True
    config = loaded.config.copy_and_resolve_references().unlock()
    config.sample.steps = 7
    other = run.load(workdir, config)
    assert other.generator.calibration is None
    assert "not calibrated: the run's calibration is for solver=wiener_ab2, steps=20" in other.note
    bare = dataclasses.replace(loaded.generator, calibration=None)
    key = jax.random.key(3)
    corrected, raw = (model.sample(key, loaded.params, 50) for model in (loaded.generator, bare))
    assert float(np.abs(corrected - raw).max()) > 1e-3


def test_damaged_weights_are_exported_again(trained, tmp_path):
    workdir = shutil.copytree(trained[0], tmp_path / "run")
    card = json.loads((workdir / "model.json").read_text())
    assert from_config._is_exported(workdir, card, 200)
    assert not from_config._is_exported(workdir, card, 300)
    assert not from_config._is_exported(workdir, card | {"steps": 41}, 200)
    whole = (workdir / "model.safetensors").read_bytes()
    (workdir / "model.safetensors").write_bytes(whole[:-8] + b"damaged!")
    assert not from_config._is_exported(workdir, card, 200)
    (workdir / "model.json").unlink()
    assert not from_config._is_exported(workdir, card, 200)


def test_finished_run_keeps_its_calibration_whatever_samples_are_asked_for(cache, trained):
    workdir, _ = trained
    before = (workdir / "model.safetensors").read_bytes()
    asked = ("--config.sample.steps=7", "--samples=3")
    done = command(cache, f"--workdir={workdir}", *asked)
    assert done.returncode == 0, done.stderr
    assert "calibrating" not in done.stdout
    assert "note: samples are not calibrated" in done.stdout
    assert (workdir / "model.safetensors").read_bytes() == before
    back = command(cache, f"--workdir={workdir}", "--samples=5")
    assert back.returncode == 0, back.stderr
    assert pacodi_jax.load(workdir).calibrated
    other = command(cache, *SMALL, f"--workdir={workdir}", "--config.train.calibration=0")
    assert "config.train.calibration=0, but the run in" in other.stderr


def test_finished_run_says_so_and_other_settings_are_refused(cache, trained):
    workdir, _ = trained
    files = ("metrics.jsonl", "environment.json", "config.json", "samples/samples.npy")
    files += ("model.safetensors", "model.json")
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
    assert "config.train.learning_rate=0.5, but the run in" in other.stderr


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
    (tmp_path / "config.json").write_text("{}")
    elsewhere, here = f"--workdir={tmp_path / 'empty'}", f"--workdir={tmp_path}"
    for untouched in (["main", elsewhere], ["main", here, "--config=x.py"], ["main", "--workdir"]):
        assert main._with_config(untouched) == untouched
    for given in ([here], ["--workdir", str(tmp_path)], ["--mode=sample", here, "--config.seed=1"]):
        name, added, *rest = main._with_config(["main", *given])
        assert (name, rest) == ("main", given)
        assert added.endswith(f"pacodi_jax/train/config.py:{tmp_path / 'config.json'}")


def test_samples_and_scores_are_made_anew_when_anything_about_them_differs(tmp_path):
    facts = {"windows": 5, "sampler": {"steps": 20}, "text": None}
    files = ("samples.json", "samples.npy")
    assert not main._holds(tmp_path, facts, *files)
    (tmp_path / "samples.json").write_text(json.dumps({"windows": 5, "sampler": {"steps": 20}}))
    assert not main._holds(tmp_path, facts, *files)
    (tmp_path / "samples.npy").touch()
    assert main._holds(tmp_path, facts, *files)
    for change in ({"windows": 6}, {"sampler": {"steps": 10}}, {"text": "it rises"}):
        assert not main._holds(tmp_path, facts | change, *files)


def test_compiled_programs_are_kept_where_the_user_or_the_system_says(monkeypatch, tmp_path):
    before = jax.config.jax_compilation_cache_dir
    chosen = []
    monkeypatch.setattr(jax.config, "update", lambda name, value: chosen.append((name, value)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    main._cache_programs()
    assert chosen == [("jax_compilation_cache_dir", str(tmp_path / "pacodi_jax/programs"))]
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/elsewhere")
    main._cache_programs()
    assert len(chosen) == 1
    assert jax.config.jax_compilation_cache_dir == before


def test_programs_of_a_run_are_in_the_cache(cache, trained):
    assert any(path.name.startswith("jit") for path in (cache / "programs").iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--config=configs/sines.py", "--config.train.stps=5"), "Did you mean 'steps'"),
        (("--config=configs/sines.py", "--config.train.steps=0"), "config.train.steps=0"),
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
        ("--config.train.stps=5", "no setting 'stps'. Did you mean 'steps'?"),
        ("--config.trian.steps=5", "no setting 'trian'. Did you mean 'train'?"),
        ("--config.train.steps=many", "--config.train.steps=many: a whole number is needed"),
        ("--config.train.ema=high", "--config.train.ema=high: a number is needed"),
        ("--config.model.remat=maybe", "--config.model.remat=maybe: true or false is needed"),
        ("--config=configs/sines.py:sze=tiny", "Did you mean 'size'?"),
        ("--mode=trian", "--mode=trian: value should be one of <train|sample>. Did you mean"),
        ("--smaples=5", "Unknown command line flag 'smaples'"),
    ],
)
@pytest.mark.filterwarnings("ignore:the load_module:DeprecationWarning")  # in ml_collections
def test_mistake_in_the_flags_is_told_in_one_plain_line(argument, message, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["main", "--config=configs/sines.py", argument])
    values = flags.FlagValues()
    config = config_flags.DEFINE_config_file("config", lock_config=True, flag_values=values)
    flags.DEFINE_enum("mode", None, ["train", "sample"], "", flag_values=values)

    def parse():
        values(sys.argv)
        config.value.to_dict()

    with pytest.raises(Exception) as raised:  # noqa: PT011 - of whatever kind
        parse()
    told = flag_mistake(raised.value)
    assert message in told
    assert "\n" not in told
