"""The disk fails at every write of a run in turn: always one line, and the folder serves again."""

import gc
import re
import shutil

import numpy as np
import pytest

from pacodi_jax.run import folder
from tests.run import still


@pytest.fixture
def run(tmp_path, capfd):
    """``run(disk) -> (exit code, error lines)`` of ``pacodi train`` in one folder."""

    def command(disk):
        capfd.readouterr()
        with disk.watched():
            code = still.command(tmp_path / "run")
        return code, capfd.readouterr().err

    with still.family():
        yield command


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
