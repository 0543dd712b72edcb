"""Pieces as tasks of a Ray cluster on this machine: every one is run, a lost worker's again."""

import importlib.util
import sys
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'pacodi-jax[ray]'")
SCRIPT = Path(__file__).parents[2] / "launch" / "ray_pieces.py"
#: Marks its start; piece 0 kills the worker that started it, piece 1 fails, once each.
PIECE = """
import os, pathlib, signal, sys
piece, pieces, folder = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
first = not (folder / f"begun-{piece}").exists()
(folder / f"begun-{piece}").touch()
if first and piece == 0:
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()
if first and piece == 1:
    sys.exit(75)
(folder / f"done-{piece}-{os.getppid()}").write_text(f"{piece} of {pieces}")
sys.exit(2 if piece == pieces else 0)
"""


@pytest.fixture(scope="module")
def pieces():
    """The script, and a cluster of two workers."""
    spec = importlib.util.spec_from_file_location("ray_pieces", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield module
    ray.shutdown()


def command(folder, pieces="{pieces}"):
    return [sys.executable, "-c", PIECE, "{piece}", pieces, str(folder)]


def test_every_piece_is_run_and_that_of_a_killed_worker_again(pieces, tmp_path):
    assert pieces.run(command(tmp_path), 4) == 0
    done = [path.read_text() for path in sorted(tmp_path.glob("done-*"))]
    assert done == [f"{piece} of 4" for piece in range(4)]


def test_a_user_error_is_told_and_not_repeated(pieces, tmp_path):
    for piece in range(3):
        (tmp_path / f"begun-{piece}").touch()
    assert pieces.run(command(tmp_path, "2"), 3) == 2
    assert len(list(tmp_path.glob("done-2-*"))) == 1


def test_a_piece_that_never_ends_well_is_given_up(pieces, tmp_path, capsys):
    failing = [sys.executable, "-c", "raise SystemExit(75)"]
    assert pieces.run(failing, 1, retries=1) == 1
    assert "ended with 75" in capsys.readouterr().err
