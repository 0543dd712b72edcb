"""Membership inference: how well training windows are distinguished from unseen ones."""

import numpy as np
import scipy.stats

from pacodi_jax.metrics import neighbours
from pacodi_jax.metrics.privacy import Attack

#: Distances below this share of the scale are rounding.
TINY = 1e-6
#: Of few training windows even surrogates give much away, one more than the other: so many are
#: drawn below so many windows, and the floor is the greatest.
SURROGATES, FEW = 5, 1000


def auc(
    members: np.ndarray, outsiders: np.ndarray, blocks: tuple[np.ndarray, np.ndarray]
) -> tuple[float, tuple[float, float]]:
    """P(member's score > outsider's) + ½ P(equal), and its 95 % interval.

    DeLong's variance over blocks: windows that overlap say the same, so the placement values of a
    block are averaged first (Obuchowski, "Nonparametric analysis of clustered ROC curve data",
    1997).

    Args:
      members: scores ``(n,)``, higher for what looks like a member.
      outsiders: scores ``(m,)``.
      blocks: ``(n,)`` and ``(m,)``, which block each of them belongs to.
    """
    placed = (_placements(members, outsiders), 1 - _placements(outsiders, members))
    value = float(placed[0].mean())
    variance = sum(_of_mean(p - value, block) for p, block in zip(placed, blocks, strict=True))
    half = float(scipy.stats.norm.ppf(0.975) * np.sqrt(variance))
    return value, (max(0.0, value - half), min(1.0, value + half))


def _placements(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """For each of ours, the share of theirs below it, ties by half."""
    ordered = np.sort(theirs)
    below, upto = (np.searchsorted(ordered, ours, side) for side in ("left", "right"))
    return (below + upto) / (2 * len(ordered))


def _of_mean(deviations: np.ndarray, blocks: np.ndarray) -> float:
    """The variance of the mean of deviations that are dependent within blocks."""
    _, block = np.unique(blocks, return_inverse=True)
    sums = np.bincount(block, deviations)
    count = len(sums)
    return float((sums**2).sum() / len(deviations) ** 2 * count / max(count - 1, 1))


def gaussian(train: np.ndarray, count: int, *, seed: int) -> np.ndarray:
    """Windows of a normal law with the mean and covariance of ``train (N, L, C)``: no memory.

    x = μ + Xᵀz/√N with z standard normal has the covariance XᵀX/N without a decomposition.
    """
    flat = train.reshape(len(train), -1)
    mean = flat.mean(axis=0)
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((count, len(flat)), np.float32) @ (flat - mean)
    return (mean + drawn / np.sqrt(len(flat))).reshape(count, *train.shape[1:])


def evidence(windows: np.ndarray, synthetic: np.ndarray, usual: np.ndarray | None) -> np.ndarray:
    """How near the synthetic windows come to each of ``windows``, higher for nearer.

    Args:
      windows: ``(N, L, C)``, those that are attacked.
      synthetic: ``(M, L, C)``, what the attacker holds.
      usual: ``(N,)``, how near other training windows come. Windows in dense regions are near
        to everything; without it the plain distance decides.
    """
    distance = np.log(np.maximum(neighbours.nearest(windows, synthetic)[0], TINY))
    return -distance if usual is None else np.log(np.maximum(usual, TINY)) - distance


def distance_attack(
    members: np.ndarray,
    outsiders: np.ndarray,
    synthetic: np.ndarray,
    train: np.ndarray,
    *,
    usual: tuple[np.ndarray, np.ndarray] | None,
    blocks: tuple[np.ndarray, np.ndarray],
    seed: int = 0,
) -> Attack:
    """Attacks with nothing but the synthetic windows.

    Args:
      members: ``(n, L, C)`` training windows.
      outsiders: ``(m, L, C)`` unseen windows.
      synthetic: ``(M, L, C)``.
      train: ``(N, L, C)``, for the control (a Gaussian surrogate) and the ceiling (a copy).
      usual: how near other training windows come to members and to outsiders, if known.
      blocks: of members and of outsiders; see :func:`auc`.
      seed: of the surrogate.
    """

    def against(made: np.ndarray) -> tuple[float, tuple[float, float]]:
        known = usual or (None, None)
        sides = [
            evidence(part, made, near)
            for part, near in zip((members, outsiders), known, strict=True)
        ]
        return auc(sides[0], sides[1], blocks)

    rng, size = np.random.default_rng(seed), min(len(synthetic), len(train))
    some = train[np.sort(rng.permutation(len(train))[:3000])]
    value, interval = against(synthetic)
    drawn = SURROGATES if len(train) < FEW else 1
    control = max(against(gaussian(some, size, seed=seed + i))[1][1] for i in range(drawn))
    ceiling = against(train[np.sort(rng.permutation(len(train))[:size])])[0]
    return Attack("distance", value, interval, control, ceiling, len(members), len(outsiders))
