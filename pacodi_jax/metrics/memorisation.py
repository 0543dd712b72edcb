"""Memorisation as a score of the panel: has the generator copied its training windows?"""

import numpy as np

from pacodi_jax.metrics import draws, neighbours
from pacodi_jax.metrics.registry import Metric
from pacodi_jax.metrics.results import Memorisation

NAME = "nearest_neighbour_v1"
REFERENCE_LIMIT = 20_000


def metric(windows: draws.Windows) -> Metric:
    """Returns the score: median distance to train, over that of the reference windows.

    The reference is half of the held-out windows; without any, each training window's distance
    to the next nearest one.
    """
    train = windows.real[:REFERENCE_LIMIT]

    def ratio(reference: np.ndarray, synthetic: np.ndarray, seed: int) -> float:
        del seed
        if windows.held_out is None:
            return neighbours.nearest_neighbour(reference, synthetic).ratio
        return neighbours.nearest_neighbour(train, synthetic, reference).ratio

    own = "held-out windows" if windows.held_out is not None else "training windows from each other"
    return Metric(
        NAME,
        "Distance to training",
        f"Median distance to the nearest training window, over that of {own}; near 0 is copied.",
        "beyond",
        "one",
        True,
        lambda real, seed: real,
        ratio,
    )


def sides(
    windows: draws.Windows, metric: Metric, split: str, role: str, seed: int, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """The reference windows (held-out, or else train) and the windows whose distance is compared.

    The latter are synthetic (score), unseen (floor) or copied from train (ceiling). Without
    held-out windows, the floor compares one half of the real windows with the other.
    """
    del split
    size = draws.count(windows, "train", role, limit, metric.halves)
    source = windows.real if windows.held_out is None else windows.held_out
    order = np.random.default_rng((seed, 3)).permutation(len(source))
    middle = len(source) // 2
    reference = source[order[:middle]]
    if role == "floor":
        return reference, source[order[middle:]][:size]
    if windows.held_out is None:
        reference = windows.real[:REFERENCE_LIMIT]
    if role == "ceiling":
        return reference, windows.real[:size]
    return reference, draws.own(windows.synthetic, seed, size)


def audit(
    train: np.ndarray,
    starts: np.ndarray,
    synthetic: np.ndarray,
    held_out: np.ndarray | None,
    *,
    limit: int = 3000,
) -> Memorisation:
    """Median distances to the nearest training window, of synthetic and of real windows.

    Windows cut with stride 1 overlap, so a training window's nearest neighbour is itself one step
    later. The reference is therefore its nearest neighbour at least L steps away, in the whole
    series: windows that are copied lie nearer.

    Args:
      train: ``(N, L, C)``, what the generator saw.
      starts: ``(N,)``, the row at which each of them begins.
      synthetic: ``(M, L, C)``.
      held_out: ``(H, L, C)``, real windows it did not see, or ``None``.
      limit: at most this many windows of each kind are looked up, evenly spread.

    Returns:
      Medians of root mean squared distances after min–max scaling by train.
    """
    low, high = train.min(axis=(0, 1)), train.max(axis=(0, 1))
    span = np.where(high > low, high - low, 1.0)
    train, synthetic = (train - low) / span, (synthetic - low) / span

    def spread(part: np.ndarray) -> np.ndarray:
        return np.unique(np.linspace(0, len(part) - 1, min(limit, len(part))).astype(int))

    chosen, seen = spread(synthetic), spread(train)
    places, length = (starts[seen], starts), train.shape[1]
    own = _median(neighbours.nearest(synthetic[chosen], train))
    apart = _median(neighbours.nearest(train[seen], train, places=places, apart=length))
    unseen = None
    if held_out is not None:
        unseen = _median(neighbours.nearest(((held_out - low) / span)[spread(held_out)], train))
    return Memorisation(own, apart, unseen, own / max(apart, 1e-12))


def _median(found: tuple[np.ndarray, np.ndarray]) -> float:
    """The median of the distances that :func:`neighbours.nearest` found."""
    return float(np.median(found[0]))
