"""Trains, kills and resumes runs at random for so many minutes: each must end with the same bits.

    python benchmarks/soak.py --out DIR [--minutes 10] [--seed 0]

Every command gets one blow at a random moment: SIGKILL, SIGTERM, SIGINT, a limit on the size of
files, a full disk (if that of DIR has less than 1 GB, such as a tmpfs), a clock that jumps by days,
or a second command in the same folder. DIR/soak.json counts them, with the hours that the jumping
clocks showed.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from absl import logging

from pacodi_jax import checkpoint
from pacodi_jax.cli import start, train

FORK = multiprocessing.get_context("fork")
ENDS = {
    "kill": {-signal.SIGKILL},
    "SIGTERM": {0, -signal.SIGTERM},  # saved; or while it draws
    "SIGINT": {0, 130},
    "file size": {0, 2},
    "full disk": {0, 2},
    "clock": {0},
    "second": {0},
    "none": {0},
}
SETTINGS = {"train.steps": 400, "train.batch": 8, "train.warmup": 10, "train.checkpoint_every": 20}
SETTINGS |= {"train.log_every": 20, "train.chunk": 5, "train.validate_every": 100, "data.length": 8}
SETTINGS |= {"model.width": 16, "model.depth": 1, "sample.steps": 4}


def command(out: Path, run: Path, jump: float = 0.0) -> None:
    """``pacodi train`` in a child; its clock jumps back and forth by ``jump`` seconds."""
    log = os.open(out / "last.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 1), os.dup2(log, 2)
    logging.set_verbosity(logging.ERROR)
    if jump:
        clock, chance = time.time, random.Random(jump)
        time.time = lambda: clock() + chance.uniform(-jump, jump)
    words = [str(out / "walk.npy"), f"--out={run}", "-n3"]
    words += [word for n, v in SETTINGS.items() for word in ("--set", f"{n}={v}")]
    module = type(sys)("soaked")
    module.command = lambda: train.main(words)
    sys.modules["soaked"] = module
    start.run("soaked")


def bits(run: Path) -> tuple[dict, bytes]:
    """What a run ended with: its arrays and its samples."""
    stored = checkpoint.load(run / "model.pacodi")
    arrays = {name: a.tobytes() for name, a in checkpoint.flatten(stored.arrays).items()}
    return arrays, np.load(run / "samples/samples.npy").tobytes()


@contextlib.contextmanager
def ballast(out: Path, left: int):
    """Fills the disk of ``out`` up to ``left`` bytes."""
    place = out / "ballast"
    try:
        with place.open("wb") as file, contextlib.suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, max(shutil.disk_usage(out).free - left, 1))
        yield
    finally:
        place.unlink()


def round_(out: Path, run: Path, blow: str, chance: random.Random, longest: float) -> float:
    """One command and its blow; returns the hours that its clock jumped. Raises for a bad end."""
    (out / "last.log").write_text("")
    jump = chance.uniform(3600, 10 * 86400) if blow == "clock" else 0.0
    child = FORK.Process(target=command, args=(out, run, jump))
    child.start()
    child.join(chance.uniform(0, longest))
    codes = []
    if child.is_alive() and blow in ("kill", "SIGTERM", "SIGINT"):
        number = signal.SIGKILL if blow == "kill" else signal.Signals[blow]
        # A command that has not begun ends by the signal itself.
        if not (run / "checkpoints").exists() and blow == "SIGTERM":
            number, blow = signal.SIGKILL, "kill"
        os.kill(child.pid, number)
    elif blow == "file size" and child.is_alive():
        size = chance.choice((0, 1000, 10_000, 30_000))
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    elif blow == "second":
        other = FORK.Process(target=command, args=(out, run))
        other.start()
        other.join()
        codes = [other.exitcode]
    full = ballast(out, chance.choice((0, 20_000, 200_000))) if blow == "full disk" else None
    with full or contextlib.nullcontext():
        child.join(3000)
    codes.append(child.exitcode)
    said = (out / "last.log").read_text(errors="replace")
    good = (
        child.exitcode in ENDS[blow] | {0}
        if blow != "second"
        else {*codes} <= {0, 2} and 0 in codes
    )
    if not good or "Traceback" in said or (2 in codes and said.count("error: ") != 1):
        raise SystemExit(f"{blow} in {run} ended with {codes}:\n{said}")
    return jump / 3600


def soak(out: Path, minutes: float, seed: int) -> dict:
    """Runs after runs, each disturbed until it is done; returns the counts."""
    chance, counts, hours, runs = random.Random(seed), Counter(), 0.0, 0
    begun = time.monotonic()
    round_(out, out / f"reference{seed}", "none", chance, 0.0)
    longest, wanted = time.monotonic() - begun, bits(out / f"reference{seed}")
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        run, left = out / f"run{runs}", 0
        while not (run / "samples/samples.png").exists() or left < 3:
            blow = chance.choice([blow for blow in ENDS if blow != "full disk" or is_small(out)])
            hours += round_(out, run, blow, chance, longest)
            counts[blow] += 1
            left += 1
        if bits(run) != wanted:
            raise SystemExit(f"{run} ended with other bits than an undisturbed run")
        shutil.rmtree(run)
        runs += 1
        told = {"runs": runs, "commands": counts.total(), "blows": counts, "hours": round(hours)}
        (out / "soak.json").write_text(json.dumps(told, indent=1) + "\n")
        print(json.dumps(told), flush=True)
    return told


def is_small(out: Path) -> bool:
    """Whether the disk of ``out`` is one to be filled."""
    return shutil.disk_usage(out).total < 10**9


def main() -> None:
    """Reads the flags, makes the table and soaks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "walk.npy", np.random.default_rng(0).normal(size=(400, 2)).cumsum(0))
    soak(out, options.minutes, options.seed)


if __name__ == "__main__":
    main()
