"""The audit for copies: distances to training windows, from both sides, and the attack."""

from dataclasses import replace

import numpy as np

from pacodi_jax.metrics import neighbours
from pacodi_jax.metrics.attack import FEW, SURROGATES, TINY, distance_attack, gaussian
from pacodi_jax.metrics.privacy import Copy, Privacy
from pacodi_jax.metrics.results import Memorisation

#: At most so many windows of each kind are looked up, evenly spread; and held by an attacker.
LIMIT, HELD = 3000, 15_000
SHOWN = 10
#: Held-out windows farther from train than this, relative to train's own, have drifted.
DRIFTED = 1.25


def spread(count: int, limit: int = LIMIT) -> np.ndarray:
    """Rows of at most ``limit`` of ``count`` windows, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(limit, count)).astype(int))


def places(windows: np.ndarray) -> np.ndarray | None:
    """Where windows ``(N, L, C)`` in order of time begin, by their overlaps; None if none do.

    A window that does not continue the one before begins L steps after it.
    """
    length = windows.shape[1]
    steps = np.full(len(windows) - 1, length)
    for shift in range(1, length):
        open_ = np.flatnonzero(steps == length)
        same = windows[open_, shift] == windows[open_ + 1, 0]
        near = open_[same.all(axis=1)]
        whole = windows[near][:, shift:] == windows[near + 1][:, : length - shift]
        steps[near[whole.all(axis=(1, 2))]] = shift
    return None if (steps == length).all() else np.concatenate([[0], np.cumsum(steps)])


def audit(
    train: np.ndarray,
    synthetic: np.ndarray,
    held_out: np.ndarray | None,
    starts: np.ndarray | None = None,
) -> tuple[Memorisation, Privacy]:
    """Looks for copies of training windows among synthetic ones, and attacks membership.

    Windows cut with stride 1 overlap, so a training window's nearest neighbour is itself one step
    later. Where places are known, neighbours within L steps are left out.

    Args:
      train: ``(N, L, C)``, what the generator saw, in the order of time if they have one.
      synthetic: ``(M, L, C)``, in the same units.
      held_out: ``(H, L, C)``, real windows it did not see, or None.
      starts: ``(N,)``, the row at which each training window begins; None to find out.

    Returns:
      Median distances after min–max scaling by train, and the rest.
    """
    starts = places(train) if starts is None else starts
    low, high = train.min(axis=(0, 1)), train.max(axis=(0, 1))
    span = np.where(high > low, high - low, 1.0)
    train, synthetic = (((part - low) / span).astype(np.float32) for part in (train, synthetic))
    chosen, seen = spread(len(synthetic)), spread(len(train))
    distance, row = neighbours.nearest(synthetic[chosen], train)
    apart = _apart(train, seen, starts)
    unseen = None if held_out is None else ((held_out - low) / span).astype(np.float32)
    far = None if unseen is None else neighbours.nearest(unseen[spread(len(unseen))], train)[0]
    memorisation = _medians(distance, apart, far, starts is not None)
    privacy = _copies(chosen, distance, row, apart, seen, far)
    if unseen is None or far is None:
        return memorisation, privacy
    share, chance = nearer_than_any(distance, far)
    blocks = _blocks(starts, seen, unseen)
    drifted = bool(np.median(far) > DRIFTED * np.median(apart))
    attack = distance_attack(
        train[seen],
        unseen[spread(len(unseen))],
        synthetic[spread(len(synthetic), HELD)],
        train,
        usual=None if starts is None else (apart, far),
        blocks=blocks,
    )
    found = replace(
        privacy,
        nearer=share,
        nearer_chance=chance,
        nearer_sure=(1 - share) ** len(np.unique(blocks[1])) < 0.01
        and share > _surrogates_nearer(train, far)
        and not drifted,
        attacks=(attack,),
    )
    return memorisation, found


def _apart(train: np.ndarray, rows: np.ndarray, starts: np.ndarray | None) -> np.ndarray:
    """The distance of some training windows to the nearest other one, or one L steps away."""
    at = np.arange(len(train)) if starts is None else starts
    apart = 1 if starts is None else train.shape[1]
    found = neighbours.nearest(train[rows], train, places=(at[rows], at), apart=apart)[0]
    return np.where(np.isfinite(found), found, 1.0)  # all of train within L steps


def _medians(
    distance: np.ndarray, apart: np.ndarray, far: np.ndarray | None, ordered: bool
) -> Memorisation:
    """The medians; windows whose order is unknown are compared with held-out ones."""
    own, usual = float(np.median(distance)), float(np.median(apart))
    unseen = None if far is None else float(np.median(far))
    reference = "train_apart" if ordered else "train" if unseen is None else "held_out"
    against = usual if unseen is None or ordered else unseen
    return Memorisation(own, usual, unseen, own / max(against, 1e-12), reference)


def _copies(
    chosen: np.ndarray,
    distance: np.ndarray,
    row: np.ndarray,
    apart: np.ndarray,
    seen: np.ndarray,
    far: np.ndarray | None,
) -> Privacy:
    """Shares of copies, and the most copied: nearest relative to what is usual around there."""
    around = np.interp(row, seen, apart)
    ratio = distance / np.maximum(around, max(float(np.median(apart)) * 0.1, TINY))
    most = tuple(
        Copy(int(chosen[i]), int(row[i]), float(distance[i]), float(ratio[i]))
        for i in np.argsort(ratio, kind="stable")[:SHOWN]
    )
    real = apart if far is None else far
    return Privacy(
        len(chosen), float((distance <= TINY).mean()), float((real <= TINY).mean()), most
    )


def nearer_than_any(distance: np.ndarray, far: np.ndarray) -> tuple[float, float]:
    """The share of ``distance`` below all of ``far``, and its expectation 1 / (1 + n) by chance."""
    return float((distance < far.min()).mean()), 1 / (1 + len(far))


def _surrogates_nearer(train: np.ndarray, far: np.ndarray) -> float:
    """What share even surrogates of few training windows have nearer than any held-out window.

    The greatest of some, and a tenth for the chance of their draws; 0 for many windows.
    """
    if len(train) >= FEW:
        return 0.0
    made = (gaussian(train, LIMIT // 10, seed=seed) for seed in range(SURROGATES))
    shares = [nearer_than_any(neighbours.nearest(each, train)[0], far)[0] for each in made]
    return max(shares) + 0.1 if max(shares) > 0 else 0.0


def _blocks(
    starts: np.ndarray | None, seen: np.ndarray, unseen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which block of L steps the members ``seen`` and the held-out windows looked at are in."""
    rows, length, at = spread(len(unseen)), unseen.shape[1], places(unseen)
    members = seen if starts is None else starts[seen] // length
    return members, rows if at is None else at[rows] // length
