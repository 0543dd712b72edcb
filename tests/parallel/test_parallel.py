"""How a step is spread over devices and processes."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import optax
import pytest

from pacodi_jax import parallel
from pacodi_jax.errors import PacodiError
from pacodi_jax.parallel import Job, Watchdog, detect

SCRIPT = Path(__file__).parent / "gradients.py"


@pytest.fixture(scope="module")
def gradients(tmp_path_factory, cache):
    """The raw gradient, and draws, on 1, 2 and 4 devices."""
    folder, found = tmp_path_factory.mktemp("gradients"), {}
    for devices in (1, 2, 4):
        environ = os.environ | {
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
            "NPROC": "16",
            "JAX_PLATFORMS": "cpu",
        }
        path = folder / f"{devices}.npz"
        subprocess.run([sys.executable, SCRIPT, path], env=environ, check=True, timeout=240)
        found[devices] = dict(np.load(path))
    return found


@pytest.mark.parametrize("backend", parallel.BACKENDS)
@pytest.mark.parametrize("devices", [1, 2, 4])
def test_raw_gradient_does_not_depend_on_devices_or_backend(gradients, devices, backend):
    names = [name.removeprefix("pmap.") for name in gradients[1] if name.startswith("pmap.")]
    largest = max(np.abs(gradients[1][f"pmap.{name}"]).max() for name in names)
    assert len(names) > 20
    assert largest > 0.05  # a mean summed over devices instead would stand out
    for name in names:
        np.testing.assert_allclose(
            gradients[devices][f"{backend}.{name}"],
            gradients[1][f"pmap.{name}"],
            atol=1e-6,
            rtol=0,
            err_msg=name,
        )


@pytest.mark.parametrize("devices", [2, 4])
def test_samples_do_not_depend_on_devices(gradients, devices):
    assert gradients[1]["samples"].shape[0] == 17
    np.testing.assert_allclose(gradients[devices]["samples"], gradients[1]["samples"], atol=1e-5)


@pytest.mark.parametrize("backend", parallel.BACKENDS)
def test_replicated_values_come_back_as_private_copies(backend):
    tree = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.int32(7)}
    live = parallel.replicate(tree, backend)
    back = parallel.unreplicate(live, backend)
    assert back["a"].tobytes() == tree["a"].tobytes()
    assert back["b"].dtype == np.int32
    assert back["b"].shape == ()
    back["a"][:] = -1
    assert parallel.unreplicate(live, backend)["a"].tobytes() == tree["a"].tobytes()


@pytest.mark.parametrize("backend", parallel.BACKENDS)
def test_state_is_donated(backend):
    step = parallel.map_step(lambda state, data, count: (state + data * count, count), backend)
    state, data = parallel.replicate((np.ones(3, np.float32), np.ones(3, np.float32)), backend)
    after, _ = step(state, data, np.int32(2))
    assert state.is_deleted()
    np.testing.assert_array_equal(parallel.unreplicate(after, backend), 3.0)


def test_unknown_backend_is_refused_with_the_nearest():
    with pytest.raises(PacodiError, match=r"backend='shardmap' is unknown.*'shard_map'"):
        parallel.map_step(lambda s, d, c: (s, c), "shardmap")


def test_batch_that_does_not_divide_is_refused():
    def step(batch):
        return parallel.device_slice(batch)

    with pytest.raises(PacodiError, match="a batch of 5 does not divide among 2 devices"):
        jax.eval_shape(
            jax.vmap(step, axis_name=parallel.AXIS, in_axes=None, axis_size=2), np.ones(5)
        )


def test_loss_that_a_plateau_watches_is_averaged_too():
    optimizer = parallel.average_gradients(optax.contrib.reduce_on_plateau(patience=1))

    def step(gradient, loss):
        state = optimizer.init(gradient)
        for _ in range(2):
            _, state = optimizer.update(gradient, state, value=loss)
        return state.best_value

    losses = np.asarray([1.0, 3.0], np.float32)
    best = jax.vmap(step, axis_name=parallel.AXIS)(losses, losses)
    np.testing.assert_array_equal(best, [2.0, 2.0])


def test_alone_unless_told_otherwise():
    assert detect({}) is None
    assert detect({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}) is None
    assert detect({"TPU_WORKER_HOSTNAMES": "one"}) is None


@pytest.mark.parametrize(
    ("environ", "arguments", "job"),
    [
        ({}, ("h:1", 2, 1), Job("h:1", 2, 1, None)),
        (
            {"PACODI_COORDINATOR": "h:1", "PACODI_PROCESSES": "2", "PACODI_PROCESS": "0"},
            (None, None, None),
            Job("h:1", 2, 0, None),
        ),
        (
            {"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4"},
            (None, None, None),
            Job(None, None, None, "slurm"),
        ),
        (
            {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"},
            ("h:1", None, None),
            Job("h:1", 2, 1, None),
        ),
        ({"TPU_WORKER_HOSTNAMES": "a,b"}, (None, None, None), Job(None, None, None, "gketpu")),
        ({"PACODI_CLUSTER": "gcetpu"}, (None, None, None), Job(None, None, None, "gcetpu")),
        (
            {"PACODI_CLUSTER": "none", "SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4"},
            (None, None, None),
            None,
        ),
    ],
)
def test_job_is_found_from_flags_and_launchers(environ, arguments, job):
    assert detect(environ, *arguments) == job


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("h:1", None, 0), "processes=None"),
        (("h", 2, 0), "has no port"),
        (("h:1", 2, 2), "process 2 does not exist in a job of 2"),
    ],
)
def test_job_described_in_part_is_refused(arguments, message):
    with pytest.raises(PacodiError, match=message):
        detect({}, *arguments)


def test_number_of_processes_that_is_no_number_names_the_variables():
    with pytest.raises(PacodiError, match="PACODI_PROCESS must be whole numbers, got 'two'"):
        detect({"PACODI_PROCESSES": "two"})


def test_unknown_cluster_is_refused_with_the_nearest():
    with pytest.raises(PacodiError, match="Did you mean 'slurm'"):
        detect({"PACODI_CLUSTER": "slrum"})


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_watchdog_allows_longer_before_the_first_beat():
    clock = Clock()
    dog = Watchdog(10.0, first=100.0, clock=clock)
    clock.now = 99.0
    assert dog.silence() > 0
    dog.beat()
    clock.now = 110.0
    assert dog.silence() < 0


def test_watchdog_calls_when_nothing_is_heard():
    heard = []
    with Watchdog(1e-3, on_stuck=heard.append) as dog:
        dog._thread.join(timeout=60)
    assert "no step was finished for 0.001 seconds" in heard[0]


def test_watchdog_grows_strict_with_the_first_beat():
    heard = []
    with Watchdog(1e-3, first=3600.0, on_stuck=heard.append) as dog:
        dog.beat()
        dog._thread.join(timeout=60)
    assert heard


def test_watchdog_of_zero_seconds_never_starts():
    with Watchdog(0.0, on_stuck=lambda message: pytest.fail(message)) as dog:
        assert not dog._thread.is_alive()


@pytest.mark.parametrize(
    ("environ", "devices"),
    [
        ({}, None),
        ({"SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_NUM_NODES": "4"}, []),
        ({"SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_NUM_NODES": "4"}, None),
        ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}, []),
        ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, None),
    ],
)
def test_only_process_of_a_host_has_all_its_devices(environ, devices):
    """JAX itself would leave it the single GPU of its local rank."""
    assert parallel.hosts.own_devices(environ) == devices


@pytest.mark.parametrize(
    ("bind", "address"),
    [
        (None, None),
        ("10.0.0.1", "10.0.0.1:99"),
        ("10.0.0.1:7", "10.0.0.1:7"),
        ("[::1]", "[::1]:99"),
        ("[::1]:7", "[::1]:7"),
    ],
)
def test_processes_join_with_bounded_waits_at_the_given_address(monkeypatch, bind, address):
    given = {}
    monkeypatch.setattr(jax.distributed, "initialize", lambda **options: given.update(options))
    parallel.initialise(Job("h:99", 2, 1, None), bind=bind)
    assert given["coordinator_bind_address"] == address
    assert (given["coordinator_address"], given["num_processes"], given["process_id"]) == (
        "h:99",
        2,
        1,
    )
    for limit in ("initialization", "heartbeat", "shutdown"):
        names = [name for name in given if name.startswith(limit)]
        assert all(0 < given[name] <= 300 for name in names)
        assert names


def test_bind_address_without_any_port_is_refused():
    with pytest.raises(PacodiError, match="has no port"):
        parallel.initialise(Job(None, None, None, "slurm"), bind="10.0.0.1")
