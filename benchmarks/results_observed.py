"""Writes the tables of docs/experiments/observed.md from what bench_observed measured.

python benchmarks/results_observed.py
"""

import json
from pathlib import Path
from typing import Any

from results_format import table

from pacodi_jax import files

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = (
    ROOT / "docs" / "results" / "observed",
    ROOT / "docs" / "experiments" / "observed.md",
)
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"
#: How far below the Gaussian conditional CRPS should be, and where coverage should lie.
AIM = {"train": 0.9, "held-out": 1.0}
COVERED = (0.72, 0.88)
#: Runs that differ in the calendar alone, by the end of their names.
CALENDARS = {"auto": "day and week", "off": "no calendar", "year": "day, week and year"}
OTHERS = ("gaussian, exact", "gaussian, calendar", "replacement", "interpolation", "seasonal")


def spread(found: list[float], places: int = 3) -> str:
    """An estimate and its interval."""
    value, low, high = (f"{number:.{places}f}" for number in found)
    return f"{value} [{low}, {high}]"


def of_ratio(part: str, found: list[float]) -> str:
    """A ratio and whether the aim is met."""
    return spread(found, 2) + ("" if found[0] <= AIM[part] else " **no**")


def of_coverage(found: list[float]) -> str:
    """A coverage and whether it is where it should be."""
    low, high = COVERED
    return spread(found, 2) + ("" if low <= found[0] <= high else " **no**")


def model_rows(record: dict[str, Any]) -> list[list[str]]:
    """Per cell: the network's scores beside the Gaussian conditional's."""
    rows = []
    for cell, found in record["cells"].items():
        part, kind = cell.split("/")
        ours, theirs = (found["methods"][name] for name in ("network", "gaussian"))
        rows.append(
            [
                f"{part}, {kind}",
                spread(ours["crps"]),
                spread(theirs["crps"]),
                of_ratio(part, ours["ratio"]),
                f"{ours['mae'][0]:.3f}, {theirs['mae'][0]:.3f}",
                of_coverage(ours["coverage"]),
                f"{theirs['coverage'][0]:.2f}",
            ]
        )
    return rows


def other_rows(record: dict[str, Any]) -> list[list[str]]:
    """Per cell: each other method's CRPS as a ratio to the Gaussian conditional's."""
    rows = []
    for cell, found in record["cells"].items():
        known = [found["methods"].get(name) for name in OTHERS]
        rows.append(
            [cell.replace("/", ", "), *("–" if k is None else spread(k["ratio"], 2) for k in known)]
        )
    return rows


def section(name: str, record: dict[str, Any]) -> str:
    """Both tables of a run."""
    first = ["cell", "CRPS", "Gaussian", "ratio", "MAE of both", "coverage", "Gaussian's"]
    told = (
        f"**{name}**: {record['model']['steps']:,} training steps, {record['windows']} windows per "
        f"part, {record['draws']} draws, {record['steps']} evaluations."
    )
    others = f"**{name}**, CRPS of the others as a ratio to the Gaussian conditional's."
    return "\n\n".join(
        [
            told,
            table(first, model_rows(record)),
            others,
            table(["cell", *OTHERS], other_rows(record)),
        ]
    )


def of_calendars(found: dict[str, dict[str, Any]]) -> str:
    """Per cell the ratios to the Gaussian conditional with one calendar and another."""
    parts = []
    for name in (name.removesuffix("-off") for name in found if name.endswith("-off")):
        runs = {k: found[f"{name}-{k}"] for k in CALENDARS if f"{name}-{k}" in found}
        rows = []
        for cell in runs["off"]["cells"]:
            ours = [run["cells"].get(cell, {}).get("methods", {}) for run in runs.values()]
            told = ["–" if not m else spread(m["network"]["ratio"], 2) for m in ours]
            rows.append([cell.replace("/", ", "), *told])
        head = ["cell", *(CALENDARS[k] for k in runs)]
        told = f"**{name}**, CRPS as a ratio to the Gaussian conditional's, by calendar."
        parts += [told, table(head, rows)]
    return "\n\n".join(parts)


def main() -> None:
    """Puts the tables between the marks of the page."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    page = PAGE.read_text()
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    main_runs = [name for name in found if not name.endswith(("-off", "-year"))]
    tables = "\n\n".join([*(section(name, found[name]) for name in main_runs), of_calendars(found)])
    files.write_text(PAGE, f"{before}{BEGIN}\n{tables}\n{END}{after}")


if __name__ == "__main__":
    main()
