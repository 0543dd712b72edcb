"""Names and numbers as the results page prints them."""

from typing import Any

SETS = {"etth1": "ETTh1", "stocks": "Stocks", "sines": "Sines", "air": "Air"}
PAPER_SCORES = {
    "context_fid_v1": "Context-FID",
    "correlational_v1": "Correlational",
    "discriminative_v1": "Discriminative",
    "predictive_v1": "Predictive",
}
Record = dict[str, Any]


def number(value: float) -> str:
    """Three decimals, as the paper prints them."""
    return f"{value:.3f}"


def spread(found: dict[str, Any]) -> str:
    """Mean ± half of the 95 % interval."""
    return f"{number(found['value'])} ± {number((found['interval'][1] - found['interval'][0]) / 2)}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, the first column to the left."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
