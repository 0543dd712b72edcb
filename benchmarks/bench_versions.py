"""Compares two checkouts: processor time of a training step, of samples and of the import.

    python benchmarks/bench_versions.py --before ../before [--rounds 11] [--core 1] [--json FILE]

Each checkout has a process of its own that trains Sines' preset for two steps and then repeats
what it is asked. The rounds of the two alternate, and a ratio is of one round, so whatever else the
machine does falls on both. Processor time is that of all threads.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

HERE = Path(__file__).parents[1]
#: What one round does: training steps, windows drawn.
STEPS, WINDOWS = 20, 256
SHORT = {"steps": 2, "calibration": 0, "warmup": 0, "chunk": 1}
UNITS = {"step": ("training step, ms", STEPS), "sample": ("window drawn, ms", WINDOWS)}


def trained(length: int, workdir: Path) -> Any:
    """A model of this checkout after two steps; both layouts of the package are known."""
    import pacodi_jax

    if is_before(Path(pacodi_jax.__file__).parents[1]):
        from pacodi_jax.train.job import train

        from configs import sines

        made = sines.get_config(f"length={length}")
        made.train.update({**SHORT, "log_every": 1, "validate_every": 2})
        train(made, workdir)
        return pacodi_jax.load(workdir)
    from pacodi_jax.configs import sines
    from pacodi_jax.settings import Config
    from pacodi_jax.train.from_config import train

    changes = {f"train.{name}": value for name, value in SHORT.items()}
    asked = sines.get_config(f"length={length}").to_dict()
    return train(Config.make(asked).changed(changes), workdir).model


def is_before(checkout: Path) -> bool:
    """Whether a checkout is older than the library's front door."""
    return not (checkout / "pacodi_jax" / "cli").exists()


def recorded(parallel: Any) -> dict[str, Any]:
    """Has ``parallel.map_step`` keep the program that training runs, and its latest state."""
    kept: dict[str, Any] = {}
    make = parallel.map_step

    def map_step(*arguments: Any, **options: Any) -> Any:
        program = make(*arguments, **options)

        def run(live: Any, data: Any, count: Any) -> Any:
            found = program(live, data, count)
            kept.update(live=found[0], data=data, program=run)
            return found

        return run

    parallel.map_step = map_step
    return kept


def work(length: int) -> None:
    """Answers ``step`` and ``sample`` on standard input by the processor time of one each."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever training prints
    import jax

    from pacodi_jax import parallel

    kept = recorded(parallel)
    with tempfile.TemporaryDirectory() as folder:
        model = trained(length, Path(folder) / "run")
    draw = getattr(model, "draw", None) or (lambda n: model.sample(jax.random.key(0), n))
    tasks: dict[str, Callable[[], Any]] = {
        "step": lambda: jax.block_until_ready(
            kept["program"](kept["live"], kept["data"], np.int32(STEPS))[0]
        ),
        "sample": lambda: draw(WINDOWS),
    }
    for run in tasks.values():
        run()
    facts = getattr(model, "facts", None) or model.card
    print(facts["parameters"], file=out, flush=True)
    for line in sys.stdin:
        begun = time.process_time()
        tasks[line.strip()]()
        print((time.process_time() - begun) / UNITS[line.strip()][1], file=out, flush=True)


class Worker:
    """A process of one checkout."""

    def __init__(self, checkout: Path, length: int, told: IO[str]) -> None:
        self.told = told
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", "--length", str(length)],
            cwd=checkout,
            env=os.environ | {"PYTHONPATH": str(checkout)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.told,
            text=True,
        )

    def answer(self, task: str = "") -> float:
        """What it answers to a task, or its first line; its last words if it has ended."""
        with suppress(BrokenPipeError):
            if task:
                print(task, file=self.process.stdin, flush=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.told.seek(0)
            raise SystemExit(f"no answer to {task or 'the start'}:\n{self.told.read()[-2000:]}")
        return float(line)

    def end(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def workers(checkouts: list[Path], length: int) -> Iterator[list[Worker]]:
    """A process per checkout, ended whatever happens."""
    with ExitStack() as stack:
        started = []
        for checkout in checkouts:
            told = stack.enter_context(tempfile.TemporaryFile("w+"))
            started.append(Worker(checkout, length, told))
            stack.callback(started[-1].end)
        yield started


def imported(checkout: Path, code: str) -> float:
    """Processor seconds of a new interpreter that runs ``code``."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environ = os.environ | {"PYTHONPATH": str(checkout)}
    subprocess.run([sys.executable, "-c", code], cwd=checkout, env=environ, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports(checkouts: list[Path], rounds: int) -> Iterator[dict[str, str]]:
    """Rows of the import of the package, and of all that loading a model needs."""
    ready = {True: "from pacodi_jax.run import load", False: "from pacodi_jax import load"}
    codes = {
        "import pacodi_jax, ms": ["import pacodi_jax"] * 2,
        "import of what loads a model, ms": [ready[is_before(side)] for side in checkouts],
    }
    for name, each in codes.items():
        pairs = list(zip(checkouts, each, strict=True))
        for side, code in pairs:
            imported(side, code)  # byte code and file caches
        yield row(name, [[imported(*pair) for pair in pairs] for _ in range(rounds)])


def programs(checkouts: list[Path], length: int, rounds: int) -> Iterator[dict[str, str]]:
    """Rows of a training step and of a window drawn, both sides' models being of one size."""
    with workers(checkouts, length) as pair:
        sizes = [worker.answer() for worker in pair]
        if len(set(sizes)) > 1:
            raise SystemExit(f"not the same model: {sizes} parameters")
        for task, (what, _) in UNITS.items():
            yield row(what, [[worker.answer(task) for worker in pair] for _ in range(rounds)])


def row(name: str, found: list[list[float]]) -> dict[str, str]:
    """Median and quartiles of both checkouts in milliseconds, and of the ratio of each round."""
    told = {"what": name}
    before, after = np.array(found).T
    for column, values in {
        "before": 1e3 * before,
        "after": 1e3 * after,
        "after / before": after / before,
    }.items():
        low, middle, high = statistics.quantiles(values, n=4)
        told[column] = f"{middle:.3g} ({low:.3g} to {high:.3g})"
    return told


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="the other checkout")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--length", type=int, default=24)
    parser.add_argument("--core", type=int, help="of the processor; by default those it is given")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.length)
        return
    if given.before is None:
        parser.error("--before is missing: the checkout to compare with")
    if given.core is not None:
        os.sched_setaffinity(0, {given.core})
    sides = [given.before.resolve(), HERE]
    rows = []
    for found in chain(programs(sides, given.length, given.rounds), imports(sides, given.rounds)):
        if not rows:
            print(f"| {' | '.join(found)} |\n|{'---|' * len(found)}")
        print(f"| {' | '.join(found.values())} |", flush=True)
        rows.append(found)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
