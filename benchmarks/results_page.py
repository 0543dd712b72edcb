"""Fills the tables of the results' pages from ``docs/results``, for ``benchmarks/tables.py write``.

A page says ``<!-- table NAME -->`` where a table belongs; the words around it are written by hand.
"""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import results_baselines
from results_few_steps import few_steps
from results_format import PAPER_SCORES, SETS, Result, number, pick, spread, table
from results_summary import Paper, four, glance, systems

from pacodi_jax import files
from pacodi_jax.metrics import Estimate, Panel
from pacodi_jax.metrics.score import summarise

#: A table of a page: its name, and what is between the marks.
MARKED = re.compile(r"(<!-- table (\w+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
FURTHER_SCORES = {
    "strong_discriminative_v1": "Strong discriminative",
    "phase_coherence_v1": "Phase coherence",
    "sliced_wasserstein_v1": "Sliced Wasserstein",
    "power_spectrum_v1": "Power spectrum (dB)",
    "autocorrelation_v1": "Autocorrelation",
}
FIRST = {"context_fid_v1": "Context-FID"}
ABLATION = PAPER_SCORES | {"phase_coherence_v1": "Phase coherence"}
MODELS = {
    "pacodi": "PaCoDi",
    "decoupled": "decoupled",
    "temporal": "temporal DiT",
    "monolithic": "monolithic",
}
#: Budgets of the tables that compare networks; the page on baselines has the others.
BUDGETS = ("short", "final")
#: What two runs must share to be compared.
SHARED = ("learning_rate", "calibration", "weighting", "scaling")


def read(folder: Path) -> list[Result]:
    """The cells that were scored, in the order of their names: first seeds before further ones."""
    return [
        Result(path.stem, Panel.from_record(record))
        for path in sorted(folder.glob("*.json"), key=lambda path: path.stem)
        if "cell" in (record := json.loads(path.read_text()))
    ]


def kinds(results: list[Result]) -> list[dict[str, Any]]:
    """What the rows of a table are: every model, variant, protocol and budget that was run."""
    order = list(MODELS)
    steps: dict[tuple[Any, ...], int] = {}
    for r in results:
        cell = r.cell
        kind = (cell["protocol"], cell["model"], cell["variant"], cell["budget"], cell["seed"])
        steps[kind] = max(steps.get(kind, 0), r.steps)
    names = ("protocol", "model", "variant", "budget", "seed")
    rows = sorted(steps, key=lambda k: (k[0], -steps[k], order.index(k[1]), *k[2:]))
    return [dict(zip(names, kind, strict=True)) for kind in rows]


def label(kind: dict[str, Any], steps: set[int]) -> str:
    """A row's name."""
    trained = " or ".join(f"{number_:,}" for number_ in sorted(steps))
    protocol = "" if kind["protocol"] == "honest" else ", **paper protocol**"
    seed = f", seed {kind['seed']}" if kind["seed"] else ""
    return f"{MODELS[kind['model']]} {kind['variant'].upper()}, {trained} steps{protocol}{seed}"


def cells(results: list[Result], length: int, name: str, split: str, paper: Paper) -> str:
    """The table of one score: models down, data sets across, with floors and the paper's rows."""
    here = pick(results, length=length)
    sets = [s for s in SETS if pick(here, data=s)]
    rows = []
    for kind in kinds(here):
        of = {s: (pick(here, data=s, **kind) or [None])[0] for s in sets}
        steps = {r.steps for r in of.values() if r}
        scored = {s: r and r.panel.score(name, split).measured for s, r in of.items()}
        rows.append([label(kind, steps), *(spread(x) if x else "–" for x in scored.values())])
    honest = {s: pick(here, data=s, protocol="honest")[0].panel for s in sets}
    floors = {s: panel.score(name, split).floor for s, panel in honest.items()}
    rows.insert(0, ["*floor: real against other real windows*", *map(spread, floors.values())])
    if split == "train" and name in PAPER_SCORES:
        for model in dict.fromkeys(m for s in sets for m in paper[s][str(length)].get(name, {})):
            theirs = [paper[s][str(length)][name].get(model) for s in sets]
            rows.append([f"paper: {model}", *("–" if v is None else number(v) for v in theirs)])
    return table(["", *(SETS[s] for s in sets)], rows)


def verdicts(results: list[Result], paper: Paper) -> str:
    """For each of the sixteen cells, whether the aim was reached."""
    rows, reached, below, counted = [], 0, 0, 0
    for data, title in SETS.items():
        own = pick(
            results, data=data, length=24, model="pacodi", variant="sde", protocol="honest", seed=0
        )
        if not own:
            continue
        best = max(pick(own, budget="final") or own, key=lambda r: r.steps)
        for name, metric in PAPER_SCORES.items():
            found = best.panel.score(name)
            published = paper[data]["24"][name]
            aim = max(min(published["PaCoDi SDE"], published["PaCoDi DDPM"]), found.floor.value)
            holds = found.measured.interval[0] <= aim
            reached, counted = reached + holds, counted + 1
            below += found.value <= aim
            rows.append(
                [
                    f"{title}, {metric}",
                    spread(found.measured),
                    number(min(published["PaCoDi SDE"], published["PaCoDi DDPM"])),
                    spread(found.floor),
                    "yes" if holds else "**no**",
                ]
            )
    head = ["", "here", "paper's better variant", "floor", "reached"]
    summary = f"{reached} of {counted} cells; by the mean alone {below}.\n\n"
    return summary + table(head, rows)


def against(results: list[Result], baseline: str, names: dict[str, str]) -> str:
    """PaCoDi beside a baseline of the same budget: SDE, L = 24, honest; who is clearly better."""
    wanted = {"length": 24, "variant": "sde", "protocol": "honest"}
    rows = []
    for budget_, data in product(("short", "final"), SETS):
        pair = [
            pick(results, data=data, model=model, budget=budget_, **wanted)
            for model in ("pacodi", baseline)
        ]
        if not all(pair):
            continue
        own, other = (found[0] for found in pair)
        if any(own.fact(name) != other.fact(name) for name in SHARED):
            continue
        steps = " and ".join(dict.fromkeys(f"{r.steps:,}" for r in (own, other)))
        for name, metric in names.items():
            ours, theirs = (over_trainings(found, name) for found in pair)
            values = [trainings(found, name) for found in pair]
            values.append(spread(own.panel.score(name).floor))
            word = verdict(ours, theirs, MODELS[baseline])
            rows.append([f"{SETS[data]}, {metric}, {steps} steps", *values, word])
    head = ["", "PaCoDi", MODELS[baseline], "floor", "lower (clear where intervals are apart)"]
    return table(head, rows) if rows else ""


def over_trainings(found: list[Result], name: str) -> Estimate:
    """The score of one training, or the mean over several with the interval of that mean."""
    scores = [result.panel.score(name).measured for result in found]
    return scores[0] if len(scores) == 1 else summarise([one.value for one in scores])


def trainings(found: list[Result], name: str) -> str:
    """The score, and in brackets that of each of several trainings."""
    means = ", ".join(number(result.panel.score(name).value) for result in found)
    return spread(over_trainings(found, name)) + (f" ({means})" if len(found) > 1 else "")


def verdict(ours: Estimate, theirs: Estimate, baseline: str) -> str:
    """Whose score is lower, and whether the 95 % intervals are apart."""
    low, high = sorted((ours, theirs), key=lambda found: found.value)
    clear = "clearly " if low.interval[1] < high.interval[0] else ""
    return clear + ("PaCoDi" if low is ours else f"**{baseline}**")


def memorisation(results: list[Result]) -> str:
    """Distances to the nearest training window."""
    rows = [
        [
            label(r.cell, {r.steps}) + f", {SETS[r.cell['data']]}",
            *(f"{value:.4f}" for value in (found.synthetic, found.train_apart, found.held_out)),
            f"{found.ratio:.2f}",
        ]
        for model in ("pacodi", "temporal")
        for r in pick(results, model=model, length=24, protocol="honest")
        if (found := r.panel.memorisation)
    ]
    head = ["", "synthetic", "train, at least L apart", "held-out", "synthetic / train"]
    return table(head, rows)


def budget(results: list[Result]) -> str:
    """What each cell cost."""
    rows = [
        [
            f"`{r.name}`",
            f"{r.steps:,}",
            f"{r.fact('learning_rate'):g}",
            *(r.fact(name) for name in ("weighting", "scaling", "statistics")),
            f"{r.fact('calibration'):,}",
            f"{r.fact('windows_per_second'):,.0f}",
            f"{r.fact('training_minutes'):.1f}",
            f"{r.fact('peak_megabytes') / 1e3:.1f} GB",
            str(r.fact("machine")["cores"]),
            f"{r.fact('validation'):.4f}",
        ]
        for r in results
    ]
    head = ["cell", "steps", "rate", "weights", "scaling", "statistics", "calibration"]
    head += ["windows/s", "minutes", "peak", "cores"]
    return table([*head, "validation loss"], rows)


def history(folder: Path) -> str:
    """Train against itself drawn anew by blocks, as ``bench_history.py`` kept it."""
    path = folder / "history.json"
    if not path.exists():
        return ""
    found = json.loads(path.read_text())
    rows, blocks = [], []
    known = sorted(found, key=lambda key: list(SETS).index(key.split("-")[0]))
    for key, name in product(known, ("context_fid_v1", "correlational_v1")):
        parts = dict(found[key]["scores"][name])
        floors = list(parts.pop("floor").values())
        blocks = list(parts)
        data, _, length = key.partition("-")
        label = f"{SETS[data]}, L = {length}" if length else SETS[data]
        rows.append([f"{label}, {PAPER_SCORES[name]}", number(float(np.mean(floors)))])
        rows[-1] += map(middle, parts.values())
    return table(["", "floor", *(f"blocks of {block} L" for block in blocks)], rows)


def middle(values: list[float]) -> str:
    """The median, and between which values four fifths lie."""
    low, median, high = np.quantile(values, (0.1, 0.5, 0.9))
    return f"{number(median)} ({number(low)} to {number(high)})"


def tables(results: list[Result], paper: Paper, folder: Path) -> dict[str, str]:
    """Every table by the name that pages call it."""
    systems_ = results_baselines.tables(results, folder)
    results = [result for result in results if result.cell["budget"] in BUDGETS]
    made = {
        **systems_,
        "glance": glance(results, paper),
        "systems": systems(results, paper),
        "four": four(results, paper),
        "verdicts": verdicts(results, paper),
        "memorisation": memorisation(results),
        "budget": budget(results),
        "few_steps": few_steps(folder),
        "history": history(folder),
        "temporal": against(results, "temporal", FIRST),
        "monolithic": against(results, "monolithic", FIRST),
        "ablation": against(results, "decoupled", ABLATION),
        "further": all_cells(results, 24, "train", paper, FURTHER_SCORES),
    }
    for length, split in ((24, "train"), (24, "held_out"), (64, "train")):
        name = f"scores_{length}_{split}"
        made[name] = all_cells(results, length, split, paper, PAPER_SCORES)
    return made


def all_cells(
    results: list[Result], length: int, split: str, paper: Paper, names: dict[str, str]
) -> str:
    """The tables of several scores, each under its title."""
    found = names if pick(results, length=length) else {}
    return "\n\n".join(
        f"**{title}**\n\n{cells(results, length, name, split, paper)}"
        for name, title in found.items()
    )


def fill(page: str, made: dict[str, str]) -> str:
    """A page with its tables made anew."""

    def anew(found: re.Match[str]) -> str:
        return f"{found[1]}\n{made[found[2]] or 'Not run yet.'}\n\n{found[4]}"

    return MARKED.sub(anew, page)


def write(folder: Path, pages: list[Path]) -> list[Path]:
    """Fills the pages that have tables and returns them."""
    made = tables(read(folder), json.loads((folder / "paper.json").read_text()), folder)
    marked = [page for page in pages if MARKED.search(page.read_text())]
    for page in marked:
        files.write_text(page, fill(page.read_text(), made))
    return marked
