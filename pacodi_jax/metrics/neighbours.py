"""Nearest neighbours among windows: memorisation, density and coverage."""

from typing import NamedTuple

import numpy as np

from pacodi_jax.metrics.inputs import checked

NEIGHBOURS = 5
#: Rows of the two sides of a block of distances.
CHUNK, BLOCK = 1024, 8192


class NearestNeighbour(NamedTuple):
    """How far synthetic windows stay from the training windows.

    Attributes:
      ratio: median distance of synthetic windows over that of held-out ones: near 1 for unseen
        data, near 0 for copies.
      copied: share of synthetic windows nearer to training than 95 % of held-out windows are;
        0.05 is expected of unseen data.
      distance: of each synthetic window to its nearest training window, ``(M,)``.
      row: which training window that is, ``(M,)``.
      held_out_distance: of each held-out window to its nearest training window.
    """

    ratio: float
    copied: float
    distance: np.ndarray
    row: np.ndarray
    held_out_distance: np.ndarray


def _flatten(windows: np.ndarray) -> np.ndarray:
    return np.asarray(windows, np.float32).reshape(len(windows), -1)


def _squared_distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances ``(n, m)`` between rows, in float64 so that copies are at 0."""
    first, second = first.astype(np.float64), second.astype(np.float64)
    squares = (first**2).sum(1)[:, None] + (second**2).sum(1)[None]
    return np.maximum(squares - 2 * first @ second.T, 0.0)


def nearest(
    windows: np.ndarray,
    others: np.ndarray,
    k: int = 1,
    places: tuple[np.ndarray, np.ndarray] | None = None,
    apart: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """The distance of each of ``windows`` to the k-th nearest of ``others``, per coordinate.

    Both sides are taken in blocks, so that memory does not grow with their number.

    Args:
      windows: ``(N, L, C)``.
      others: ``(M, L, C)``.
      k: which neighbour, from 1.
      places: ``(N,)`` and ``(M,)``, the positions of the windows, if close pairs are left out.
      apart: the least distance between the positions of two neighbours.

    Returns:
      Root mean squared distance ``(N,)`` and the neighbour's row ``(N,)``.
    """
    queries, rows = _flatten(windows), _flatten(others)
    squares, found = np.full((len(queries), k), np.inf), np.zeros((len(queries), k), np.int64)
    for start in range(0, len(queries), CHUNK):
        mine = slice(start, start + CHUNK)
        for first in range(0, len(rows), BLOCK):
            theirs = slice(first, first + BLOCK)
            block = _squared_distances(queries[mine], rows[theirs])
            if places is not None:
                block[np.abs(places[0][mine, None] - places[1][None, theirs]) < apart] = np.inf
            squares[mine], found[mine] = _least(squares[mine], found[mine], block, first)
    last = squares.argmax(axis=1)[:, None]  # of the k nearest
    taken = (np.take_along_axis(part, last, axis=1)[:, 0] for part in (squares, found))
    return np.sqrt(next(taken) / queries.shape[1]), next(taken)


def _least(
    squares: np.ndarray, found: np.ndarray, block: np.ndarray, first: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k least of ``squares (n, k)`` and of a ``block (n, b)``, with the rows they belong to."""
    k = squares.shape[1]
    if k == 1:
        order = block.argmin(axis=1)[:, None]
    else:
        order = np.argpartition(block, min(k, block.shape[1]) - 1, axis=1)[:, :k]
    both = np.concatenate([squares, np.take_along_axis(block, order, axis=1)], axis=1)
    rows = np.concatenate([found, order + first], axis=1)
    least = np.argpartition(both, k - 1, axis=1)[:, :k]
    return np.take_along_axis(both, least, axis=1), np.take_along_axis(rows, least, axis=1)


def _nearest_other(windows: np.ndarray, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """:func:`nearest` among the windows themselves, none being its own neighbour."""
    rows = np.arange(len(windows))
    return nearest(windows, windows, k, (rows, rows))


def nearest_neighbour(
    train: np.ndarray, synthetic: np.ndarray, held_out: np.ndarray | None = None
) -> NearestNeighbour:
    """Compares the distance to the nearest training window with that of held-out windows.

    Args:
      train: ``(N, L, C)``, what the generator saw.
      synthetic: ``(M, L, C)``.
      held_out: ``(H, L, C)``, real windows it did not see. Without them the training windows'
        distances to one another stand in; where windows overlap these are small, and only exact
        copies are found.
    """
    distance, row = nearest(synthetic, train)
    if held_out is None:
        reference, _ = _nearest_other(train)
    else:
        reference, _ = nearest(held_out, train)
    middle = float(np.maximum(np.median(reference), np.finfo(np.float32).tiny))
    copied = float((distance < np.quantile(reference, 0.05)).mean())
    return NearestNeighbour(float(np.median(distance)) / middle, copied, distance, row, reference)


def _inside_balls(real: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """Whether synthetic window j lies in real window i's ball, ``(N, M)``.

    The ball reaches to the real window's fifth nearest real neighbour.
    """
    radius, _ = _nearest_other(real, k=NEIGHBOURS)
    squares = _squared_distances(_flatten(real), _flatten(synthetic))
    return squares <= (radius**2 * real[0].size)[:, None]


@checked(at_least=NEIGHBOURS + 1)
def density(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """How many real neighbourhoods a synthetic window lies in, over k; 1 for real windows.

    After Naeem et al., "Reliable Fidelity and Diversity Metrics for Generative Models", 2020,
    with k = 5, in the space of flattened windows.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: unused; the score has no randomness.
    """
    del seed
    return float(_inside_balls(real, synthetic).sum() / (NEIGHBOURS * len(synthetic)))


@checked(at_least=NEIGHBOURS + 1)
def coverage(real: np.ndarray, synthetic: np.ndarray, *, seed: int) -> float:
    """Share of real windows with a synthetic window in their neighbourhood; see ``density``.

    Args:
      real: ``(N, L, C)``.
      synthetic: ``(M, L, C)``.
      seed: unused; the score has no randomness.
    """
    del seed
    return float(_inside_balls(real, synthetic).any(axis=1).mean())
