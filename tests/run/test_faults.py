"""The disk fails at every write of a run in turn: always one line, and the folder serves again."""

import gc
import re
import shutil

import matplotlib.figure
import numpy as np
import pytest
from orbax.checkpoint._src.multihost import multihost

from pacodi_jax.cli import train, work
from pacodi_jax.models import registry
from pacodi_jax.run import folder
from pacodi_jax.train import log
from tests.run import still


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """``run(disk) -> (exit code, error lines)`` of ``pacodi train`` in one folder."""
    monkeypatch.setitem(registry.FAMILIES, "still", still.FAMILY)
    monkeypatch.setattr(work, "cache_programs", lambda: None)
    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", _save)
    # Its thread would meet the full disk in the middle of a later test.
    monkeypatch.setattr(log, "_tensorboard", lambda *_: None)
    monkeypatch.setattr(multihost, "_DEFAULT_BARRIER_TIMEOUT", 1)  # of orbax's thread that waits
    np.save(tmp_path / "walk.npy", np.random.default_rng(0).normal(size=(300, 1)).cumsum(0))
    settings = {"train.steps": 2, "train.batch": 4, "train.warmup": 0, "train.checkpoint_every": 2}
    settings |= {"data.length": 8, "train.log_every": 1}
    arguments = [str(tmp_path / "walk.npy"), "--model=still", f"--out={tmp_path / 'run'}", "-n2"]
    arguments += [word for n, v in settings.items() for word in ("--set", f"{n}={v}")]

    def command(disk):
        capfd.readouterr()
        with disk.watched():
            code = train.main(arguments)
        return code, capfd.readouterr().err

    return command


def _save(figure, path, **how):
    """Half the time of a run is drawing; the file is written all the same."""
    with open(path, "wb") as file:
        file.write(b"png")


@pytest.mark.filterwarnings("ignore:.*was never awaited")  # orbax drops what it had begun
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("full", [False, True])
def test_a_disk_that_fails_at_any_write_ends_in_one_line_and_costs_nothing(tmp_path, run, full):
    place, disk = tmp_path / "run", still.Disk(tmp_path / "run", full=full)
    code, complaint = run(disk)  # how many writes there are, on a disk that fails at none
    assert code == 0, complaint
    assert disk.count > 20
    for bad in range(1, disk.count + 1):
        shutil.rmtree(place)
        code, complaint = run(still.Disk(place, bad, full=full))
        told = f"write {bad} of {disk.count}: {complaint}"
        errors = re.findall("^error: .*", complaint, re.MULTILINE)
        assert (code, len(errors)) in ((2, 1), (0, 0)), told
        assert "Traceback" not in complaint, told
        hidden = (path for inside in (place, place / "samples") for path in inside.glob(".*"))
        left = [path.name for path in hidden if path.name != ".lock"]
        assert not left, f"write {bad} left {left}"
        code, complaint = run(still.Disk(place))
        assert code == 0, f"after write {bad}: {complaint}"
        assert folder.load(place).facts["steps"] == 2
        assert np.load(place / "samples/samples.npy").shape == (2, 8, 1)
    gc.collect()  # what orbax dropped is complained of here, where it is expected
