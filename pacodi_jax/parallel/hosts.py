"""One job of several processes: how they find each other and agree on values."""

import os
import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import jax
import numpy as np
from jax._src import distributed
from jax.experimental import multihost_utils

from pacodi_jax.errors import PacodiError, nearest

#: The variables in which a launcher gives a process its rank and the number of processes.
_RANKS = {
    "slurm": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    "ompi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
}
#: The variables in which a TPU pod lists its workers.
_TPU_WORKERS = ("TPU_PROCESS_ADDRESSES", "TPU_WORKER_HOSTNAMES")
_CLUSTERS = ("slurm", "ompi", "gcetpu", "gketpu", "none")


class Job(NamedTuple):
    """A job of several processes, and the place of this process in it.

    Attributes:
      coordinator: ``host:port`` of process 0, or None where ``cluster`` knows it.
      processes: their number, or None where ``cluster`` knows it.
      process: the index of this process, or None where ``cluster`` knows it.
      cluster: the launcher that knows the rest: ``slurm``, ``ompi``, ``gcetpu`` or ``gketpu``.
    """

    coordinator: str | None
    processes: int | None
    process: int | None
    cluster: str | None


def _rank(environ: Mapping[str, str]) -> tuple[str | None, int | None, int | None]:
    """Returns (launcher, process, processes) if a launcher started more than one process."""
    for launcher, (rank, size) in _RANKS.items():
        if rank in environ and int(environ.get(size, "1")) > 1:
            return launcher, int(environ[rank]), int(environ[size])
    return None, None, None


def detect(
    environ: Mapping[str, str],
    coordinator: str | None = None,
    processes: int | None = None,
    process: int | None = None,
) -> Job | None:
    """Returns the job this process belongs to, or None if it runs alone.

    Arguments come first, then ``PACODI_COORDINATOR``, ``PACODI_PROCESSES`` and ``PACODI_PROCESS``,
    then SLURM (``srun``), Open MPI (``mpirun``) or a TPU pod.
    ``PACODI_CLUSTER`` names the launcher explicitly (``gcetpu`` on a Cloud TPU VM); ``none`` means
    that the process runs alone.

    Raises:
      PacodiError: for an incomplete description of the job.
    """
    cluster = environ.get("PACODI_CLUSTER")
    if cluster is not None and cluster not in _CLUSTERS:
        raise PacodiError(
            f"PACODI_CLUSTER={cluster!r} is unknown; accepted: {', '.join(_CLUSTERS)}."
            + nearest(cluster, _CLUSTERS)
        )
    if cluster == "none":
        return None
    launcher, rank, size = _rank(environ)
    coordinator = coordinator or environ.get("PACODI_COORDINATOR")
    processes = _first(processes, environ.get("PACODI_PROCESSES"), size if coordinator else None)
    process = _first(process, environ.get("PACODI_PROCESS"), rank if coordinator else None)
    explicit = (coordinator, processes, process)
    if any(part is not None for part in explicit):
        return _explicit(coordinator, processes, process)
    if cluster or launcher:
        return Job(None, None, None, cluster or launcher)
    if any("," in environ.get(name, "") for name in _TPU_WORKERS):
        return Job(None, None, None, "gketpu")
    return None


def _first(*candidates: int | str | None) -> int | None:
    given = [candidate for candidate in candidates if candidate is not None]
    try:
        return int(given[0]) if given else None
    except ValueError as error:
        raise PacodiError(
            f"PACODI_PROCESSES and PACODI_PROCESS must be whole numbers, got {given[0]!r}."
        ) from error


def _explicit(coordinator: str | None, processes: int | None, process: int | None) -> Job:
    """Checks an explicit description of the job."""
    if coordinator is None or processes is None or process is None:
        raise PacodiError(
            "a job of several processes needs its coordinator (host:port), the number of processes "
            f"and the index of this one; given: coordinator={coordinator}, processes={processes}, "
            f"process={process}."
        )
    if ":" not in coordinator:
        raise PacodiError(f"the coordinator {coordinator!r} has no port; write host:port.")
    if not 0 <= process < processes:
        raise PacodiError(f"process {process} does not exist in a job of {processes}.")
    return Job(coordinator, processes, process, None)


def own_devices(environ: Mapping[str, str]) -> list[int] | None:
    """Returns ``[]`` (every device of the host) if a launcher started one process per host.

    Under SLURM and Open MPI, JAX gives each process only the GPU of its local rank. With one
    process per host all other GPUs would be idle. None leaves the choice to JAX.
    """
    spread = environ.get("SLURM_STEP_NUM_TASKS"), environ.get("SLURM_STEP_NUM_NODES")
    alone = spread[0] is not None and spread[0] == spread[1]
    return [] if alone or environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == "1" else None


def _bind_address(bind: str | None, coordinator: str | None) -> str | None:
    """Returns the address on which process 0 listens, by default with the coordinator's port."""
    if not bind or re.fullmatch(r"(\[.*\]|[^:]+):\d+", bind):
        return bind or None
    if coordinator is None:
        raise PacodiError(f"--bind={bind} has no port; write address:port.")
    return f"{bind}:{coordinator.rsplit(':', 1)[1]}"


def initialise(
    job: Job | None,
    *,
    bind: str | None = None,
    join_seconds: int = 300,
    heartbeat_seconds: int = 60,
    leave_seconds: int = 30,
) -> None:
    """Joins the processes of ``job``; call it before anything touches a device.

    Args:
      job: from :func:`detect`; None does nothing.
      bind: the address on which process 0 listens, with the coordinator's port unless it has its
        own; by default every interface of its host.
      join_seconds: how long to wait for all processes to appear.
      heartbeat_seconds: a process silent for so long is taken for dead, and the others end.
      leave_seconds: how long a process waits at its end for the others to finish.

    Raises:
      PacodiError: if the processes do not find each other in time.
    """
    if job is None:
        return
    try:
        jax.distributed.initialize(
            coordinator_address=job.coordinator,
            num_processes=job.processes,
            process_id=job.process,
            local_device_ids=own_devices(os.environ),
            cluster_detection_method=job.cluster,
            initialization_timeout=join_seconds,
            heartbeat_timeout_seconds=heartbeat_seconds,
            shutdown_timeout_seconds=leave_seconds,
            coordinator_bind_address=_bind_address(bind, job.coordinator),
        )
    except RuntimeError as error:
        raise PacodiError(f"the processes of this job did not find each other: {error}") from error


def is_primary() -> bool:
    """Returns whether this process writes the files of the run; process 0 does."""
    return jax.process_index() == 0


def leave(code: int) -> NoReturn:
    """Ends this process with ``code``.

    One of several processes ends at once: an orderly exit would wait for the others, and they for
    it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    if jax.distributed.is_initialized():
        os._exit(code)
    sys.exit(code)


def meet(name: str, seconds: float = 1800.0) -> None:
    """Waits until every process has reached the point ``name``; each may pass it once.

    Processes load data and compile at different speeds, and on CPUs their first collective times
    out after 30 seconds: call this before it.
    """
    if jax.process_count() > 1:
        client: Any = distributed.global_state.client  # there is no public barrier without devices
        client.wait_at_barrier(f"pacodi_jax: {name}", round(seconds * 1000))


def agree(value: float) -> float:
    """Returns the largest ``value`` any process holds; all of them must call it together."""
    if jax.process_count() == 1:
        return value
    return float(np.max(multihost_utils.process_allgather(np.float32(value))))


def broadcast(tree: Any) -> Any:
    """Returns process 0's ``tree`` of numpy arrays on every process, bit for bit.

    Every process passes a tree of the same structure, shapes and dtypes. The arrays are sent as
    bytes: the sum by which JAX broadcasts would turn −0.0 into 0.0.
    """
    if jax.process_count() == 1:
        return tree
    leaves, structure = jax.tree.flatten(tree)
    arrays = [np.asarray(leaf) for leaf in leaves]
    joined = np.concatenate([np.frombuffer(a.tobytes(), np.uint8) for a in arrays])
    received = np.asarray(multihost_utils.broadcast_one_to_all(joined)).tobytes()
    offsets = np.cumsum([0] + [a.nbytes for a in arrays])
    restored = [
        np.frombuffer(received, a.dtype, a.size, int(start)).reshape(a.shape).copy()
        for a, start in zip(arrays, offsets[:-1], strict=True)
    ]
    return jax.tree.unflatten(structure, restored)
