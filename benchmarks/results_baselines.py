"""The tables of the page on baselines, made of the cells of equal processor minutes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from results_format import PAPER_SCORES, SETS, Result, pick, spread, table

#: Rows in this order: model and variant of a cell, and what the page calls it.
SYSTEMS = {
    ("pacodi", "sde"): "PaCoDi SDE",
    ("pacodi", "ddpm"): "PaCoDi DDPM",
    ("decoupled", "sde"): "PaCoDi without interaction",
    ("ddpm", "own"): "temporal DDPM",
    ("freqdiff", "own"): "FreqDiff",
    ("diffusion_ts", "own"): "Diffusion-TS",
    ("timevae", "own"): "TimeVAE",
    ("timegan", "own"): "TimeGAN",
}
SCORES = PAPER_SCORES | {"strong_discriminative_v1": "Strong discr."}
#: Context-FID on ETTh1 at L = 24: Diffusion-TS's own table, then PaCoDi's appendix.
PUBLISHED = {
    "diffusion_ts": ("0.116", "0.140"),
    "timevae": ("0.805", "0.786"),
    "timegan": ("0.300", "7.561"),
    "freqdiff": ("–", "0.032"),
    "ddpm": ("–", "0.311"),
}
FIRST = "context_fid_v1"


def row_of(result: Result) -> list[str]:
    """The scores and costs of one system."""
    remembered = result.panel.memorisation
    drawn, steps = result.fact("drawn_per_second"), result.fact("model")["steps"]
    return [
        *(spread(result.panel.score(name).measured) for name in SCORES),
        "–" if remembered is None else f"{remembered.ratio:.2f}",
        f"{result.fact('model')['parameters']:,}",
        f"{steps:,} of {result.fact('authors_steps'):,}",
        f"{result.fact('processor_minutes'):.1f}",
        f"{result.fact('evaluations'):,}",
        f"{drawn:,.0f}" if drawn >= 10 else f"{drawn:.2g}",
    ]


def one_set(found: list[Result], columns: int) -> list[list[str]]:
    """The rows of one data set, with its floor and the systems that are still open."""
    here = {(r.cell["model"], r.cell["variant"]): r for r in found}
    first = found[0].panel
    floor = [spread(first.score(name).floor) for name in SCORES]
    rows = [["*floor: real windows*", *floor, *[""] * (columns - len(floor) - 1)]]
    for kind, title in SYSTEMS.items():
        rows.append([title, *(row_of(here[kind]) if kind in here else ["open"] * (columns - 1))])
    return rows


def equal_minutes(results: list[Result]) -> str:
    """All systems at L = 24 after equal processor minutes of training, one table per data set."""
    head = ["", *SCORES.values(), "memory", "parameters", "steps", "minutes", "evaluations"]
    head.append("windows/s")
    parts = []
    for data, title in SETS.items():
        found = pick(results, data=data, length=24, budget="equal", protocol="honest", seed=0)
        if found:
            parts.append(f"**{title}**\n\n{table(head, one_set(found, len(head)))}")
    return "\n\n".join(parts)


def published(results: list[Result]) -> str:
    """Context-FID on ETTh1 beside the published figures."""
    rows = []
    for model, theirs in PUBLISHED.items():
        values = [
            spread(found[0].panel.score(FIRST).measured) if found else "open"
            for budget, protocol in (("equal", "honest"), ("hour", "honest"), ("equal", "authors"))
            if (found := _etth1(results, model, budget, protocol)) is not None
        ]
        rows.append([SYSTEMS[model, "own"], *values, *theirs])
    head = ["", "10 minutes", "60 minutes", "10 minutes, authors' split"]
    return table([*head, "Diffusion-TS's table", "PaCoDi's appendix"], rows)


def _etth1(results: list[Result], model: str, budget: str, protocol: str) -> list[Result]:
    wanted = {"model": model, "budget": budget, "protocol": protocol, "seed": 0}
    return pick(results, data="etth1", length=24, **wanted)


def recipe(results: list[Result]) -> str:
    """The paper's own recipe, on its own split with borrowed statistics and on an honest one."""
    rows = [
        [
            f"{SETS[r.cell['data']]}, {r.cell['variant'].upper()}, {r.panel.protocol}",
            f"{r.steps:,}",
            *(spread(r.panel.score(name).measured) for name in PAPER_SCORES),
        ]
        for r in pick(results, budget="recipe")
    ]
    return table(["", "gradients of 128", *PAPER_SCORES.values()], rows) if rows else ""


def speed(folder: Path) -> str:
    """Our Diffusion-TS against the authors' PyTorch, as ``bench_diffusion_ts.py`` kept it."""
    path = folder / "speed" / "diffusion_ts.json"
    if not path.exists():
        return ""
    found: dict[str, dict[str, Any]] = json.loads(path.read_text())
    rows = []
    for length, tasks in found.items():
        for task, sides in tasks.items():
            ratios = np.divide(sides["ours"], sides["theirs"])
            speeds = (f"{np.median(sides[name]):,.1f}" for name in ("ours", "theirs"))
            span = f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"
            rows.append([f"{length}, {task}", *speeds, span])
    return table(["L, task", "ours", "PyTorch", "ratio (range of the rounds)"], rows)


def tables(results: list[Result], folder: Path) -> dict[str, str]:
    """The tables by the name that the page calls them."""
    return {
        "equal_minutes": equal_minutes(results),
        "published": published(results),
        "recipe": recipe(results),
        "diffusion_ts_speed": speed(folder),
    }
