"""Compares two checkouts: processor time of a training step, of samples and of the import.

    python benchmarks/bench_versions.py --before ../before [--rounds 9] [--length 24] [--json FILE]

Each checkout has a process of its own that trains ETTh1's preset for a moment and then repeats what
it is asked; the rounds of the two are interleaved. Processor time counts all threads.
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
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parents[1]
STEPS, WINDOWS = 200, 500
IMPORTS = {"import": "import pacodi_jax", "import and load": "from pacodi_jax import load"}
SHORT = {"steps": 2, "calibration": 0, "warmup": 0, "chunk": 1}


def _trained(length: int, workdir: Path) -> Any:
    """A model of this checkout after two steps; both layouts of the package are known."""
    import pacodi_jax

    try:
        from pacodi_jax.configs import etth1
        from pacodi_jax.settings import Config
        from pacodi_jax.train.from_config import train
    except ImportError:  # before the redesign
        from pacodi_jax.train.job import train

        from configs import etth1

        made = etth1.get_config(f"length={length}")
        for name, value in {**SHORT, "log_every": 1, "validate_every": 2}.items():
            made.train[name] = value
        train(made, workdir)
        return pacodi_jax.load(workdir)
    asked = etth1.get_config(f"length={length}").to_dict()
    made = Config.make(asked).changed({f"train.{name}": value for name, value in SHORT.items()})
    return train(made, workdir).model


def work(length: int) -> None:
    """Answers ``step`` and ``sample`` on standard input by the processor time of one each."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import jax

    from pacodi_jax import parallel

    kept: dict[str, Any] = {}
    make = parallel.map_step

    def recorded(step: Any, backend: str) -> Any:
        program = make(step, backend)

        def run(live: Any, data: Any, count: Any) -> Any:
            found = program(live, data, count)
            kept.update(live=found[0], data=data, program=run)
            return found

        return run

    parallel.map_step = recorded
    with tempfile.TemporaryDirectory() as folder:
        model = _trained(length, Path(folder) / "run")
    draw = getattr(model, "draw", None) or (lambda n: model.sample(jax.random.key(0), n))

    def step() -> float:
        return jax.block_until_ready(
            kept["program"](kept["live"], kept["data"], np.int32(STEPS))[0]
        )

    tasks = {"step": (step, STEPS), "sample": (lambda: draw(WINDOWS), WINDOWS)}
    for run, _ in tasks.values():
        run()
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        run, count = tasks[line.strip()]
        begun = time.process_time()
        run()
        print((time.process_time() - begun) / count, file=out, flush=True)


def _start(checkout: Path, length: int) -> subprocess.Popen:
    command = [sys.executable, __file__, "--worker", "--length", str(length)]
    environ = os.environ | {"PYTHONPATH": str(checkout)}
    return subprocess.Popen(
        command, cwd=checkout, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _asked(process: subprocess.Popen, task: str) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    print(task, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def _imported(checkout: Path, code: str) -> float:
    """Processor seconds of a new interpreter that runs ``code``."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environ = os.environ | {"PYTHONPATH": str(checkout)}
    subprocess.run([sys.executable, "-c", code], cwd=checkout, env=environ, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _row(name: str, unit: float, found: list[list[float]]) -> dict[str, Any]:
    """Median and quartiles of both checkouts, and of the ratio of each round."""
    told: dict[str, Any] = {"what": name}
    columns = dict(zip(("before", "after"), np.array(found).T * unit, strict=True))
    columns["after / before"] = columns["after"] / columns["before"]
    for column, values in columns.items():
        low, middle, high = statistics.quantiles(values, n=4)
        told[column] = f"{middle:.3g} ({low:.3g} to {high:.3g})"
    return told


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="the other checkout")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--length", type=int, default=24)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--worker", action="store_true")
    given = parser.parse_args()
    if given.worker:
        work(given.length)
        return
    sides = [given.before.resolve(), HERE]
    rows = []
    for name, code in IMPORTS.items():
        found = [[_imported(side, code) for side in sides] for _ in range(given.rounds)]
        rows.append(_row(f"{name}, s", 1, found))
    processes = [_start(side, given.length) for side in sides]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for task, what in (("step", "training step, ms"), ("sample", "window drawn, ms")):
        found = [[_asked(process, task) for process in processes] for _ in range(given.rounds)]
        rows.append(_row(what, 1e3, found))
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
    for row in rows:
        print("| " + " | ".join(row.values()) + " |")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
