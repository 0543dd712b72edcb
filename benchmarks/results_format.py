"""Names and numbers as the results page prints them."""

from dataclasses import dataclass
from typing import Any

from pacodi_jax.metrics import Estimate, Panel

SETS = {"etth1": "ETTh1", "stocks": "Stocks", "sines": "Sines", "air": "Air"}
PAPER_SCORES = {
    "context_fid_v1": "Context-FID",
    "correlational_v1": "Correlational",
    "discriminative_v1": "Discriminative",
    "predictive_v1": "Predictive",
}


@dataclass(frozen=True)
class Result:
    """One cell of the tables as ``docs/results`` keeps it: its scores, and facts of its run."""

    name: str
    panel: Panel

    @property
    def cell(self) -> dict[str, Any]:
        """Data set, length, model, variant, protocol, budget and seed."""
        return self.fact("cell")

    @property
    def steps(self) -> int:
        """How long its model was trained."""
        return self.fact("model")["steps"]

    def fact(self, name: str) -> Any:
        """One of the facts of its run."""
        return self.panel.facts[name]


def pick(results: list[Result], **wanted: Any) -> list[Result]:
    """The results whose cells have the wanted values."""
    return [r for r in results if all(r.cell[key] == value for key, value in wanted.items())]


def number(value: float) -> str:
    """Three decimals, as the paper prints them."""
    return f"{value:.3f}"


def spread(found: Estimate) -> str:
    """Mean ± half of the 95 % interval."""
    return f"{number(found.value)} ± {number(found.half_width)}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, the first column to the left."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
