"""Cuts in time before anything is fitted, and the windows that fit between the cuts."""

import itertools
from collections.abc import Sequence

import numpy as np

from pacodi_jax.errors import PacodiError

#: The parts of a split, as numbers in the arrays below; 0 is the gap that no part uses.
GAP, TRAIN, VALIDATION, HELD_OUT = 0, 1, 2, 3
#: The share of windows that the paper's protocol trains on.
PAPER_TRAIN = 0.9


def check_fractions(fractions: Sequence[float]) -> tuple[float, float, float]:
    """Returns train, validation and held-out fractions; they must sum to 1, train above 0."""
    if len(fractions) != 3:
        raise PacodiError(
            f"data.fractions={tuple(fractions)}: expected three: train, validation, held-out"
        )
    try:
        train, validation, held_out = (float(f) for f in fractions)
    except (TypeError, ValueError) as error:
        raise PacodiError(f"data.fractions={tuple(fractions)}: {error}") from error
    if not all(0 <= f <= 1 for f in (train, validation, held_out)) or train == 0:
        raise PacodiError(
            f"data.fractions={tuple(fractions)}: each lies in [0, 1], and train above 0"
        )
    if abs(train + validation + held_out - 1) > 1e-6:
        raise PacodiError(
            f"data.fractions={tuple(fractions)} sum to {train + validation + held_out:g}, not to 1"
        )
    return train, validation, held_out


def by_time(bounds: np.ndarray, fractions: Sequence[float], gap: int) -> np.ndarray:
    """Cuts every series in time: train | gap of ``gap`` rows | validation | held-out.

    Args:
      bounds: ``(S + 1,)`` where the series begin and end.
      fractions: of train, validation and held-out, of what is left without the gap.
      gap: rows after train that no part has; one window's length.

    Returns:
      ``(T,)`` int8, the part of each row.
    """
    out = np.zeros(bounds[-1], np.int8)
    train, validation, _ = fractions
    gap = 0 if train == 1 else gap
    for begin, end in itertools.pairwise(bounds.tolist()):
        rows = max(end - begin - gap, 0)
        first = begin + round(rows * train)
        second = begin + round(rows * (train + validation)) + gap
        out[begin:first] = TRAIN
        out[first + gap : second] = VALIDATION
        out[second:end] = HELD_OUT
    return out


def by_series(bounds: np.ndarray, fractions: Sequence[float], seed: int) -> np.ndarray:
    """Gives whole series to the parts, drawn by ``seed``; returns ``(T,)`` int8."""
    count = len(bounds) - 1
    train, validation, _ = fractions
    order = np.random.default_rng(seed).permutation(count)
    part = np.full(count, HELD_OUT, np.int8)
    part[order[: round(count * (train + validation))]] = VALIDATION
    part[order[: round(count * train)]] = TRAIN
    return np.repeat(part, np.diff(bounds))


def starts(allowed: np.ndarray, cut: np.ndarray, length: int, stride: int) -> np.ndarray:
    """First rows of every window of ``length`` allowed rows that holds no cut after its first row.

    Args:
      allowed: ``(T,)`` rows that may be used.
      cut: ``(T,)`` rows that do not follow the row before them.
      length: the window's length.
      stride: from one window to the next within an unbroken run.

    Returns:
      ``(N,)`` rising row numbers, int32 where they fit.
    """
    begins = allowed.copy()
    begins[1:] &= ~allowed[:-1] | cut[1:]
    begin = np.flatnonzero(begins)
    ends = allowed.copy()
    ends[:-1] &= ~allowed[1:] | cut[1:]
    end = np.flatnonzero(ends) + 1
    counts = np.maximum((end - begin - length) // stride + 1, 0)
    dtype = np.int32 if len(allowed) < 2**31 else np.int64
    within = np.arange(counts.sum(), dtype=dtype)
    offset = begin - stride * (counts.cumsum() - counts)
    within *= stride
    within += np.repeat(offset.astype(dtype), counts)
    return within


def parts(
    bounds: np.ndarray, split: str, fractions: Sequence[float], length: int, seed: int
) -> np.ndarray:
    """The part of each row, ``(T,)`` int8; ``split='paper'`` makes all rows one part."""
    if split == "paper":
        return np.full(bounds[-1], TRAIN, np.int8)
    if split == "time":
        return by_time(bounds, fractions, length)
    return by_series(bounds, fractions, seed)


def edges(cut: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Where a new stretch begins: at a cut, and where one part ends and another begins."""
    begins = cut.copy()
    begins[1:] |= parts[1:] != parts[:-1]
    return begins


def part_starts(
    parts: np.ndarray,
    cut: np.ndarray,
    broken: np.ndarray,
    length: int,
    stride: int,
    fractions: Sequence[float],
    paper: bool,
) -> list[np.ndarray]:
    """First rows of the windows of train, validation and held-out."""
    if paper:
        every = starts(~broken, cut, length, stride)
        edge = round(len(every) * PAPER_TRAIN)
        found = [every[:edge], every[edge:], every[edge:]]
        needed = [PAPER_TRAIN, 1 - PAPER_TRAIN, 1 - PAPER_TRAIN]
    else:
        kinds = (TRAIN, VALIDATION, HELD_OUT)
        found = [starts((parts == p) & ~broken, cut, length, stride) for p in kinds]
        needed = list(fractions)
    for name, begin, share in zip(("train", "validation", "held-out"), found, needed, strict=True):
        if not len(begin) and share:
            raise no_window(name, length, share, len(parts))
    return found


def no_window(part: str, length: int, share: float, rows: int) -> PacodiError:
    """The error for a part that holds no window."""
    return PacodiError(
        f"no window of length {length} fits into the {part} part: it gets {share:.0%} of {rows:,} "
        "rows, less a gap of one window, cut where values are missing or a static or text column "
        "changes. Shorten the window, change fractions or raise max_gap; for many short series "
        "take split='series'"
    )
