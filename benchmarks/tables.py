"""The paper's tables on this machine: trains and scores a grid of models, and writes the page.

    python benchmarks/tables.py list [PATTERN …]              the cells, and which are done
    python benchmarks/tables.py run [PATTERN …] [--seeds N]   trains and scores what is not done yet
    python benchmarks/tables.py write                         fills the tables of the pages

A pattern is a part of a cell's name with ``*``, for example ``etth1-24-*-honest``. A cell is one
run of the main command with ``--mode=all``; its folder is ``runs/tables/CELL`` and what it scored
is kept in ``docs/results/CELL.json``. Run again after an interruption and it goes on where it was.
"""

import argparse
import fnmatch
import importlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pacodi_jax import files
from pacodi_jax.metrics import Panel, Score

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
RUNS = ROOT / "runs" / "tables"
#: Where tables of the results may stand.
PAGES = [ROOT / "README.md", ROOT / "docs" / "results.md", *ROOT.glob("docs/experiments/*.md")]

#: Training steps of a budget.
STEPS = {"short": 8_000, "final": 40_000}
#: Short runs compare networks, so their samples are not calibrated; final ones are what users get.
BUDGETS: dict[str, dict[str, Any]] = {
    "short": {"evaluate.seeds": 3, "train.calibration": 0},
    "final": {},
}
#: Baselines have PaCoDi's minutes: the steps that they take on one core in the time of one step of
#: PaCoDi at L = 24 (the page has the minutes of every run). Ablations have PaCoDi's steps.
PACE = {"temporal": 1.4, "monolithic": 4.0}

#: How a model's cells differ from PaCoDi's: config arguments and overrides.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "pacodi": ("", {}),
    "decoupled": ("", {"model.interaction": "none"}),
    "temporal": ("model=temporal", {}),
    "monolithic": ("model=monolithic", {}),
}

#: The paper's protocol with this project's training: only the handling of the data is the paper's.
PROTOCOLS: dict[str, dict[str, Any]] = {
    "honest": {},
    "paper": {
        "data.protocol": "paper",
        "data.scaling": "min_max",
        "diffusion.statistics": "oracle",
        "train.calibration": 0,
    },
}

#: Settings that a result records by value, whether its command names them or its config has them.
RECORDED = {
    "learning_rate": "train.learning_rate",
    "calibration": "train.calibration",
    "weighting": "diffusion.weighting",
    "statistics": "diffusion.statistics",
    "scaling": "data.scaling",
}


class Cell(NamedTuple):
    """One entry of the tables."""

    data: str
    length: int
    model: str
    variant: str
    protocol: str
    budget: str
    seed: int = 0

    @property
    def name(self) -> str:
        """The cell's name, and that of its files; the first seed is not named."""
        parts = [str(part) for part in self[:-1]]
        return "-".join([*parts, f"seed{self.seed}"] if self.seed else parts)

    @property
    def steps(self) -> int:
        """The training steps of its budget."""
        return round(PACE.get(self.model, 1.0) * STEPS[self.budget])

    @property
    def overrides(self) -> dict[str, Any]:
        """What the cell sets beside the arguments of its config."""
        return {
            **MODELS[self.model][1],
            **PROTOCOLS[self.protocol],
            **({"seed": self.seed} if self.seed else {}),
            "train.steps": self.steps,
            "train.validate_every": self.steps // 4,
            "train.checkpoint_every": self.steps // 4,
            **BUDGETS[self.budget],
        }

    @property
    def command(self) -> list[str]:
        """The command that trains, samples and scores the cell, without its folder."""
        return [
            "-m",
            "pacodi_jax.main",
            f"--config=configs/{self.data}.py:{self.arguments}",
            "--mode=all",
            *(f"--config.{key}={value}" for key, value in self.overrides.items()),
        ]

    @property
    def result(self) -> Path:
        """Where the repository keeps what the cell scored."""
        return RESULTS / f"{self.name}.json"

    @property
    def arguments(self) -> str:
        """The arguments of its config."""
        parts = (f"length={self.length}", f"variant={self.variant}", MODELS[self.model][0])
        return ",".join(filter(None, parts))

    @property
    def recorded(self) -> dict[str, Any]:
        """The settings that its result records: those whose defaults have changed with time."""
        module = importlib.import_module(f"pacodi_jax.configs.{self.data}")
        config = module.get_config(self.arguments).to_dict()
        for key, value in self.overrides.items():
            if key in RECORDED.values():
                part, name = key.split(".")
                config[part][name] = value
        return _recorded(config)

    @property
    def done(self) -> bool:
        """Whether it was scored by the present command and under the present defaults."""
        if not self.result.exists():
            return False
        record = json.loads(self.result.read_text())
        found = {name: record.get(name) for name in RECORDED}
        return (_unrecorded(record["command"]), found) == (_unrecorded(self.said), self.recorded)

    @property
    def said(self) -> str:
        """The command as a user types it."""
        return " ".join(["python", *self.command])


def _recorded(config: dict[str, Any]) -> dict[str, Any]:
    parts = {name: key.split(".") for name, key in RECORDED.items()}
    return {name: config[part][setting] for name, (part, setting) in parts.items()}


def _unrecorded(command: str) -> list[str]:
    """A command without the settings that are compared by their values."""
    named = tuple(f"--config.{key}=" for key in RECORDED.values())
    return sorted(part for part in command.split() if not part.startswith(named))


def long_cells() -> list[Cell]:
    """Windows of the paper's longer horizons; relatives and the second variant at one of them."""
    kinds = [
        (data, length, model, "sde")
        for length in (64, 128, 256)
        for data in ("etth1", "sines", "stocks", "air")
        for model in ("pacodi", "temporal")
    ]
    for data in ("etth1", "sines"):
        kinds += [(data, 128, model, "sde") for model in ("decoupled", "monolithic")]
    kinds += [(data, 64, "pacodi", "ddpm") for data in ("etth1", "sines", "stocks", "air")]
    return [Cell(*kind, "honest", "short") for kind in kinds]


def grid(seeds: int = 1) -> list[Cell]:
    """All cells, the ones that matter most first, once for each seed of training."""
    sets = ("etth1", "sines", "stocks", "air")
    finals = [
        Cell(data, 24, model, "sde", "honest", "final")
        for model in ("pacodi", "temporal")
        for data in sets
    ]
    finals.append(Cell("etth1", 24, "decoupled", "sde", "honest", "final"))
    kinds = [
        ("pacodi", "sde"),
        ("temporal", "sde"),
        ("decoupled", "sde"),
        ("monolithic", "sde"),
        ("pacodi", "ddpm"),
        ("temporal", "ddpm"),
    ]
    short = [Cell(data, 24, *kind, "honest", "short") for kind in kinds for data in sets]
    short += long_cells()
    short += [
        Cell(data, 24, "pacodi", variant, "paper", "short")
        for variant in ("sde", "ddpm")
        for data in sets
    ]
    return [cell._replace(seed=seed) for seed in range(seeds) for cell in finals + short]


def chosen(patterns: list[str], seeds: int) -> list[Cell]:
    """The cells that match a pattern; all of them without any."""
    cells = [c for c in grid(seeds) if any(fnmatch.fnmatch(c.name, p) for p in patterns or ["*"])]
    if not cells:
        raise SystemExit(f"no cell matches {patterns}; python benchmarks/tables.py list names them")
    return cells


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


def keep_samples(cell: Cell, workdir: Path) -> None:
    """Keeps a few synthetic windows, in the data's units, for notebooks/quality.ipynb."""
    if cell != Cell(cell.data, 24, "pacodi", "sde", "honest", "final"):
        return
    folder = RESULTS / "samples"
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{cell.name}.npy", np.load(workdir / "samples" / "samples.npy")[:32])


def training_minutes(lines: list[dict[str, Any]], batch: int) -> float:
    """How long a run trained, over all its parts, from its logged speeds."""
    speeds = {line["step"]: line["windows_per_second"] for line in lines if "loss" in line}
    steps = sorted(speeds)
    spans = zip(steps, [0, *steps], strict=False)
    return sum((step - last) * batch / speeds[step] for step, last in spans) / 60


def train(cell: Cell, workdir: Path) -> int:
    """Trains, samples and scores a cell; returns the peak of its memory in megabytes."""
    print(f"== {cell.name}\n   {cell.said} --workdir={workdir.relative_to(ROOT)}", flush=True)
    command = [sys.executable, *cell.command, f"--workdir={workdir}", "--exit_on_signal=75"]
    process = subprocess.Popen(command, cwd=ROOT)
    _, ended, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(ended)
    if process.returncode:
        raise SystemExit(f"{cell.name} ended with status {process.returncode}; run again to go on")
    return round(usage.ru_maxrss / 1e3)


def facts(cell: Cell, workdir: Path, peak: int) -> dict[str, Any]:
    """What the repository keeps of a run beside its scores."""
    lines = [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]
    speeds = [line["windows_per_second"] for line in lines if "windows_per_second" in line]
    validation = [line["validation"] for line in lines if "validation" in line]
    config = json.loads((workdir / "config.json").read_text())
    environment = json.loads((workdir / "environment.json").read_text())
    return {
        "cell": cell._asdict(),
        "command": cell.said,
        "machine": {
            "cores": len(os.sched_getaffinity(0)),
            "device": environment["device_kind"],
            "packages": environment["packages"],
        },
        "windows_per_second": sorted(speeds)[len(speeds) // 2],
        **_recorded(config),
        "training_minutes": round(training_minutes(lines, config["train"]["batch"]), 1),
        "peak_megabytes": peak,
        "validation": validation[-1],
    }


def run(cell: Cell) -> None:
    """Trains and scores a cell, and keeps what it scored."""
    workdir = RUNS / cell.name
    peak = train(cell, workdir)
    panel = Panel.from_json((workdir / "scores" / "scores.json").read_text())
    kept = Panel(
        panel.protocol,
        tuple(map(shortened, panel.scores)),
        panel.settings,
        memorisation=panel.memorisation,
        schema=None,
        facts=facts(cell, workdir, peak) | {"model": panel.facts["model"]},
    )
    keep_samples(cell, workdir)
    files.write_text(cell.result, json.dumps(kept.record(), indent=1) + "\n")


def main() -> None:
    """Parses the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["list", "run", "write"])
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--seeds", type=int, default=1, help="trainings of every cell (default 1)")
    given = parser.parse_args()
    if given.action == "write":
        from results_page import write

        print(*write(RESULTS, PAGES), sep="\n")
        for cell in grid():
            if not cell.done:
                print(f"note: {cell.name} is of other settings, or was not run")
        return
    for cell in chosen(given.patterns, given.seeds):
        if given.action == "list":
            print(f"{'done' if cell.done else 'open'}  {cell.name}")
        elif cell.done:
            print(f"== {cell.name} is done")
        else:
            run(cell)


if __name__ == "__main__":
    main()
