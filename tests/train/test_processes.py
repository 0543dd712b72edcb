"""Two processes are one job: the same numbers, and one end for both."""

from signal import SIGKILL, SIGTERM

import numpy as np
import pytest

from pacodi_jax.parallel import STUCK
from tests.train.processes import Pair, Process


@pytest.fixture(scope="module")
def reference(cache, tmp_path_factory):
    """The end of an undisturbed run of two processes with two devices each."""
    folder = tmp_path_factory.mktemp("pair")
    with Pair(cache, "--workdir", folder / "run", "--out", folder / "end.npz") as both:
        first, second = [process.report() for process in both]
    assert first == second
    return first["digest"], np.load(folder / "end.npz")


def test_two_processes_of_two_devices_equal_one_of_four(cache, tmp_path, reference):
    out = tmp_path / "end.npz"
    with Process(cache, "--workdir", tmp_path, "--out", out, devices=4) as process:
        assert process.report()["step"] == 300
    alone = np.load(out)
    for name in ("kernel", "bias"):
        np.testing.assert_allclose(reference[1][name], alone[name], atol=1e-6, rtol=0)


def test_job_outlives_every_loss_and_repeats_bitwise(cache, tmp_path, reference):
    """Kill the worker, kill the coordinator, stall, SIGTERM one: each ends both, none is felt."""
    with Pair(cache, "--workdir", tmp_path) as (coordinator, worker):
        coordinator.until("saving 50")
        worker.send(SIGKILL)
        assert coordinator.end() not in (0, None)
    with Pair(cache, "--workdir", tmp_path) as (coordinator, worker):
        coordinator.until("saving 100")
        coordinator.send(SIGKILL)
        assert worker.end() not in (0, None)
    stall = ("--stall-at", 150, "--watchdog", 10)
    with Pair(cache, "--workdir", tmp_path, *stall) as (coordinator, worker):
        assert STUCK in (coordinator.end(), worker.end())
        assert "run the same command again" in coordinator.complaint() + worker.complaint()
    with Pair(cache, "--workdir", tmp_path) as (coordinator, worker):
        coordinator.until("saving 200")
        worker.send(SIGTERM)
        stopped, told = coordinator.report(), worker.report()
    assert told["signal"] == "SIGTERM"
    assert stopped["signal"] == "a signal to another process"
    assert 200 <= stopped["step"] == told["step"] < 300
    with Pair(cache, "--workdir", tmp_path) as both:
        for report in [process.report() for process in both]:
            assert report["first"] == stopped["step"]
            assert report["digest"] == reference[0]


@pytest.mark.parametrize("backend", ["pmap", "shard_map"])
def test_each_process_may_read_its_own_part_of_every_batch(cache, tmp_path, reference, backend):
    """Streamed, killed and resumed, the job ends with the same bits as from the devices' memory."""
    wanted = ("--workdir", tmp_path, "--streamed", "--backend", backend)
    with Pair(cache, *wanted) as (coordinator, worker):
        coordinator.until("saving 50")
        worker.send(SIGKILL)
        assert coordinator.end() not in (0, None)
    with Pair(cache, *wanted) as both:
        for report in [process.report() for process in both]:
            assert report["first"] > 0
            assert report["digest"] == reference[0]
