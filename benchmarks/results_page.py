"""Writes docs/results.md from the files of ``docs/results``, for ``benchmarks/tables.py write``."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from results_few_steps import few_steps
from results_format import PAPER_SCORES, SETS, Result, number, spread, table

from pacodi_jax.metrics import Estimate, Panel
from pacodi_jax.metrics.score import summarise

#: The paper's own figures: data set, length, score, model.
Paper = dict[str, dict[str, dict[str, dict[str, float]]]]

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
#: What two runs must share to be compared.
SHARED = ("learning_rate", "calibration", "weighting", "scaling")


def read(folder: Path) -> list[Result]:
    """The cells that were scored, in the order of their names: first seeds before further ones."""
    return [
        Result(path.stem, Panel.from_record(record))
        for path in sorted(folder.glob("*.json"), key=lambda path: path.stem)
        if "cell" in (record := json.loads(path.read_text()))
    ]


def pick(results: list[Result], **wanted: Any) -> list[Result]:
    """The results whose cells have the wanted values."""
    return [r for r in results if all(r.cell[key] == value for key, value in wanted.items())]


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
            if model.split()[0] in ("PaCoDi", "FreqDiff", "DDPM", "decoupled", "temporal"):
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
    for data, name in product(filter(found.get, SETS), ("context_fid_v1", "correlational_v1")):
        parts = dict(found[data]["scores"][name])
        floors = list(parts.pop("floor").values())
        blocks = list(parts)
        rows.append([f"{SETS[data]}, {PAPER_SCORES[name]}", number(float(np.mean(floors)))])
        rows[-1] += map(middle, parts.values())
    return table(["", "floor", *(f"blocks of {block} L" for block in blocks)], rows)


def middle(values: list[float]) -> str:
    """The median, and between which values four fifths lie."""
    low, median, high = np.quantile(values, (0.1, 0.5, 0.9))
    return f"{number(median)} ({number(low)} to {number(high)})"


def page(results: list[Result], paper: Paper, parts: Path) -> str:
    """The whole page; its words are in ``docs/results/*.md``, its numbers in the JSON files."""
    text = (parts / "page.md").read_text()
    filled = {
        "verdicts": verdicts(results, paper),
        "memorisation": memorisation(results),
        "budget": budget(results),
        "few_steps": few_steps(parts),
        "history": history(parts),
        "temporal": against(results, "temporal", FIRST),
        "monolithic": against(results, "monolithic", FIRST),
        "ablation": against(results, "decoupled", ABLATION),
    }
    for length in (24, 64):
        for split in ("train", "held_out"):
            filled[f"scores_{length}_{split}"] = "\n\n".join(
                f"**{title}**\n\n{cells(results, length, name, split, paper)}"
                for name, title in PAPER_SCORES.items()
                if pick(results, length=length)
            )
    filled["further"] = "\n\n".join(
        f"**{title}**\n\n{cells(results, 24, name, 'train', paper)}"
        for name, title in FURTHER_SCORES.items()
    )
    for name, value in filled.items():
        text = text.replace("{{" + name + "}}", value or "Not run yet.")
    return text


def write(folder: Path, target: Path) -> Path:
    """Writes the page and returns where it is."""
    paper = json.loads((folder / "paper.json").read_text())
    target.write_text(page(read(folder), paper, folder))
    return target
