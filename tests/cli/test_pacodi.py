"""The command ``pacodi``: a table in, windows out, one line for every mistake."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.cli import pacodi, work
from pacodi_jax.run import export

pytestmark = pytest.mark.usefixtures("quick_compiles", "no_cache")

BROKEN = Path(__file__).parent.parent / "train" / "broken_config.py"
QUICK = ("--size=tiny", "--set", "train.steps=4", "--set=train.batch=8", "--set=sample.steps=3")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    hours = np.arange(400)
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=400, freq="h"),
            "grade": np.where(hours < 200, "low", "high"),
            "value": np.sin(hours / 4).round(3),
        }
    )
    path = tmp_path_factory.mktemp("table") / "mine.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def run(table):
    """A run of the command on a table with a static column."""
    out = table.parent / "run"
    columns = ("--time=when", "--static=grade", "--length=8", "--set=data.fractions=1,0,0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "cache_programs", lambda: None)
        arguments = ["train", str(table), *columns, *QUICK, f"--out={out}", "-n", "3"]
        assert pacodi.main(arguments) == 0
    return out


def test_training_leaves_a_model_samples_and_pictures(run):
    for name in ("model.pacodi", "config.json", "loss.png", "samples/samples.csv"):
        assert (run / name).is_file()
    assert json.loads((run / "config.json").read_text())["train"]["steps"] == 4
    written = pd.read_csv(run / "samples/samples.csv")
    assert list(written) == ["window", "when", "grade", "value"]
    assert len(written) == 3 * 8


def test_samples_are_drawn_from_a_folder_or_a_file(run, tmp_path, capsys):
    for source in (run, run / "model.pacodi"):
        out = tmp_path / source.name
        asked = ("--static", "grade=high", "--seed=5", "--set=sample.steps=2", f"--out={out}")
        assert pacodi.main(["sample", str(source), "-n", "2", *asked]) == 0
        assert set(pd.read_csv(out / "samples.csv")["grade"]) == {"high"}
        told = json.loads((out / "samples.json").read_text())
        assert (told["windows"], told["seed"], told["sampler"]["steps"]) == (2, 5, 2)
    assert str(tmp_path / "run/samples.png") in capsys.readouterr().out


def test_a_table_is_described(table, tmp_path, capsys):
    given = ["describe", str(table), "--time=when", "--static=grade", "--length=8"]
    assert pacodi.main([*given, f"--png={tmp_path / 'd.png'}"]) == 0
    said = capsys.readouterr().out
    assert "each 8 steps" in said
    assert (tmp_path / "d.png").read_bytes().startswith(b"\x89PNG")


def test_a_sampler_is_exported(run, tmp_path, capsys):
    path = tmp_path / "s.stablehlo"
    given = ["export", str(run), f"--out={path}", "-n", "2", "--platforms=cpu"]
    assert pacodi.main([*given, "--static=grade=low"]) == 0
    assert capsys.readouterr().out.strip() == str(path)
    assert export.load(path)(0).shape == (2, 8, 1)


@pytest.mark.parametrize("name", pacodi.COMMANDS)
def test_every_help_fits_a_screen_and_shows_an_example(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as stopped:
        pacodi.main([name, "--help"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    assert "example" in said.lower()
    assert f"pacodi {name}" in said
    assert len(said.splitlines()) <= 40
    assert max(map(len, said.splitlines())) <= 100


LIGHT = """
import sys
from pathlib import Path
from pacodi_jax.cli import pacodi
for name in (None, *pacodi.COMMANDS):
    try:
        pacodi.main([name, "--help"] if name else ["--help"])
    except SystemExit as stop:
        assert stop.code == 0
heavy = {"jax", "numpy", "pandas", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""


def test_no_help_waits_for_heavy_imports():
    subprocess.run([sys.executable, "-c", LIGHT], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "usage: pacodi COMMAND"),
        (("trian",), "Did you mean 'train'?"),
        (("train",), "the following arguments are required: source"),
        (("train", "etth9"), "Did you mean 'etth1'?"),
        (("train", "sines", "--stpes=3"), "unrecognized arguments: --stpes=3"),
        (("train", "sines", "--set=train.steps"), "write NAME=VALUE"),
        (("train", "sines", "--set=train.stesp=3"), "Did you mean 'train.steps'?"),
        (("train", "sines", "--set=train.steps=x"), "train.steps='x'; a whole number is needed"),
        (("train", "sines", "--model=pacodo"), "Did you mean 'pacodi'?"),
        (("train", "sines", "-n", "0"), "--samples=0; accepted: 1, 2, 3"),
        (("train", str(BROKEN)), "ZeroDivisionError: division by zero"),
        (("sample", "nowhere"), "nowhere is not there"),
        (("export", "nowhere"), "nowhere is not there"),
        (("flops",), "the following arguments are required: --lengths"),
        (("flops", "--lenghts=8"), "--lengths"),
        (("judge", "real.npy"), "the following arguments are required: synthetic"),
        (("judge", "a.npy", "b.npy", "--seed=3"), "Did you mean '--seeds'?"),
        (("describe", "nowhere.csv"), "no file 'nowhere.csv'"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    arguments, message, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert pacodi.main(arguments) == 2
    said = capsys.readouterr()
    assert message in said.err + said.out
    assert said.err.count("\n") <= 1
    assert not list(tmp_path.iterdir())


def test_settings_of_a_trained_model_cannot_change(run, capsys):
    assert pacodi.main(["sample", str(run), "--set=model.width=3"]) == 2
    assert "only sample.* can change" in capsys.readouterr().err


def test_how_many_windows_an_export_draws_is_no_setting(run, tmp_path, capsys):
    given = ["export", str(run), f"--out={tmp_path / 'a'}", "--set=sample.count=5"]
    assert pacodi.main(given) == 2
    assert "this command has another flag for it" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_reader_that_has_seen_enough_is_no_error():
    program = "from pacodi_jax.cli.pacodi import script; script()"
    command = f'{sys.executable} -c "{program}" --help | head -n 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "usage: pacodi COMMAND …\n"
    assert done.stderr == ""


INTERRUPTED = """
import importlib, os, signal, time
from pacodi_jax.cli import start

def slow(name):
    os.kill(os.getpid(), signal.SIGINT)
    try:
        time.sleep(60)
    except BaseException:  # as some modules do while they are imported
        time.sleep(60)

importlib.import_module = slow
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have it ignored
start.run("any")
"""


def test_ctrl_c_while_importing_is_one_line():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 130
    assert done.stderr == "error: interrupted\n"


def test_it_says_its_version(capsys):
    import pacodi_jax

    assert pacodi.main(["--version"]) == 0
    assert capsys.readouterr().out == f"pacodi {pacodi_jax.__version__}\n"
