"""From numbers to words: where a score lies between floor and ceiling, and what that means."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.stats

from pacodi_jax.metrics import copying
from pacodi_jax.metrics.privacy import Privacy
from pacodi_jax.metrics.results import Memorisation
from pacodi_jax.metrics.score import Estimate, Score

#: The word for each range of the position between floor (0) and ceiling (1), by its upper end.
WORDS = ((0.05, "close to real"), (0.25, "visibly different"), (0.8, "clearly different"))
FLOOR = "at the floor"
UNCLEAR = "unclear, add seeds"
BLIND = "cannot tell on this data"
#: Floor and ceiling are not separated, but two seeds hardly separate anything.
FEW = "too few seeds to tell"
WORST = "no better than shuffled or noise"
SIGNIFICANCE = 0.01


class Judgement(NamedTuple):
    """What floor and ceiling say of a score; see :class:`pacodi_jax.metrics.score.Score`."""

    position: float
    above_floor: bool
    word: str


def _loss(better: str, estimate: Estimate) -> np.ndarray:
    """The values of an estimate, turned so that lower is better."""
    assert estimate.values is not None, "a judgement needs the values per seed"
    array = np.asarray(estimate.values, np.float64)
    if better == "one":
        return np.abs(np.log(np.maximum(array, 1e-9)))
    return -array if better == "higher" else array


def _differs(score: np.ndarray, floor: np.ndarray) -> bool:
    """Whether the score lies above the floor at 1 %: a one-sided Welch test over seeds.

    With one or two values on a side their own spread says little, and both sides share theirs.
    """
    gap = score.mean() - floor.mean()
    sides = score, floor
    if min(map(len, sides)) < 3:
        freedom = max(len(score) + len(floor) - 2, 1)
        spread = sum(np.var(v) * len(v) for v in sides) / freedom
        error = spread * sum(1 / len(v) for v in sides)
    else:
        parts = [np.var(v, ddof=1) / len(v) for v in sides]
        error = sum(parts)
        squares = sum(p**2 / (len(v) - 1) for p, v in zip(parts, sides, strict=True))
        freedom = error**2 / squares if squares > 0 else 1
    if error <= 1e-24:
        return bool(gap > 1e-12)
    return bool(scipy.stats.t.sf(gap / np.sqrt(error), freedom) < SIGNIFICANCE)


def judge_score(better: str, measured: Estimate, floor: Estimate, ceiling: Estimate) -> Judgement:
    """Places a score between its floor and its ceiling.

    Args:
      better: ``"lower"``, ``"higher"`` or ``"one"``.
      measured: the synthetic windows' score.
      floor: the score of other real windows.
      ceiling: the score of a destroyed copy.

    Returns:
      The position, clipped to [0, 1]; whether the score differs from the floor; and its word.
    """
    score, low, high = (_loss(better, part) for part in (measured, floor, ceiling))
    room = high.mean() - low.mean()
    position = float(np.clip((score.mean() - low.mean()) / room, 0, 1)) if room > 0 else 0.0
    above = _differs(score, low)
    reached = next((word for end, word in WORDS if position <= end), WORST)
    word = reached if above else FLOOR if position <= WORDS[0][0] else UNCLEAR
    if not _differs(high, low):
        word = BLIND if len(low) > 2 else FEW
    if better == "one":
        word = copying.word(measured.value)
    return Judgement(position, above, word)


def sentences(
    scores: Sequence[Score],
    memorisation: Memorisation | None = None,
    privacy: Privacy | None = None,
) -> tuple[str, ...]:
    """Returns the verdict in sentences, the most important first: copying, then likeness.

    Args:
      scores: of one evaluation.
      memorisation: distances to the training windows, if they were measured.
      privacy: what else was found of copies.
    """
    plain = [s for s in scores if s.split == "train" and not s.is_memorisation]
    off = sorted((s for s in plain if s.above_floor), key=lambda s: -_position(s))
    alarms, calm = copying.sentences(memorisation, privacy)
    lines = [*alarms, _headline(len(plain), off)] if plain else alarms
    if plain and len(plain[0].measured.values or ()) < 2:
        lines.append("One seed only: a difference from the floor may be chance. Run several.")
    if off:
        worst = ", ".join(f"{s.label} ({s.word})" for s in off[:3])
        lines.append(f"Furthest from real: {worst}.")
    fine = [s.label for s in plain if s.word == FLOOR]
    if fine and off:
        lines.append(f"As good as other real windows: {', '.join(fine)}.")
    return (*lines, *calm, *_shift(scores))


def settled(
    score: Score, memorisation: Memorisation | None, privacy: Privacy | None = None
) -> Score:
    """The score on copying with the audit's word, which leaves overlaps and drift out."""
    if memorisation is None or not score.is_memorisation:
        return score
    found = copying.alarms(memorisation, privacy)
    return replace(score, word=copying.COPIES if found else copying.NOT_COPIED)


def _position(score: Score) -> float:
    assert score.position is not None, "the sentences need the position of every score"
    return score.position


def _headline(count: int, off: list[Score]) -> str:
    if not off:
        return "No score distinguishes these synthetic windows from real ones."
    verb = "distinguishes" if len(off) == 1 else "distinguish"
    found = f"{len(off)} of {count} scores {verb} them"
    if _position(off[0]) > WORDS[1][0]:
        easily = "easily" if len(off) == 1 else "some of them easily"
        return f"These windows differ from real ones: {found}, {easily}."
    if _position(off[0]) > WORDS[0][0]:
        return f"These windows are near the real ones, with visible differences: {found}."
    return f"These windows are close to real: {found}, but barely."


def _shift(scores: Sequence[Score]) -> list[str]:
    """Names the scores that are at the floor on train but above it on held-out windows."""
    fine = {s.name for s in scores if s.split == "train" and not s.above_floor}
    worse = [s.label for s in scores if s.split == "held_out" and s.above_floor and s.name in fine]
    return [f"Fine on train but not on held-out windows: {', '.join(worse)}."] if worse else []
