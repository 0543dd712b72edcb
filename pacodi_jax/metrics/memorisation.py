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
    """The yardstick (held-out windows, or else train) and the windows in question.

    Those are synthetic, unseen (floor) or copied (ceiling). Without held-out windows, unseen are
    the real windows of one half, looked for in the other.
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
) -> dict[str, float]:
    """Median distances to the nearest training window, of synthetic and of real windows.

    Windows cut with stride 1 overlap, so a training window's nearest neighbour is itself one step
    later. The yardstick is therefore its nearest neighbour at least L steps away, in the whole
    series: a generator that copies stays below it.

    Args:
      train: ``(N, L, C)``, what the generator saw.
      starts: ``(N,)``, the row at which each of them begins.
      synthetic: ``(M, L, C)``.
      held_out: ``(H, L, C)``, real windows it did not see, or ``None``.
      limit: at most so many windows of each kind are looked up, evenly spread.

    Returns:
      Medians ``synthetic``, ``train_apart`` and, if there are any, ``held_out``, of root mean
      squared distances after min–max scaling by train; and ``ratio``, the first over the second.
    """
    low, high = train.min(axis=(0, 1)), train.max(axis=(0, 1))
    span = np.where(high > low, high - low, 1.0)
    train, synthetic = (train - low) / span, (synthetic - low) / span

    def spread(part: np.ndarray) -> np.ndarray:
        return np.unique(np.linspace(0, len(part) - 1, min(limit, len(part))).astype(int))

    chosen, seen = spread(synthetic), spread(train)
    places, length = (starts[seen], starts), train.shape[1]
    medians = {
        "synthetic": np.median(neighbours.nearest(synthetic[chosen], train)[0]),
        "train_apart": np.median(
            neighbours.nearest(train[seen], train, places=places, apart=length)[0]
        ),
    }
    if held_out is not None:
        unseen = ((held_out - low) / span)[spread(held_out)]
        medians["held_out"] = np.median(neighbours.nearest(unseen, train)[0])
    found = {name: float(value) for name, value in medians.items()}
    return found | {"ratio": found["synthetic"] / max(found["train_apart"], 1e-12)}
