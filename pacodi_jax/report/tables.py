"""The scores of a panel as a data frame, as aligned text and as a small HTML table."""

import textwrap
from collections.abc import Iterator
from html import escape

import pandas as pd

from pacodi_jax.errors import printable
from pacodi_jax.metrics.results import Panel
from pacodi_jax.metrics.score import Estimate, Score
from pacodi_jax.report.numbers import number, plus_minus

#: Of ``scores.csv``.
COLUMNS = [
    *("name", "split", "group", "better", "protocol", "value", "low", "high"),
    *("floor", "floor_low", "floor_high", "ceiling", "ceiling_low", "ceiling_high"),
    *("position", "above_floor", "word", "windows", "seeds"),
]
#: Columns of a terminal that the text fills at most.
WIDTH = 110
HEAD = ("score", "synthetic", "floor", "ceiling", "in words")
SPLITS = {"train": "against the real windows", "held_out": "against held-out windows"}


def frame(panel: Panel) -> pd.DataFrame:
    """One row per score and split, with intervals, floors and ceilings: ``scores.csv``."""
    return pd.DataFrame([_row(panel.protocol, score) for score in panel.scores], columns=COLUMNS)


def _row(protocol: str, score: Score) -> tuple[object, ...]:
    """The values of ``COLUMNS``."""

    def bounds(estimate: Estimate) -> tuple[float, float, float]:
        return (estimate.value, *estimate.interval)

    return (
        *(score.name, score.split, score.group, score.better, protocol),
        *bounds(score.measured),
        *bounds(score.floor),
        *bounds(score.ceiling),
        *(score.position, score.above_floor, score.word, score.measured.windows),
        " ".join(map(str, score.seeds or ())),
    )


def _cells(score: Score) -> tuple[str, ...]:
    """What the compact tables show of a score, under ``HEAD``."""
    bounds = number(score.floor.value), number(score.ceiling.value)
    return (score.label, plus_minus(score.measured), *bounds, score.word)


def _splits(panel: Panel) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """A caption and the rows for every set of real windows."""
    for split, caption in SPLITS.items():
        if rows := [_cells(score) for score in panel.of(split)]:
            yield f"Scores {caption} (mean over seeds ± half of its 95 % interval)", rows


def _align(rows: list[tuple[str, ...]]) -> list[str]:
    """Numbers to the right, words to the left."""
    table = [HEAD, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if 0 < place < len(HEAD) - 1 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def as_text(panel: Panel, notes: tuple[str, ...] = ()) -> str:
    """The verdict's sentences and an aligned table, for a terminal."""
    parts = ["\n".join(textwrap.fill(line, WIDTH) for line in panel.verdict or ())]
    parts += ["\n".join([caption, *_align(rows)]) for caption, rows in _splits(panel)]
    ends = [f"Protocol: {panel.protocol}", *(f"Note: {note}" for note in notes)]
    parts.append("\n".join(textwrap.fill(line, WIDTH) for line in ends))
    return printable("\n\n".join(parts), keep="\n")


def as_html(panel: Panel, notes: tuple[str, ...] = ()) -> str:
    """The same as an HTML fragment without a style of its own, for a notebook."""

    def line(cells: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    lines = [*(panel.verdict or ()), f"Protocol: {panel.protocol}", *notes]
    tables = [
        f"<table><caption>{escape(caption)}</caption><thead>{line(HEAD, 'th')}</thead>"
        f"<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"
        for caption, rows in _splits(panel)
    ]
    return "".join(f"<p>{escape(text)}</p>" for text in lines) + "".join(tables)
