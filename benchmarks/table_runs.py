"""One run of the grid of ``tables.py``: its steps, its training, and what is kept of it."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.data import batches
from pacodi_jax.data.batches import Order
from pacodi_jax.metrics import Score
from pacodi_jax.models import Batch, Shape
from pacodi_jax.run import folder, parts
from pacodi_jax.settings import Config
from pacodi_jax.train import device_loop, optimiser
from pacodi_jax.train.sources import OnDevices

ROOT = Path(__file__).resolve().parent.parent

#: Settings that a result records by value, whether its command names them or its config has them.
RECORDED = {
    "learning_rate": "train.learning_rate",
    "calibration": "train.calibration",
    "weighting": "diffusion.weighting",
    "statistics": "diffusion.statistics",
    "scaling": "data.scaling",
}
_TIMED_SECONDS = 10.0
_DRAWN_AT_ONCE = 64


def recorded(config: dict[str, Any]) -> dict[str, Any]:
    """The settings that a result records; None where a family has no such setting."""
    parts_ = {name: key.split(".") for name, key in RECORDED.items()}
    return {name: config.get(part, {}).get(setting) for name, (part, setting) in parts_.items()}


def unrecorded(command: str) -> list[str]:
    """A command without the settings that are compared by their values."""
    named = tuple(f"--config.{key}=" for key in RECORDED.values())
    return sorted(part for part in command.split() if not part.startswith(named))


def shortened(score: Score) -> Score:
    """The part of a score that the repository keeps."""
    return Score(
        score.name,
        score.split,
        score.better,
        score.measured,
        replace(score.floor, values=None),
        replace(score.ceiling, values=None),
        score.word,
    )


def training_minutes(lines: list[dict[str, Any]], batch: int) -> float:
    """How long a run trained, over all its parts, from its logged speeds."""
    speeds = {line["step"]: line["windows_per_second"] for line in lines if "loss" in line}
    steps = sorted(speeds)
    spans = zip(steps, [0, *steps], strict=False)
    return sum((step - last) * batch / speeds[step] for step, last in spans) / 60


def processor_minutes(lines: list[dict[str, Any]]) -> float | None:
    """Processor time of training, over all parts of a run; None for runs that did not log it."""
    spent = {line["step"]: line.get("processor_seconds") for line in lines if "loss" in line}
    return None if None in spent.values() else sum(spent.values()) / 60


def train(command: list[str], workdir: Path) -> tuple[int, int]:
    """Runs a command of the main door; returns its exit status and peak of memory in megabytes."""
    whole = [sys.executable, *command, f"--workdir={workdir}", "--exit_on_signal=75"]
    process = subprocess.Popen(whole, cwd=ROOT)
    _, ended, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(ended)
    return process.returncode, round(usage.ru_maxrss / 1e3)


def facts(workdir: Path) -> dict[str, Any]:
    """What the repository keeps of a run beside its scores and its command."""
    lines = [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]
    speeds = [line["windows_per_second"] for line in lines if "windows_per_second" in line]
    validation = [line["validation"] for line in lines if "validation" in line]
    config = json.loads((workdir / "config.json").read_text())
    environment = json.loads((workdir / "environment.json").read_text())
    spent = processor_minutes(lines)
    return {
        "machine": {
            "cores": len(os.sched_getaffinity(0)),
            "device": environment["device_kind"],
            "packages": environment["packages"],
        },
        "windows_per_second": sorted(speeds)[len(speeds) // 2],
        **recorded(config),
        "training_minutes": round(training_minutes(lines, config["train"]["batch"]), 1),
        **({} if spent is None else {"processor_minutes": round(spent, 2)}),
        "validation": validation[-1],
    }


def sampling(workdir: Path) -> dict[str, float]:
    """Evaluations per sample, and windows per second of processor time, drawn 64 at once."""
    model = folder.load(workdir)
    _drawn(model, _DRAWN_AT_ONCE)  # compiles
    seconds = _drawn(model, _DRAWN_AT_ONCE)
    count = _DRAWN_AT_ONCE * int(np.clip(_TIMED_SECONDS / max(seconds, 1e-3), 1, 500))
    return {
        "evaluations": model.generator.facts().evaluations,
        "drawn_per_second": count / max(_drawn(model, count), 1e-3),
    }


def _drawn(model: Any, count: int) -> float:
    begun = time.process_time()
    model.draw(count, batch=_DRAWN_AT_ONCE)
    return time.process_time() - begun


def pace(config: Config, share: float = 30.0) -> float:
    """Milliseconds of processor time per training step, all phases of a model alike.

    Args:
      config: of the run; its number of steps does not matter.
      share: seconds that the measurement should take, compiling aside.
    """
    pilot = _seconds_per_step(config, 30)
    steps = int(np.clip(share / pilot, 30, 3000))
    return 1e3 * (pilot if steps == 30 else _seconds_per_step(config, steps))


def _seconds_per_step(config: Config, steps: int) -> float:
    config = config.changed({"train.steps": steps, "train.warmup": 0.0})
    dataset, batch = parts.load_data(config), config.train.batch
    windows, size = dataset.train.once().values(), len(dataset.train)
    arrays = config.model.prepare(config.family, windows, None)
    shape = Shape(*windows.shape[1:])
    generator = parts.build_generator(config, shape, arrays, optimiser.build)
    example = Batch(windows[:batch], np.arange(batch, dtype=np.int32))
    state = jax.jit(generator.init)(jax.random.key(0), example)
    live = parallel.replicate(state, "pmap")
    source = OnDevices(batches.resident(dataset.train), Order(config.seed, batch, size))
    resident = source.data(0, "pmap")
    program = parallel.map_step(device_loop.chunk(generator, source.batch, 20), "pmap")
    live, _ = jax.block_until_ready(program(live, resident, np.int32(0)))
    begun = time.process_time()
    jax.block_until_ready(program(live, resident, np.int32(steps)))
    return (time.process_time() - begun) / steps
