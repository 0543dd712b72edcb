"""The conditional table: every system on every set and length, one protocol, resumable.

    python benchmarks/conditional_table.py list [PATTERN …]    the cells, and which are done
    python benchmarks/conditional_table.py run [PATTERN …]     trains and scores what is not done
    python benchmarks/conditional_table.py write               docs/experiments/text_table.md

A cell is ``SET-LENGTH-SYSTEM-SEED``; a pattern is a part of its name with ``*``. Trained runs stand
in ``--runs``, what they scored in ``docs/results/text/table/CELL.json``. Split in time with a gap,
scaler on train, held-out windows with full captions in held-out phrasings; guidance and steps by
the CRPS on validation. ``wape`` is Σ|e|/Σ|x| over all windows, ``wape_each`` the mean over windows
of that ratio, which divides by little where a window is near 0 on the standardised scale.
"""

import argparse
import fnmatch
import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from exam import Exam, errors, prepare, write

from pacodi_jax import files
from pacodi_jax.configs import text as preset
from pacodi_jax.run import folder, parts
from pacodi_jax.run.trained import Trained
from pacodi_jax.settings import Config
from pacodi_jax.train.display import Terminal
from pacodi_jax.train.from_config import train

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/results/text/table"
PAGE = ROOT / "docs/experiments/text_table.md"
SETS, LENGTHS, SEEDS = ("etth1", "exchange", "air"), (24, 48, 96), range(5)
WINDOWS, DRAWS, KEY = 200, 16, 20_260
SCALES = (1.0, 2.0, 4.0)

#: The trained systems: arguments of ``configs/text.py``, further settings, how they may be drawn.
MODELS: dict[str, tuple[str, dict[str, Any], list[dict[str, Any]]]] = {
    "pacodi_sde": ("variant=sde", {}, [{"guidance": s} for s in SCALES]),
    "pacodi_ddpm": ("variant=ddpm", {}, [{"guidance": s} for s in SCALES]),
    "t2s": (
        "model=t2s",
        {"model.width": 192},
        [{"guidance": s, "steps": n} for s in (1.0, 5.0, 9.0) for n in (10, 30)],
    ),
    "diffusion_ts": ("model=diffusion_ts", {}, [{"guidance": s} for s in SCALES]),
    "timevae": ("model=timevae", {}, [{}]),
}
#: Rows that need no training.
PLAIN = ("retrieval", "random_window", "train_mean", "borrowed")


class Cell(NamedTuple):
    """One entry of the table."""

    source: str
    length: int
    system: str
    seed: int

    @property
    def name(self) -> str:
        """Of its file and its run."""
        return f"{self.source}-{self.length}-{self.system}-{self.seed}"


def cells(patterns: list[str]) -> Iterator[Cell]:
    """The cells that a pattern fits; plain rows first, then by seed, length and set."""
    for systems, seed, length, source in itertools.product(
        (PLAIN, tuple(MODELS)), SEEDS, LENGTHS, SETS
    ):
        for system in systems:
            cell = Cell(source, length, system, seed)
            if any(fnmatch.fnmatch(cell.name, pattern) for pattern in patterns or ["*"]):
                yield cell


def config_of(cell: Cell, steps: int | None) -> Config:
    """The settings of a cell's run."""
    arguments, changes, _ = MODELS.get(cell.system, ("", {}, []))
    given = ",".join(filter(None, (f"source={cell.source},length={cell.length}", arguments)))
    made = Config.make(preset.get_config(given).to_dict())
    changes = {**changes, "seed": cell.seed, "text.encoder": "statements"}
    return made.changed(changes | ({} if steps is None else {"train.steps": steps}))


def wape_each(windows: np.ndarray, made: np.ndarray) -> float:
    """The mean over windows of Σ|e|/Σ|x|, as T2S has it."""
    axes = (1, 2)
    return float(np.mean(np.abs(made - windows).sum(axes) / np.abs(windows).sum(axes)))


def scores(windows: np.ndarray, draws: np.ndarray) -> dict[str, float]:
    """All errors of draws ``(n, N, L, 1)``."""
    found = errors(windows, draws)
    kept = {name: found[name] for name in ("mse_single", "wape_single", "mse", "wape", "crps")}
    kept["wape_each_single"] = float(np.mean([wape_each(windows, one) for one in draws]))
    return kept | {"wape_each": wape_each(windows, draws.mean(0))}


def plain(cell: Cell, config: Config, exam: Exam) -> dict[str, Any]:
    """A row that needs no training, by the draws of this seed."""
    dataset = parts.load_data(config) if cell.system == "retrieval" else parts.load_windows(config)
    draw = np.random.default_rng(cell.seed)
    windows = exam.windows
    if cell.system == "train_mean":
        return {"test": scores(windows, np.broadcast_to(exam.mean, (1, *windows.shape)))}
    if cell.system == "retrieval":
        told = parts.encoder(config).encode(exam.texts)
        return {"test": scores(windows, _nearest(dataset.train, told)[None])}
    rows = draw.integers(len(dataset.train), size=(DRAWS, len(windows)))
    made = np.stack([dataset.train.take(one) for one in rows])
    if cell.system == "borrowed":
        made = _with_statistics(made, windows)
    return {"test": scores(windows, made)}


def _with_statistics(made: np.ndarray, windows: np.ndarray) -> np.ndarray:
    """Windows with the mean and deviation of others: what no text is needed for."""
    shape = made - made.mean(2, keepdims=True)
    shape /= np.maximum(made.std(2, keepdims=True), 1e-6)
    return windows.mean(1, keepdims=True) + windows.std(1, keepdims=True) * shape


def _nearest(train: Any, told: np.ndarray) -> np.ndarray:
    """The training window whose caption states what is nearest, by cosine."""
    known = train.vectors / np.maximum(np.linalg.norm(train.vectors, axis=1, keepdims=True), 1e-6)
    return train.take(np.argmax(told @ known.T, axis=1))


def drawn(model: Trained, windows: np.ndarray, told: np.ndarray, how: dict[str, Any]) -> np.ndarray:
    """Draws ``(DRAWS, N, L, 1)``."""
    given = np.tile(told, (DRAWS, 1))
    made = model.draw_scaled(jax.random.key(KEY), len(given), given, **how)
    return made.reshape(DRAWS, *windows.shape)


def trained(cell: Cell, config: Config, exam: Exam, runs: Path) -> dict[str, Any]:
    """Trains a system unless that was done, chooses how it is drawn, and scores it."""
    place, began = runs / cell.name, time.process_time()
    if not (place / folder.MODEL).is_file():
        train(config, place, display=Terminal())
    minutes = (time.process_time() - began) / 60
    model = folder.load(place)
    check = prepare(config, 64, part="validation")
    ways = MODELS[cell.system][2]
    encoder = model.encoder()
    said = encoder.encode(check.texts)
    tried = {
        json.dumps(way): scores(check.windows, drawn(model, check.windows, said, way))
        for way in ways
    }
    way = json.loads(min(tried, key=lambda name: tried[name]["crps"]))
    found = scores(exam.windows, drawn(model, exam.windows, encoder.encode(exam.texts), way))
    return {
        "test": found,
        "way": way,
        "validation": tried,
        "evaluations": model.generator.facts(**way).evaluations,
        "steps": model.facts["steps"],
        "batch": model.config.train.batch,
        "parameters": model.facts["parameters"],
        "processor_minutes": round(minutes, 1),
    }


def run(chosen: list[Cell], steps: int | None, runs: Path) -> None:
    """Scores what is not done yet, a file per cell."""
    for cell in chosen:
        path = RESULTS / f"{cell.name}.json"
        if path.is_file():
            continue
        config = config_of(cell, steps)
        exam = prepare(config, WINDOWS)
        made: Callable[..., dict[str, Any]] = plain
        more: tuple[Any, ...] = ()
        if cell.system in MODELS:
            made, more = trained, (runs,)
        found = made(cell, config, exam, *more)
        write(path, {**cell._asdict(), "windows": len(exam.windows), "draws": DRAWS, **found})
        print(cell.name, found["test"], flush=True)


TITLE = "# Which model draws the window that a caption describes?"
HEAD = """\
`python benchmarks/conditional_table.py run`, then `write`. Split in time with a gap, scaled by
train (standardised), the channel of `configs/text.py`. 200 held-out windows, each with its full
caption in a held-out phrasing; 16 draws per caption. Guidance and steps are chosen by the CRPS on
64 windows of validation. Every model is told what the reader of sentences makes of the caption
([how well it reads](text_reader.md)). WAPE is Σ|e|/Σ|x| over all windows; its mean of ratios,
which T2S reports, divides by little where a standardised window is near 0. `retrieval` is the
train window with the nearest caption; `random_window` and `train_mean` read no text; `borrowed`
is a random window's shape with the mean and deviation of the very window that is asked for. ± is
the 95 % interval of the seeds."""
COLUMNS = ("mse_single", "wape_single", "wape_each_single", "mse", "wape", "crps")


def page() -> str:
    """The tables as Markdown: means over seeds with 95 % intervals where there are several."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for path in sorted(RESULTS.glob("*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        found.setdefault((one["source"], one["length"], one["system"]), []).append(one)
    lines = []
    for source, length in itertools.product(SETS, LENGTHS):
        rows = {
            s: found[source, length, s] for s in (*MODELS, *PLAIN) if (source, length, s) in found
        }
        if rows:
            lines += ["", f"## {source}, L = {length}", "", _head(), *map(_row, rows.items())]
    top = (TITLE, "", _answer(found), "", HEAD)
    return "\n".join([*top, *lines, "", "## Open cells", "", *_open(found), ""])


def _answer(found: dict[tuple[Any, ...], list[dict[str, Any]]]) -> str:
    """The first line of the page: how much of an answer there is."""
    wanted = len(SETS) * len(LENGTHS) * len(SEEDS) * len(MODELS)
    done = sum(len(ones) for (_, _, system), ones in found.items() if system in MODELS)
    told = f"{done} of {wanted} trainings of models that read captions are finished."
    return told if done == wanted else f"Not known yet: {told}"


def _open(found: dict[tuple[Any, ...], list[dict[str, Any]]]) -> Iterator[str]:
    """What is still to be done, a line per set and length."""
    for source, length in itertools.product(SETS, LENGTHS):
        counts = {name: len(found.get((source, length, name), [])) for name in (*MODELS, *PLAIN)}
        rest = [f"{name} ({n} of {len(SEEDS)})" for name, n in counts.items() if n < len(SEEDS)]
        if rest:
            told = "all" if not any(counts.values()) else ", ".join(rest)
            yield f"- {source}, L = {length}: {told}"


def _head() -> str:
    names = ("MSE, one draw", "WAPE", "WAPE, mean of ratios", "MSE of the mean", "WAPE", "CRPS")
    return "\n".join(["| | seeds | steps | " + " | ".join(names) + " |", "|---|" + "---:|" * 8])


def _row(item: tuple[str, list[dict[str, Any]]]) -> str:
    system, ones = item
    told = [_interval([one["test"][name] for one in ones]) for name in COLUMNS]
    steps = ones[0].get("steps", "")
    return f"| {system} | {len(ones)} | {steps} | " + " | ".join(told) + " |"


#: 97.5 % quantiles of Student's t, by the number of seeds.
_STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}


def _interval(values: list[float]) -> str:
    mean = float(np.mean(values))
    if len(values) not in _STUDENT or np.ptp(values) == 0:
        return f"{mean:.3f}"
    half = _STUDENT[len(values)] * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{mean:.3f} ± {half:.3f}"


def main() -> None:
    """Lists, runs or writes, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=("list", "run", "write"))
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--steps", type=int, help="training steps, for a shorter budget")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs/conditional")
    asked = parser.parse_args()
    chosen = list(cells(asked.patterns))
    if asked.work == "list":
        for cell in chosen:
            print(cell.name, "done" if (RESULTS / f"{cell.name}.json").is_file() else "open")
    elif asked.work == "run":
        run(chosen, asked.steps, asked.runs)
    else:
        files.write_text(PAGE, page())
        print(PAGE)


if __name__ == "__main__":
    main()
