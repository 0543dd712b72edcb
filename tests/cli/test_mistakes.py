"""Mistakes, a failing disk and exhausted memory end a command in one line."""

import errno
import os
import re
import signal
import subprocess
import sys

import jax
import pytest

from pacodi_jax.cli import mistakes, options, sample, train
from pacodi_jax.errors import PacodiError
from pacodi_jax.report import pictures
from tests.text.runs import command

FULL = OSError(errno.ENOSPC, "No space left on device", "/runs/x")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PacodiError("no"), "no"),
        (FULL, r"/runs/x: No space left on device\.$"),
        (OSError(errno.EXDEV, "Invalid link", "a", None, "b"), r"a to b: Invalid link\.$"),
        (OSError("odd"), "odd."),
        (OSError(errno.ENOENT, "Not\nthere", "\x1b[2J"), r"\\x1b\[2J: Not\\nthere\.$"),
        (MemoryError(), r"out of memory\. Lower train\.batch"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), r"out of memory \(.*\)\. Lower train"),
        (
            jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: 9GB\nmore"),
            r"out of memory \(RESOURCE_EXHAUSTED: 9GB\). Lower train.batch",
        ),
        (jax.errors.JaxRuntimeError("INTERNAL: a bug"), None),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), None),
    ],
)
def test_what_is_told_in_one_line_and_what_keeps_its_traceback(error, line, capsys):
    def fail():
        raise error

    if line is None:
        with pytest.raises(type(error)):
            options.guarded(fail)
        return
    assert options.guarded(fail) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert mistakes.told(error) == said[len("error: ") : -1]
    assert re.match(f"error: {line}", said)


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_folder_is_not_the_current_one(empty, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command("--config=configs/sines.py", f"--workdir={empty}") == 2
    assert "--workdir is empty; name a folder" in capsys.readouterr().err
    assert train.main(["sines", f"--out={empty}"]) == 2
    assert "--out is empty; name a folder" in capsys.readouterr().err
    assert sample.main(["run", f"--out={empty}"]) == 2
    assert "--out is empty; name a folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_tilde_is_the_home_folder(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "file").touch()
    assert command("--config=configs/sines.py", "--workdir=~/file/run") == 2
    assert train.main(["sines", "--out=~/file/run"]) == 2
    assert capsys.readouterr().err.count(f"{tmp_path}/file/run is no folder") == 2


@pytest.mark.parametrize(
    "text",
    ["", "\xff\xfe garbage\n[1]\n3\n", '{"step": "a", "loss": 1}\n', '{"step": 1, "loss": [1]}\n'],
)
def test_garbage_in_the_metrics_does_not_stop_the_curve(text, tmp_path):
    (tmp_path / "metrics.jsonl").write_text(text + '{"step": 2, "loss": null}\n', "latin-1")
    assert pictures.loss_curve(tmp_path / "metrics.jsonl", tmp_path / "loss.png").is_file()


PROGRAM = """
import sys, threading, types
from pacodi_jax.cli import start
module = types.ModuleType("stand_in")
def command():
    threading.Thread(target=threading.Event().wait).start()
    print("caf\\u00e9 \\u2026")
    raise SystemExit(2)
module.command = command
sys.modules["stand_in"] = module
start.run("stand_in")
"""


def test_a_command_ends_at_once_and_speaks_to_any_terminal():
    environ = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == "caf\\xe9 \\u2026\n"


LIMITED = """
import os, resource, sys, time, types
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
from pacodi_jax.cli import start
module = types.ModuleType("stand_in")
def command():
    print("begun", flush=True)
    {does}
module.command = command
sys.modules["stand_in"] = module
start.run("stand_in")
"""


@pytest.mark.parametrize(
    ("does", "number", "code", "told"),
    [
        ("return 0", None, 0, ""),
        ("return 3", None, 3, ""),
        ("os.abort()", None, 2, "error: out of memory: ulimit -v leaves 4.29 GB. Allow 4 GB or"),
        ("time.sleep(60)", signal.SIGTERM, -signal.SIGTERM, ""),
        ("time.sleep(60)", signal.SIGINT, 130, "error: interrupted\n"),
    ],
)
def test_under_a_limit_on_memory_an_abort_is_one_line_and_all_else_as_ever(
    does, number, code, told
):
    program = LIMITED.format(does=does)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe) as command:
        assert command.stdout.readline() == b"begun\n"
        if number:
            command.send_signal(number)
        complaint = command.stderr.read().decode()
    assert command.returncode == code
    assert complaint.startswith(told)
    assert len(complaint.splitlines()) == bool(told)
