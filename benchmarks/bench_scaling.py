"""One batch over several devices and processes of this machine: windows per processor second.

    python benchmarks/bench_scaling.py [--config etth1] [--steps 400] [--jobs 1x1,1x2,1x4,2x2]

A job PxD is P processes of D devices each, all on this machine's processors, so it shows what
sharing out costs and not what more machines bring. Processor time is that of all processes, waiting
for one another included; the first line of metrics is warm-up. One row per job and backend.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def train(job: str, backend: str, config: str, steps: int, folder: Path) -> float:
    """Trains with all processes of a job; returns windows per processor second."""
    processes, devices = map(int, job.split("x"))
    name, _, arguments = config.partition(":")
    environ = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "NPROC": "16",
    }
    if processes > 1:
        environ |= {
            "PACODI_COORDINATOR": f"127.0.0.1:{free_port()}",
            "PACODI_PROCESSES": str(processes),
        }
    settings = {"steps": steps, "log_every": steps // 4, "warmup": 1, "backend": backend}
    settings |= {"checkpoint_every": steps, "validate_every": steps}
    command = [
        *(sys.executable, "-m", "pacodi_jax.main", f"--config=configs/{name}.py:{arguments}"),
        *(f"--workdir={folder}", "--mode=train", "--config.train.calibration=0"),
        *(f"--config.train.{key}={value}" for key, value in settings.items()),
    ]
    started = [
        subprocess.Popen(
            command,
            env=environ | ({"PACODI_PROCESS": str(number)} if processes > 1 else {}),
            stdout=subprocess.DEVNULL,
        )
        for number in range(processes)
    ]
    codes = [process.wait() for process in started]
    if any(codes):
        raise SystemExit(f"{job} under {backend} failed")
    batch = json.loads((folder / "config.json").read_text())["train"]["batch"]
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    told = [line for line in lines if line.get("processor_seconds")]
    taken = told[-2]["step"] - told[0]["step"]  # the last line has the checkpoint in it
    return batch * taken / (processes * sum(line["processor_seconds"] for line in told[1:-1]))


def main() -> None:
    """Parses the command line and prints the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="etth1")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--jobs", default="1x1,1x2,1x4,2x2")
    parser.add_argument("--backends", default="pmap,shard_map")
    given = parser.parse_args()
    print("| processes x devices | backend | windows per processor second |\n|---|---|---|")
    for job in given.jobs.split(","):
        for backend in given.backends.split(","):
            with tempfile.TemporaryDirectory() as folder:
                speed = train(job, backend, given.config, given.steps, Path(folder) / "run")
            print(f"| {job} | {backend} | {speed:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
