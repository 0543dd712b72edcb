"""Breaks the training program in every way we know and says what came of it, as a table.

    python benchmarks/fault_matrix.py [--out DIR] [--only kill,save,files,signal,pair,disk,devices]

It trains a tiny PaCoDi on sines for 300 steps again and again: about 15 minutes on two idle cores.
"Same" means that the final training state, optimiser and averages included, is bit for bit that of
a run that nothing disturbed.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from absl import logging

from pacodi_jax import checkpoint
from pacodi_jax.checkpoint import Checkpoints

STEPS, EVERY, LIMIT = 300, 20, 600.0
COMMAND = [sys.executable, "-m", "pacodi_jax.main", "--config=configs/sines.py:size=tiny"]
SETTINGS = {
    "batch": 16,
    "steps": STEPS,
    "warmup": 20,
    "checkpoint_every": EVERY,
    "log_every": EVERY,
    "validate_every": STEPS,
    "chunk": 5,
    "max_skips": 5,
}
WAYS = ("truncate", "empty", "delete", "append", "zero", "first bit", "middle bit", "last bit")


class Training:
    """The command, once for each process of the job."""

    def __init__(self, workdir: Path, *, processes: int = 1, devices: int = 1, **settings: object):
        self.workdir, self.started = workdir, time.monotonic()
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        options = [f"--config.train.{n}={v}" for n, v in (SETTINGS | settings).items()]
        self.log = workdir.with_suffix(".log")
        self.members = []
        for process in range(processes):
            environ = os.environ | {
                "JAX_PLATFORMS": "cpu",
                "NPROC": "16",
                "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
            }
            if processes > 1:
                environ |= {
                    "PACODI_COORDINATOR": f"127.0.0.1:{port}",
                    "PACODI_PROCESSES": str(processes),
                    "PACODI_PROCESS": str(process),
                }
            with self.log.open("a") as log:
                command = [*COMMAND, f"--workdir={workdir}", "--mode=train", "--watchdog=30"]
                self.members.append(
                    subprocess.Popen([*command, *options], env=environ, stdout=log, stderr=log)
                )

    def wait_for(self, found: Callable[[], bool]) -> None:
        """Waits until ``found``, or until the program ends."""
        while not found() and self.members[0].poll() is None:
            time.sleep(0.002)

    def reach(self, step: int) -> "Training":
        """Waits for the checkpoint of ``step``."""
        self.wait_for(lambda: max(steps_in(self.workdir), default=0) >= step)
        return self

    def send(self, number: signal.Signals, member: int = 0) -> "Training":
        """Sends a signal to one process and starts the clock of :meth:`end`."""
        self.started = time.monotonic()
        self.members[member].send_signal(number)
        return self

    def end(self, *, without: int | None = None) -> tuple[list[int], float]:
        """Waits for all processes but ``without``; returns exit codes and the seconds it took."""
        codes = [m.wait(LIMIT) for i, m in enumerate(self.members) if i != without]
        seconds = time.monotonic() - self.started
        if without is not None:
            self.members[without].kill()
            self.members[without].wait()
        return codes, seconds


def steps_in(workdir: Path) -> list[int]:
    """The finished checkpoints of a run."""
    folder = workdir / "checkpoints"
    return sorted(int(p.name) for p in folder.glob("*") if p.name.isdigit())


def state_of(workdir: Path) -> object:
    """The digests of every array of the final state."""
    return json.loads((workdir / f"checkpoints/{STEPS}/seal/metadata").read_text())["arrays"]


class Matrix:
    """The rows of the table."""

    def __init__(self, out: Path):
        self.out = out
        self.rows: list[tuple[str, str, str]] = []
        Training(out / "reference").end()
        self.reference = state_of(out / "reference")

    def add(self, fault: str, trials: str, outcome: str) -> None:
        """Prints a row at once: a long table must not be lost."""
        self.rows.append((fault, trials, outcome))
        print(f"| {fault} | {trials} | {outcome} |", flush=True)

    def resumes(self, workdir: Path, **options: int) -> str:
        """Runs to the end and says whether the state is that of the undisturbed run."""
        codes, _ = Training(workdir, **options).end()
        same = not any(codes) and state_of(workdir) == self.reference
        return "same" if same else f"NOT THE SAME (exit {codes})"

    def kill(self) -> None:
        """SIGKILL five times at random."""
        workdir, chance, reached = self.out / "kill", random.Random(0), 0
        for _ in range(5):
            reached = min(reached + chance.randint(1, 3) * EVERY, STEPS - EVERY)
            training = Training(workdir).reach(reached)
            time.sleep(chance.random() * 0.2)
            training.send(signal.SIGKILL).end()
        self.add("SIGKILL, 5 at random in one run", "5", self.resumes(workdir))

    def save(self) -> None:
        """SIGKILL while a checkpoint is being written."""
        for delay in (0.0, 0.005, 0.01, 0.02, 0.04, 0.08):
            workdir = self.out / f"save{delay}"
            training = Training(workdir).reach(EVERY)
            under_way = (workdir / "checkpoints").glob
            training.wait_for(lambda find=under_way: any(find("*.orbax-checkpoint-tmp")))
            time.sleep(delay)
            training.send(signal.SIGKILL).end()
            left = any((workdir / "checkpoints").glob("*.orbax-checkpoint-tmp"))
            known = steps_in(workdir)[-1]
            outcome = f"{'half a save' if left else 'no rest'} left, step {known} whole, "
            self.add(
                f"SIGKILL {delay * 1e3:g} ms into a save", "1", outcome + self.resumes(workdir)
            )

    def files(self) -> None:
        """Every file of a checkpoint, broken in every way."""
        source, seen = self.out / "reference/checkpoints", {"passed over": 0, "harmless": 0}
        wrong = 0
        for file, way in breaks(source / str(STEPS)):
            folder = Path(shutil.copytree(source, self.out / "files", dirs_exist_ok=True))
            break_file(folder / file.relative_to(source), way)
            step, good = newest(folder, source)
            wrong += not good
            seen["harmless" if step == STEPS else "passed over"] += 1
            shutil.rmtree(folder)
        self.add(
            f"every file of a checkpoint × {len(WAYS)} ways to break it",
            str(sum(seen.values())),
            f"{seen['passed over']} passed over for the step before, {seen['harmless']} without "
            f"effect, {wrong} restored wrong",
        )

    def signal(self) -> None:
        """SIGTERM and SIGINT to a single process."""
        for number in (signal.SIGTERM, signal.SIGINT):
            workdir = self.out / number.name
            codes, seconds = Training(workdir).reach(100).send(number).end()
            outcome = f"exit {codes[0]} after {seconds:.1f} s at step {steps_in(workdir)[-1]}, "
            self.add(number.name, "1", outcome + self.resumes(workdir))

    def pair(self) -> None:
        """Two processes of two devices: what happens to one ends both."""
        alone = self.out / "four"
        Training(alone, devices=4).end()
        undisturbed = self.out / "pair"
        Training(undisturbed, processes=2, devices=2).end()
        self.add(
            "2 processes × 2 devices against 1 × 4",
            "1",
            f"largest difference of a weight {difference(alone, undisturbed):.1e}",
        )
        self.reference = state_of(undisturbed)
        for name, number, member in (
            ("SIGTERM to one of two", signal.SIGTERM, 1),
            ("worker killed", signal.SIGKILL, 1),
            ("coordinator killed", signal.SIGKILL, 0),
            ("worker frozen (SIGSTOP)", signal.SIGSTOP, 1),
            ("coordinator frozen (SIGSTOP)", signal.SIGSTOP, 0),
        ):
            workdir = self.out / name.replace(" ", "-")
            training = Training(workdir, processes=2, devices=2).reach(100).send(number, member)
            frozen = member if number == signal.SIGSTOP else None
            codes, seconds = training.end(without=frozen)
            outcome = f"exit {codes} after {seconds:.0f} s, "
            self.add(name, "1", outcome + self.resumes(workdir, processes=2, devices=2))
        self.reference = state_of(self.out / "reference")

    def disk(self) -> None:
        """A file size limit from one moment on, and a run that diverges."""
        for name, step in (("middle", 100), ("last", STEPS - EVERY)):
            workdir = self.out / f"disk-{name}"
            training = Training(workdir).reach(step)
            limit = (200_000, resource.RLIM_INFINITY)
            resource.prlimit(training.members[0].pid, resource.RLIMIT_FSIZE, limit)
            training.started = time.monotonic()
            codes, seconds = training.end()
            outcome = f"exit {codes[0]} after {seconds:.1f} s, step {steps_in(workdir)[-1]} whole, "
            self.add(f"no room at a {name} save", "1", outcome + self.resumes(workdir))
        workdir = self.out / "diverge"
        codes, _ = Training(workdir, learning_rate=1e30).end()
        said = (workdir.with_suffix(".log")).read_text().strip().splitlines()[-1]
        self.add("learning rate 1e30", "1", f"exit {codes[0]}: “{said[:150]}…”")

    def devices(self) -> None:
        """From four devices to other numbers of them, and both ways to map a step."""
        begun = self.out / "begun"
        Training(begun, devices=4).reach(140).send(signal.SIGTERM).end()
        whole = Path(shutil.copytree(begun, self.out / "on4"))
        Training(whole, devices=4).end()
        for devices in (1, 2, 8):
            other = Path(shutil.copytree(begun, self.out / f"on{devices}"))
            codes, _ = Training(other, devices=devices).end()
            self.add(
                f"4 devices to {devices} at step {steps_in(begun)[-1]}",
                "1",
                f"exit {codes[0]}, largest difference of a weight {difference(whole, other):.1e}",
            )
        for devices in (1, 2, 4):
            other = self.out / f"shard_map{devices}"
            Training(other, devices=devices, backend="shard_map").end()
            change = difference(self.out / "reference", other)
            self.add(
                f"shard_map on {devices} against pmap on 1",
                "1",
                f"largest difference of a weight {change:.1e}",
            )


def difference(one: Path, other: Path) -> float:
    """The largest difference between the exported weights of two runs."""
    files = (run / "model.pacodi" for run in (one, other))
    a, b = (checkpoint.flatten(checkpoint.load(file).arrays["weights"]) for file in files)
    return max(float(np.abs(a[name] - b[name]).max()) for name in a)


def breaks(step: Path) -> Iterator[tuple[Path, str]]:
    """Every file of a checkpoint and every way to break it."""
    for file in sorted(p for p in step.rglob("*") if p.is_file()):
        for way in WAYS:
            yield file, way


def break_file(file: Path, way: str) -> None:
    """Breaks one file."""
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    if way == "delete":
        file.unlink()
    elif way.endswith("bit"):
        content[{"first bit": 0, "middle bit": middle, "last bit": -1}[way]] ^= 1
        file.write_bytes(content)
    else:
        zeroed = content[:middle] + bytes(len(content) - middle)
        broken = {"truncate": content[:middle], "empty": b"", "append": content + b"\0"}
        file.write_bytes(broken.get(way, zeroed))


def newest(folder: Path, truth: Path) -> tuple[int, bool]:
    """Restores the newest whole step of ``folder``; says whether ``truth`` has the same arrays."""
    with Checkpoints(truth, read_only=True) as store:
        template = template_of(store)
    with warnings.catch_warnings(), Checkpoints(folder) as store:
        warnings.simplefilter("ignore")
        found = store.restore(template)
    with Checkpoints(truth, read_only=True) as store:
        right = store.restore(template, step=found.step)
    return found.step, all(
        found.state[name].tobytes() == right.state[name].tobytes() for name in template
    )


def template_of(store: Checkpoints) -> dict[str, np.ndarray]:
    """A flat template from the seal itself: the matrix need not build the model."""
    sealed = json.loads((store.folder / f"{STEPS}/seal/metadata").read_text())
    return {n: np.zeros(a["shape"], a["dtype"]) for n, a in sealed["arrays"].items()}


def main() -> None:
    """Runs the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("runs/faults"))
    parser.add_argument("--only", default="kill,save,files,signal,pair,disk,devices")
    arguments = parser.parse_args()
    logging.set_verbosity(logging.FATAL)
    shutil.rmtree(arguments.out, ignore_errors=True)
    arguments.out.mkdir(parents=True)
    print("| fault | trials | outcome |\n|---|---|---|", flush=True)
    matrix = Matrix(arguments.out.absolute())
    for part in arguments.only.split(","):
        getattr(matrix, part)()


if __name__ == "__main__":
    main()
