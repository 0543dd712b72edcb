"""The results page on few steps, from the files of ``benchmarks/bench_few_steps.py``."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from results_format import PAPER_SCORES, number, table

from pacodi_jax.metrics.score import summarise

#: What was measured of one solver: values per seed of each score, and windows per second.
Point = dict[str, Any]


def few_steps(folder: Path) -> str:
    """Context-FID against network evaluations, one table per data set that was measured."""
    parts = []
    for path in sorted((folder / "few_steps").glob("*.json")):
        record = json.loads(path.read_text())
        points = {tuple(name.split("/")): point for name, point in record["points"].items()}
        numbers = sorted({int(number) for _, number in points})
        for name in ("context_fid_v1", "discriminative_v1"):
            rows = [
                [f"`{solver}`", *(_mean(points.get((solver, str(n))), name) for n in numbers)]
                for solver in dict.fromkeys(solver for solver, _ in points)
            ]
            floor = record[f"floor/{name}"]
            parts.append(
                f"**{path.stem}, {PAPER_SCORES[name]}** by network evaluations; floor "
                f"{number(sum(floor) / len(floor))}; {record['windows']} windows, "
                f"{record['seeds']} seeds, {record['model']['steps']:,} training steps\n\n"
                + table(["solver", *map(str, numbers)], rows)
            )
        rows = [
            [f"`{solver}`", *(_speed(points.get((solver, str(n)))) for n in numbers)]
            for solver in dict.fromkeys(solver for solver, _ in points)
        ]
        parts.insert(0, baseline(path.stem, points))
        parts.append(
            f"**{path.stem}, windows per second of processor time**\n\n"
            + table(["solver", *map(str, numbers)], rows)
        )
    return "\n\n".join(parts)


def baseline(title: str, points: dict[tuple[str, str], Point], steps: str = "500") -> str:
    """The best point of at most 20 evaluations against the long Euler–Maruyama."""
    long = points.get(("euler_maruyama", steps))
    few = {key: point for key, point in points.items() if int(key[1]) <= 20}
    if long is None or not few:
        return ""
    name = "context_fid_v1"
    (solver, number_), best = min(few.items(), key=lambda item: float(np.mean(item[1][name])))
    found, (low, high) = np.mean(best[name]), summarise(long[name]).interval
    return (
        f"- {title}: the best Context-FID with at most 20 evaluations is {number(found)} "
        f"(`{solver}`, {number_}), {steps}-step Euler–Maruyama has {number(np.mean(long[name]))} "
        f"[{number(low)}, {number(high)}]: "
        + ("within or below the interval" if found <= high else "**above the interval**")
        + f", at {best['windows_per_second'] / long['windows_per_second']:.0f} times its speed."
    )


def _mean(point: Point | None, name: str) -> str:
    return "–" if point is None else number(sum(point[name]) / len(point[name]))


def _speed(point: Point | None) -> str:
    return "–" if point is None else f"{point['windows_per_second']:,.0f}"
