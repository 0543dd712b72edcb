"""One command at a time writes into a folder, and never through a link to somewhere else."""

import os
import subprocess
import sys

import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.run import ownership
from pacodi_jax.run.ownership import owned

HOLD = """
import sys, time
from pathlib import Path
from pacodi_jax.run.ownership import owned
with owned(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_command_is_refused_until_the_first_is_gone_however_it_ends(tmp_path):
    place = tmp_path / "run"
    command = [sys.executable, "-c", HOLD, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(PacodiError, match=rf"in use by another command \(process {holder.pid} "),
            owned(place),
        ):
            pass
        holder.kill()
    with owned(place):
        assert (place / ownership.LOCK).read_text().startswith(f"{os.getpid()} on ")


def test_one_process_holds_a_folder_once(tmp_path):
    with owned(tmp_path), pytest.raises(PacodiError, match="in use"), owned(tmp_path):
        pass
    with owned(tmp_path):
        pass


def test_a_file_system_without_locks_is_written_to_all_the_same(tmp_path, monkeypatch):
    def no_locks(handle, how):
        raise OSError(ownership.errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(ownership.fcntl, "flock", no_locks)
    with owned(tmp_path / "run"):
        (tmp_path / "run/file").touch()


def test_a_refused_command_leaves_no_folder_behind(tmp_path):
    with pytest.raises(RuntimeError), owned(tmp_path / "new"):
        raise RuntimeError
    assert not (tmp_path / "new").exists()
    with owned(tmp_path / "new"):
        (tmp_path / "new/kept").touch()
    assert (tmp_path / "new/kept").exists()


@pytest.mark.parametrize("name", [*ownership.INSIDE, "metrics.jsonl", "checkpoints/7"])
def test_a_planted_link_is_refused_by_name(tmp_path, name):
    run, outside = tmp_path / "run", tmp_path / "outside"
    (run / name).parent.mkdir(parents=True)
    outside.mkdir()
    (run / name).symlink_to(outside)
    with pytest.raises(PacodiError, match=rf"run/{name} is a symbolic link to"), owned(run):
        pass
    assert not list(outside.iterdir())


def test_a_planted_lock_is_not_followed(tmp_path):
    (tmp_path / ownership.LOCK).symlink_to(tmp_path / "victim")
    with pytest.raises(PacodiError, match="cannot be written into"), owned(tmp_path):
        pass
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("name", ownership.INSIDE)
def test_a_file_where_a_folder_belongs_is_refused_by_name(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(PacodiError, match=f"{name} is a file where a folder belongs"):
        owned(tmp_path).__enter__()


def test_what_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for place in (tmp_path / "file", tmp_path / "file/run", tmp_path / "loop", "/proc/run"):
        with pytest.raises(PacodiError, match="is no folder to write into"):
            owned(tmp_path / place).__enter__()
    with pytest.raises(PacodiError, match=r"it is a symbolic link to .*loop, which is no folder"):
        owned(tmp_path / "loop").__enter__()
