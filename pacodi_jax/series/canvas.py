"""A series with blank cells, and the windows by which they are filled, in order.

Simulating, forecasting and filling gaps are one thing: a canvas whose known cells stay and whose
blank cells are drawn, window after window, each given the cells that are known by then.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Pane(NamedTuple):
    """One window of a canvas.

    Attributes:
      start: its first row.
      accept: rows ``[low, high)`` whose blank cells it fills.
      turn: panes of one turn do not touch one another and are drawn together.
    """

    start: int
    accept: tuple[int, int]
    turn: int


def plan(
    known: np.ndarray, length: int, overlap: int, seen: np.ndarray | None = None
) -> list[Pane]:
    """The windows that fill a canvas.

    Rows that are blank in every channel over more than a window's new steps are chained: windows
    go on from what is known before, or after, or from both ends until they meet. All other blank
    cells are filled from left to right by windows that see ``overlap / 2`` rows before and after
    the rows that they fill.

    Args:
      known: ``(T, C)`` bool, T of ``length`` or more.
      length: L, rows per window.
      overlap: rows of a window that were known or drawn before, from 1 to L − 1.
      seen: ``(T, C)`` bool, cells of which something is known, if only with noise; ``known`` by
        default.

    Returns:
      The panes; a pane's turn is higher than that of every earlier pane whose window it touches.
    """
    blank = np.logical_not((known if seen is None else seen).any(axis=1))
    long = _long_runs(blank, length - overlap)
    chained = np.zeros(len(known), bool)
    for begin, end in long:
        chained[begin:end] = True
    wanted = ~known.all(axis=1) & ~chained
    spans = list(_sweep(wanted, length, overlap))
    for run in long:
        spans += _chain(run, len(known), length, overlap)
    return _with_turns(spans, len(known), length)


Span = tuple[int, tuple[int, int]]


def _long_runs(blank: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Runs ``[begin, end)`` of blank rows longer than ``most``."""
    edges = np.flatnonzero(np.diff(blank.astype(np.int8), prepend=0, append=0))
    runs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    return [(begin, end) for begin, end in runs if end - begin > most]


def _sweep(wanted: np.ndarray, length: int, overlap: int) -> Iterator[Span]:
    """Windows from left to right over rows that want a value."""
    margin, total = overlap // 2, len(wanted)
    rows = np.flatnonzero(wanted)
    place = 0
    while place < len(rows):
        start = int(np.clip(rows[place] - margin, 0, total - length))
        end = total if start + length == total else start + length - margin
        end = max(end, int(rows[place]) + 1)
        yield start, (start, end)
        place = int(np.searchsorted(rows, end))


def _chain(run: tuple[int, int], total: int, length: int, overlap: int) -> Iterator[Span]:
    """Windows into a long blank run, from each end that has something to go on from."""
    begin, end = run
    new = length - overlap
    forward, backward = begin > 0 or end == total, end < total
    while end - begin > new:
        if forward:
            start = max(begin - overlap, 0)
            yield start, (begin, min(start + length, end))
            begin = min(start + length, end)
        if backward and end - begin > new:
            stop = min(end + overlap, total)
            start = max(stop - length, 0)
            yield start, (max(start, begin), end)
            end = max(start, begin)
    if end > begin:
        middle = begin - (length - (end - begin)) // 2
        yield min(max(middle, 0), total - length), (begin, end)


def _with_turns(spans: list[Span], total: int, length: int) -> list[Pane]:
    latest = np.full(total, -1)
    panes = []
    for start, accept in spans:
        rows = slice(start, start + length)
        turn = int(latest[rows].max()) + 1
        latest[rows] = turn
        panes.append(Pane(start, accept, turn))
    return panes


class Canvas:
    """Draws of one series in the model's scale; cells are blank, observed with noise, or known.

    Attributes:
      values: ``(D, T, C)`` float32; 0 where blank.
      known: ``(T, C)`` bool, the same for all draws.
      noisy: ``(T, C)`` bool, cells that were observed with noise and are drawn anew.
      noise: ``(C,)``, the standard deviation of noisy cells.
    """

    def __init__(self, values: np.ndarray, mask: np.ndarray, noise: np.ndarray, draws: int) -> None:
        """A canvas of ``values (T, C)`` where ``mask`` is True, one copy per draw."""
        cleared = np.where(mask, values, 0).astype(np.float32)
        self.values = np.repeat(cleared[None], draws, axis=0)
        self.known = mask & (noise == 0)
        self.noisy = mask & (noise > 0)
        self.noise = noise

    def plan(self, length: int, overlap: int) -> list[Pane]:
        """The windows that fill it; see :func:`plan`."""
        return plan(self.known, length, overlap, self.known | self.noisy)

    def window(self, start: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values ``(D, L, C)``, mask and noise ``(L, C)`` of the window at a row."""
        rows = slice(start, start + length)
        noisy = self.noisy[rows]
        return self.values[:, rows], self.known[rows] | noisy, np.where(noisy, self.noise, 0)

    def accept(self, pane: Pane, drawn: np.ndarray) -> None:
        """Fills the pane's cells from its drawn windows ``(D, L, C)``; they are known from now."""
        low, high = pane.accept
        inside = drawn[:, low - pane.start : high - pane.start]
        kept = self.known[low:high]
        self.values[:, low:high] = np.where(kept, self.values[:, low:high], inside)
        self.known[low:high] = True
        self.noisy[low:high] = False
