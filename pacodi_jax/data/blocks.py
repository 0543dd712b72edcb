"""A split whose parts share one law: blocks of rows, every k-th of them kept from train."""

import itertools
from collections.abc import Sequence

import numpy as np

from pacodi_jax.data.splits import GAP, HELD_OUT, TRAIN, VALIDATION
from pacodi_jax.errors import PacodiError

#: A block has the rows of so many windows, unless its length is given.
WINDOWS = 4


def block_rows(block: int, length: int) -> int:
    """Rows of a block: as given, or those of four windows."""
    return block or WINDOWS * length


def by_blocks(
    bounds: np.ndarray, fractions: Sequence[float], length: int, block: int, seed: int
) -> np.ndarray:
    """Cuts every series into blocks and gives every k-th to validation and held-out, in turn.

    Blocks that are not train's stand as evenly as whole blocks can; ``seed`` says where they begin.
    At each border between parts a gap of one window's length is taken, from train where it can be.

    Args:
      bounds: ``(S + 1,)`` where the series begin and end.
      fractions: of train, validation and held-out, of the blocks.
      length: L, of the gap.
      block: rows per block; 0 takes four windows. The last block of a series has what is left.
      seed: of the first block that is not train's.

    Returns:
      ``(T,)`` int8, the part of each row.

    Raises:
      PacodiError: if a block holds no window, or there are too few blocks for the fractions.
    """
    rows = block_rows(block, length)
    if rows < length:
        raise PacodiError(
            f"data.block={rows} rows hold no window of data.length={length}; accepted: {length} "
            f"rows and more, or 0 for {WINDOWS} windows"
        )
    out = np.zeros(bounds[-1], np.int8)
    counts = [max((end - begin) // rows, 1) for begin, end in itertools.pairwise(bounds.tolist())]
    kinds = _kinds(sum(counts), fractions, seed)
    _check(kinds, fractions, bounds, rows, length)
    first = 0
    for (begin, end), count in zip(itertools.pairwise(bounds.tolist()), counts, strict=True):
        edges = [begin + rows * i for i in range(count)] + [end]
        own = kinds[first : first + count]
        for kind, (one, other) in zip(own, itertools.pairwise(edges), strict=True):
            out[one:other] = kind
        _take_gaps(out[begin:end], length)
        first += count
    return out


def _kinds(count: int, fractions: Sequence[float], seed: int) -> np.ndarray:
    """The part of each block: a share of them, evenly spaced, is not train's."""
    _, validation, held_out = fractions
    offset = np.random.default_rng(seed).random()
    kept = _every(count, validation + held_out, offset)
    kinds = np.full(count, TRAIN, np.int8)
    where = np.flatnonzero(kept)
    share = held_out / (validation + held_out) if validation + held_out else 0.0
    unseen = _every(len(where), share, offset)
    kinds[where] = np.where(unseen, HELD_OUT, VALIDATION)
    return kinds


def _every(count: int, share: float, offset: float) -> np.ndarray:
    """Marks ``share`` of ``count`` places, as evenly as whole places can stand: ``(count,)``."""
    steps = np.floor(share * np.arange(count + 1) + offset + 1e-9)
    return np.diff(steps) > 0


def _take_gaps(parts: np.ndarray, length: int) -> None:
    """Empties ``length`` rows at each border of one series, in place; train's if it has a side."""
    given = parts.copy()
    for border in (np.flatnonzero(np.diff(given)) + 1).tolist():
        after = given[border - 1] != TRAIN
        first = border if after else max(border - length, 0)
        parts[first : first + length if after else border] = GAP


def _check(
    kinds: np.ndarray, fractions: Sequence[float], bounds: np.ndarray, rows: int, length: int
) -> None:
    """Refuses data too short for one block of every part that has a share."""
    wanted = {TRAIN: "train", VALIDATION: "validation", HELD_OUT: "held-out"}
    for (part, name), share in zip(wanted.items(), fractions, strict=True):
        if share and part not in kinds:
            total, needed = int(bounds[-1]), int(np.ceil(2 / min(f for f in fractions if f)))
            fits = total // needed
            advice = (
                f"data.block={fits} would give {needed}"
                if fits >= 3 * length
                else f"so few rows need a data.length of {max(fits // 3, 2)} or less, "
                f"larger shares, or data.split='time'"
            )
            raise PacodiError(
                f"data.split='blocks' leaves no {name} block: {total:,} rows make {len(kinds)} "
                f"blocks of {rows} rows, of which {share:.0%} are {name}; {advice}"
            )
