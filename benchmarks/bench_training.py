"""Measures training: compiling cold and cached, windows per second, idle devices, peak memory.

    python benchmarks/bench_training.py [--configs sines,etth1] [--chunks 1,10] [--steps N]

One row per run. "Idle" is the share of time in which no device had work because the host was busy
between two dispatches. Every run is the command itself, in a process of its own.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = "| config | steps per dispatch | compile | windows/s | idle | peak memory |"


def train(config: str, chunk: int, steps: int, cache: Path, workdir: Path) -> tuple[str, float]:
    """Runs the command; returns what it said and its peak memory in MB."""
    name, _, arguments = config.partition(":")
    environ = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    settings = {
        "steps": steps,
        "chunk": chunk,
        "warmup": 1,
        "log_every": max(chunk, 50),
        "checkpoint_every": steps,
        "validate_every": steps,
    }
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pacodi_jax.main",
            f"--config=configs/{name}.py:{arguments}",
            f"--workdir={workdir}",
            "--mode=train",
            *(f"--config.train.{key}={value}" for key, value in settings.items()),
        ],
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the run ended with status {status}: {said}")
    return said, usage.ru_maxrss / 1e3


def row(config: str, chunk: int, steps: int, cache: Path, label: str) -> str:
    """Trains once and returns a line of the table; the first line of metrics is warm-up."""
    with tempfile.TemporaryDirectory() as folder:
        workdir = Path(folder) / "run"
        said, memory = train(config, chunk, steps, cache, workdir)
        lines = [json.loads(x) for x in (workdir / "metrics.jsonl").read_text().splitlines()]
    told = [line for line in lines if "windows_per_second" in line][1:]
    speed = len(told) / sum(1 / line["windows_per_second"] for line in told)
    idle = sum(line["idle"] for line in told) / len(told)
    compiled = re.search(r"compiled in (.*)", said)
    seconds = compiled.group(1) if compiled else "?"
    cells = (config, str(chunk), f"{seconds} ({label})", f"{speed:,.0f}", f"{idle:.2%}")
    return f"| {' | '.join(cells)} | {memory:,.0f} MB |"


def main() -> None:
    """Prints the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configs", default="sines:size=tiny,etth1")
    parser.add_argument("--chunks", default="1,10,50,200")
    parser.add_argument("--steps", type=int, default=400)
    arguments = parser.parse_args()
    chunks = [int(chunk) for chunk in arguments.chunks.split(",")]
    print(f"{HEAD}\n|---|---|---|---|---|---|", flush=True)
    for config in arguments.configs.split(","):
        with tempfile.TemporaryDirectory() as cache:
            for number, chunk in enumerate([chunks[-1], *chunks]):
                label = "cached" if number else "cold"
                print(row(config, chunk, arguments.steps, Path(cache), label), flush=True)


if __name__ == "__main__":
    main()
