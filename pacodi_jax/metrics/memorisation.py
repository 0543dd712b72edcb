"""Memorisation as a score of the panel: has the generator copied its training windows?"""

import numpy as np

from pacodi_jax.metrics import draws, neighbours
from pacodi_jax.metrics.registry import Metric

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
