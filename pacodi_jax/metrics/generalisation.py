"""Generalisation: how well synthetic windows stand for data nobody saw, beside real ones."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics import correlation, spectra, transport, ts2vec
from pacodi_jax.metrics.draws import LEAST
from pacodi_jax.metrics.frechet import frechet_distance
from pacodi_jax.metrics.inputs import check_alike, check_windows, fit_scale

#: More blocks than this are joined with their neighbours: each costs two more distances.
GROUPS = 10
#: ``(unseen, other) -> float``.
Distance = Callable[[np.ndarray, np.ndarray], float]


class Generalisation(NamedTuple):
    """One distance of synthetic windows to unseen ones, over that of train to unseen ones.

    Attributes:
      name: of the distance.
      ratio: at most 1 means as good as real data at standing for data nobody saw.
      interval: of the ratio at 95 %, over blocks.
      synthetic: the distance from synthetic to unseen windows.
      train: the distance from train to unseen windows.
      blocks: of unseen windows, the interval's sample.
    """

    name: str
    ratio: float
    interval: tuple[float, float]
    synthetic: float
    train: float
    blocks: int

    @property
    def label(self) -> str:
        """The ratio and its interval."""
        low, high = self.interval
        return f"{self.name} {self.ratio:.2f} ({low:.2f} to {high:.2f}, {self.blocks} blocks)"


class Compared(NamedTuple):
    """What one distance compares: rows of windows, or of their representations."""

    train: np.ndarray
    synthetic: np.ndarray
    unseen: np.ndarray


def stretches(starts: np.ndarray, length: int) -> np.ndarray:
    """Numbers the blocks that windows come from, ``(N,)``: windows of two share no row.

    Args:
      starts: ``(N,)``, rising, the first row of each window.
      length: L.
    """
    return np.concatenate([[0], np.cumsum(np.diff(starts) >= length)])


def generalisation(
    train: np.ndarray,
    synthetic: np.ndarray,
    unseen: np.ndarray,
    blocks: np.ndarray,
    *,
    seed: int = 0,
    limit: int = 3000,
    encoder_steps: int | None = None,
) -> tuple[Generalisation, ...]:
    """r = d(synthetic, unseen) / d(train, unseen) for each distance d of the judge.

    Both numerator and denominator have equally many windows, since some distances fall with their
    number. The interval is that of the jackknife over blocks on log r, by Student's t: unseen
    windows of one block overlap, those of different blocks do not. Discriminators and forecasters
    are no distances and are left out.

    Args:
      train: ``(N, L, C)``, which also sets the scale.
      synthetic: ``(M, L, C)``.
      unseen: ``(H, L, C)``, held-out windows with the law of train, as of ``data.split=blocks``.
      blocks: ``(H,)``, the block of each unseen window, from :func:`stretches`.
      seed: of the draws and of the encoder's training.
      limit: the most windows per side.
      encoder_steps: of TS2Vec; by default the release's rule.

    Raises:
      PacodiError: for windows that cannot be compared, and for unseen windows of fewer than two
        blocks, which have no interval.
    """
    sets = _prepared(train, synthetic, unseen)
    groups = _groups(blocks, len(unseen))
    size = min(limit, len(train), len(synthetic))
    real, made = (_some(windows, size, seed) for windows in sets[:2])
    encoder = ts2vec.train(seed, real, encoder_steps)
    coded = Compared(*(ts2vec.encode(encoder, windows) for windows in (real, made, sets[2])))
    compared = Compared(real, made, sets[2])
    return (
        _ratio("Context-FID", frechet_distance, coded, groups),
        *(_ratio(name, distance, compared, groups) for name, distance in _distances(seed)),
    )


def _prepared(*sets: np.ndarray) -> list[np.ndarray]:
    """The windows of train, of the generator and unseen, checked and in train's scale."""
    named = zip(("train", "synthetic", "unseen"), sets, strict=True)
    checked = [check_windows(name, windows, LEAST) for name, windows in named]
    for name, windows in zip(("synthetic", "unseen"), checked[1:], strict=True):
        check_alike(name, windows, checked[0])
    scale = fit_scale(checked[0], None)
    return [scale.apply(windows) for windows in checked]


def _some(windows: np.ndarray, size: int, seed: int) -> np.ndarray:
    return windows[np.random.default_rng(seed).permutation(len(windows))[:size]]


def _groups(blocks: np.ndarray, count: int) -> np.ndarray:
    """Numbers blocks from 0 on and joins neighbours until there are at most ten."""
    if np.shape(blocks) != (count,):
        raise PacodiError(f"blocks have shape {np.shape(blocks)}; expected one per window: {count}")
    names, member = np.unique(blocks, return_inverse=True)
    if len(names) < 2:
        raise PacodiError(
            f"{len(names)} block of unseen windows has no interval; at least 2 are needed: take "
            "shorter blocks (data.block) or a larger held-out share (data.fractions)"
        )
    return member * min(GROUPS, len(names)) // len(names)


def _distances(seed: int) -> Iterator[tuple[str, Distance]]:
    """The judge's distances between sets of windows, by name."""
    known: dict[str, Callable[..., Any]] = {
        "Correlational": correlation.correlational_score,
        "Wasserstein (values)": transport.wasserstein,
        "Wasserstein (windows)": transport.sliced_wasserstein,
        "Autocorrelation": correlation.autocorrelation_distance,
        "Power spectrum": spectra.power_spectrum_distance,
        "Phase coherence": spectra.phase_coherence_distance,
    }
    for name, score in known.items():
        yield name, functools.partial(score, seed=seed)


def _ratio(name: str, distance: Distance, sets: Compared, groups: np.ndarray) -> Generalisation:
    """The ratio on all unseen windows, and its interval from leaving out one block at a time."""

    def both(rows: np.ndarray) -> tuple[float, float]:
        unseen = sets.unseen[rows]
        seen, made = distance(unseen, sets.train), distance(unseen, sets.synthetic)
        if not seen > 0:
            raise PacodiError(f"{name}: train and unseen windows are the same; nothing is unseen.")
        return made, seen

    made, seen = both(np.ones(len(groups), bool))
    pairs = [both(groups != group) for group in range(groups.max() + 1)]
    low, high = jackknife(np.log([max(a, 1e-12) / b for a, b in pairs]), np.log(made / seen))
    return Generalisation(name, made / seen, (low, high), made, seen, len(pairs))


def jackknife(left_out: np.ndarray, whole: float) -> tuple[float, float]:
    """exp of whole ± t·√((G−1)/G Σ(ℓ_g − ℓ̄)²): the 95 % interval of a log ratio.

    Args:
      left_out: ``(G,)``, the log ratio without each block.
      whole: the log ratio of all.
    """
    count = len(left_out)
    error = np.sqrt((count - 1) * np.var(left_out))
    half = float(scipy.stats.t.ppf(0.975, count - 1) * error)
    return float(np.exp(whole - half)), float(np.exp(whole + half))
