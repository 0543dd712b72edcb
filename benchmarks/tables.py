"""The paper's tables on this machine: trains and scores a grid of models, and writes the page.

    python benchmarks/tables.py list [PATTERN …]              the cells, and which are done
    python benchmarks/tables.py pace [PATTERN …]              measures steps per processor minute
    python benchmarks/tables.py run [PATTERN …] [--seeds N]   trains and scores what is not done yet
    python benchmarks/tables.py run --shard i/n [PATTERN …]   the i-th of every n cells, i from 0
    python benchmarks/tables.py write                         fills the tables of the pages

A pattern is a part of a cell's name with ``*``, for example ``etth1-24-*-honest``. A cell is one
run of the main command with ``--mode=all``; its folder is ``runs/tables/CELL`` and what it scored
is kept in ``docs/results/CELL.json``. Run again after an interruption and it goes on where it was.

Cells of the budgets ``equal`` and ``hour`` have as many steps as fit into 10 or 60 minutes of
processor time, so that a busy machine changes nothing. How many those are is measured once per
model and data set, before its first run, and kept in ``docs/results/pace.json``. Run them on one
core: ``taskset -c 0 python benchmarks/tables.py run "*-equal"``.
"""

import argparse
import fnmatch
import importlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import table_runs
from table_runs import RECORDED, ROOT, recorded, shortened, training_minutes, unrecorded
from table_settings import (
    AUTHORS,
    BUDGETS,
    MINUTES,
    MODELS,
    OWN,
    PACE,
    PROTOCOLS,
    SETS,
    STEPS,
    recipes,
    timed,
)

from pacodi_jax import files
from pacodi_jax.metrics import Panel
from pacodi_jax.run.shards import Shard
from pacodi_jax.settings import Config

__all__ = ["PAGES", "RESULTS", "STEPS", "Cell", "grid", "run", "training_minutes"]

RESULTS = ROOT / "docs" / "results"
WHOLE = Shard(0, 1)
RUNS = ROOT / "runs" / "tables"
#: Where tables of the results may stand.
PAGES = [ROOT / "README.md", ROOT / "docs" / "results.md", *ROOT.glob("docs/experiments/*.md")]


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
        if self.budget not in MINUTES:
            return round(PACE.get(self.model, 1.0) * STEPS[self.budget])
        fitting = MINUTES[self.budget] * 60_000 / known_pace()[self.paced]
        steps = max(round(fitting, -2), 100)
        return int(min(steps, self.authors_steps) if self.budget == "hour" else steps)

    @property
    def authors_steps(self) -> int:
        """The training steps of the authors' settings."""
        return AUTHORS.get(self.model) or self.preset["train"]["steps"]

    @property
    def paced(self) -> str:
        """What decides how long a step takes, as ``pace.json`` names it."""
        return f"{self.data}-{self.length}-{self.model}-{self.variant}"

    @property
    def is_paced(self) -> bool:
        """Whether the number of its steps is known."""
        return self.budget not in MINUTES or self.paced in known_pace()

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
        variant = "" if self.variant == OWN else f"variant={self.variant}"
        parts = (f"length={self.length}", variant, MODELS[self.model][0])
        return ",".join(filter(None, parts))

    @property
    def preset(self) -> dict[str, Any]:
        """The settings of its config, without what the cell sets."""
        module = importlib.import_module(f"pacodi_jax.configs.{self.data}")
        return module.get_config(self.arguments).to_dict()

    @property
    def recorded(self) -> dict[str, Any]:
        """The settings that its result records: those whose defaults have changed with time."""
        config = self.preset
        for key, value in self.overrides.items():
            if key in RECORDED.values():
                part, name = key.split(".")
                config[part][name] = value
        return recorded(config)

    @property
    def done(self) -> bool:
        """Whether it was scored by the present command and under the present defaults."""
        if not self.result.exists() or not self.is_paced:
            return False
        record = json.loads(self.result.read_text())
        found = {name: record.get(name) for name in RECORDED}
        return (unrecorded(record["command"]), found) == (unrecorded(self.said), self.recorded)

    @property
    def said(self) -> str:
        """The command as a user types it."""
        return " ".join(["python", *self.command])


def long_cells() -> list[Cell]:
    """Windows of the paper's longer horizons; relatives and the second variant at one of them."""
    kinds = [
        (data, length, model, "sde")
        for length in (64, 128, 256)
        for data in SETS
        for model in ("pacodi", "temporal")
    ]
    for data in ("etth1", "sines"):
        kinds += [(data, 128, model, "sde") for model in ("decoupled", "monolithic")]
    kinds += [(data, 64, "pacodi", "ddpm") for data in SETS]
    return [Cell(*kind, "honest", "short") for kind in kinds]


def grid(seeds: int = 1) -> list[Cell]:
    """All cells, the ones that matter most first, once for each seed of training."""
    finals = [
        Cell(data, 24, model, "sde", "honest", "final")
        for model in ("pacodi", "temporal")
        for data in SETS
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
    short = [Cell(data, 24, *kind, "honest", "short") for kind in kinds for data in SETS]
    short += long_cells()
    short += [
        Cell(data, 24, "pacodi", variant, "paper", "short")
        for variant in ("sde", "ddpm")
        for data in SETS
    ]
    rest = [Cell(*kind) for kind in (*recipes(), *timed())]
    cells = [*finals, *short, *rest]
    return [cell._replace(seed=seed) for seed in range(seeds) for cell in cells]


def known_pace() -> dict[str, float]:
    """Milliseconds of processor time per training step, by :attr:`Cell.paced`."""
    path = RESULTS / "pace.json"
    return json.loads(path.read_text()) if path.exists() else {}


def measure_pace(cell: Cell) -> None:
    """Measures how long a step of a cell takes and keeps it."""
    found = table_runs.pace(Config.make(cell.preset).changed(MODELS[cell.model][1]))
    kept = dict(sorted({**known_pace(), cell.paced: round(found, 3)}.items()))
    files.write_text(RESULTS / "pace.json", json.dumps(kept, indent=1) + "\n")
    print(f"== {cell.paced}: {found:.2f} ms of processor time per step", flush=True)


def chosen(patterns: list[str], seeds: int, shard: Shard = WHOLE) -> list[Cell]:
    """The cells that match a pattern, all of them without any; of these, those of a shard."""
    cells = [c for c in grid(seeds) if any(fnmatch.fnmatch(c.name, p) for p in patterns or ["*"])]
    if not cells:
        raise SystemExit(f"no cell matches {patterns}; python benchmarks/tables.py list names them")
    return cells[shard.number :: shard.parts]


def keep_samples(cell: Cell, workdir: Path) -> None:
    """Keeps a few synthetic windows, in the data's units, for notebooks/quality.ipynb."""
    if cell != Cell(cell.data, 24, "pacodi", "sde", "honest", "final"):
        return
    folder = RESULTS / "samples"
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{cell.name}.npy", np.load(workdir / "samples" / "samples.npy")[:32])


def train(cell: Cell, workdir: Path) -> int:
    """Trains, samples and scores a cell; returns the peak of its memory in megabytes."""
    print(f"== {cell.name}\n   {cell.said} --workdir={workdir.relative_to(ROOT)}", flush=True)
    status, peak = table_runs.train(cell.command, workdir)
    if status:
        raise SystemExit(f"{cell.name} ended with status {status}; run again to go on")
    return peak


def facts(cell: Cell, workdir: Path, peak: int) -> dict[str, Any]:
    """What the repository keeps of a cell beside its scores."""
    found = {"cell": cell._asdict(), "command": cell.said, "peak_megabytes": peak}
    if cell.budget in MINUTES:
        found |= table_runs.sampling(workdir) | {"authors_steps": cell.authors_steps}
    return found | table_runs.facts(workdir)


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


def write_pages() -> None:
    """Fills the pages and names the cells that are open."""
    from results_page import write

    print(*write(RESULTS, PAGES), sep="\n")
    for cell in grid():
        if not cell.done:
            print(f"note: {cell.name} is of other settings, or was not run")


def act(action: str, cell: Cell) -> None:
    """Lists, paces or runs one cell."""
    if action == "list":
        note = "" if cell.is_paced else "  (its pace is not measured yet)"
        print(f"{'done' if cell.done else 'open'}  {cell.name}{note}")
        return
    if not cell.is_paced:
        measure_pace(cell)
    if action == "run" and cell.done:
        print(f"== {cell.name} is done")
    elif action == "run":
        run(cell)


def main() -> None:
    """Parses the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=["list", "pace", "run", "write"])
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--seeds", type=int, default=1, help="trainings of every cell (default 1)")
    parser.add_argument("--shard", type=Shard.parse, default=WHOLE, help="i/n, every n-th cell")
    given = parser.parse_args()
    if given.action == "write":
        write_pages()
        return
    for cell in chosen(given.patterns, given.seeds, given.shard):
        act(given.action, cell)


if __name__ == "__main__":
    main()
