"""Captions of any window: deterministic sentences on its shape, in several phrasings.

``caption(window, seed, split=…, yardsticks=…)`` words the measured properties of a window. The
seed picks frames, synonyms, the order of the facts and, unless all are asked for, their number, so
that models are trained on short requests ("two peaks") as well as on full descriptions.
"""

from collections.abc import Hashable
from typing import Literal, NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.text import statements
from pacodi_jax.text.claims import tell_claim, tell_pair
from pacodi_jax.text.facts import Facts, measure
from pacodi_jax.text.phrases import Split
from pacodi_jax.text.properties import Yardsticks
from pacodi_jax.text.telling import TELLERS, Teller, Words, capital, sign

Detail = Literal["full", "drawn"]

_FULL_SHARE = 0.2
#: Weight of a fact in the draw of short captions; 1 if not listed.
_READINESS = {
    "trend": 6.0,
    "story": 2.0,
    "volatility": 4.0,
    "peaks": 6.0,
    "claim": 9.0,
    "pair": 6.0,
}
_STRIKING = 16.0  # factor on that weight for two or more peaks or dips
_BRIEF = 3  # at most so many facts: such captions may count peaks without placing them

#: What short captions for training may also tell.
_LOOSE: dict[str, Teller] = {"claim": tell_claim, "pair": tell_pair}


class Told(NamedTuple):
    """A caption, and what it states if that is known; see :mod:`.statements`."""

    text: str
    stated: statements.Stated | None


def _readiness(name: str, facts: Facts) -> float:
    """The weight of a fact in short captions: high for what users ask for and what stands out."""
    many = name in ("peaks", "dips") and len(getattr(facts, name).places) > 1
    return _READINESS.get(name, 1.0) * (_STRIKING if many else 1.0)


def kinds(facts: Facts) -> dict[str, Hashable]:
    """The class of each fact that has classes, such as two peaks; uncertain counts are left out.

    Captions of one fact and one class differ in words and places only.
    """
    told: dict[str, Hashable] = {
        "level": facts.level,
        "trend": (sign(facts.trend), facts.trend.strength),
        "spread": facts.spread,
        "volatility": facts.volatility,
    }
    extremes = {"peaks": facts.peaks, "dips": facts.dips}
    told |= {name: len(found.places) for name, found in extremes.items() if found.sure}
    return told | ({"cycles": facts.cycles} if facts.cycles else {})


def _chosen(words: Words, facts: Facts, detail: Detail) -> list[str]:
    """The facts to word: all (the outline covers start and end), or a random few, often one.

    The few are drawn without replacement by weight (Efraimidis and Spirakis, 2006).
    """
    everything = [name for name in TELLERS if name not in ("start", "end")]
    if detail == "full" or words.chance() < _FULL_SHARE:
        return words.shuffled(everything)
    tellable = (*TELLERS, *_LOOSE)
    keys = {name: words.chance() ** (1.0 / _readiness(name, facts)) for name in tellable}
    few = sorted(keys, key=keys.__getitem__, reverse=True)
    return few[: 1 + int(words.chance() ** 4 * (len(few) - 1))]


def tell(facts: Facts, phrasing_seed: int, *, split: Split, detail: Detail) -> Told:
    """Words measured facts, see :func:`caption`; measuring once serves many phrasings."""
    choose("split", split, {"train": 0, "held_out": 0})
    choose("detail", detail, {"full": 0, "drawn": 0})
    words = Words(phrasing_seed, split)
    chosen = _chosen(words, facts, detail)
    words.brief = len(chosen) <= _BRIEF
    return _told(words, facts, chosen)


def word(facts: Facts, phrasing_seed: int, *, split: Split, detail: Detail) -> str:
    """The text of :func:`tell`."""
    return tell(facts, phrasing_seed, split=split, detail=detail).text


def tell_one(facts: Facts, fact: str, phrasing_seed: int, *, split: Split) -> Told:
    """Words a single measured fact, for example ``"peaks"``, or a loose ``"claim"``.

    Raises:
      PacodiError: if the window does not have it, such as cycles where there are none.
    """
    choose("split", split, {"train": 0, "held_out": 0})
    choose("fact", fact, TELLERS | _LOOSE)
    words = Words(phrasing_seed, split)
    words.brief = True
    if fact == "cycles" and not facts.cycles:
        raise PacodiError(f"the window has no {fact} to describe; choose another fact.")
    return _told(words, facts, [fact])


def _told(words: Words, facts: Facts, chosen: list[str]) -> Told:
    """Words some facts; the level if none of them has words."""
    tellers = TELLERS | _LOOSE
    told = [capital(sentence) for name in chosen if (sentence := tellers[name](words, facts))]
    told = told or [TELLERS["level"](words, facts)]
    return Told(". ".join(told) + ".", {name: v for name, v in words.stated.items() if v})


def caption(
    window: np.ndarray,
    phrasing_seed: int,
    *,
    yardsticks: Yardsticks,
    split: Split = "train",
    detail: Detail = "drawn",
) -> str:
    """Words a window: the same window, seed, split and detail always give the same text.

    Args:
      window: one channel's values ``(L,)``, in the scale of the windows behind ``yardsticks``.
      phrasing_seed: picks the phrasing.
      yardsticks: of the channel, from ``properties.fit`` on its train windows.
      split: which sentence frames to use; those of ``"held_out"`` are never trained on.
      detail: ``"full"`` words every fact. ``"drawn"`` does so in one caption of five; the others
        word a few facts drawn by the seed, mostly a single one, and prefer what users ask for and
        what stands out.

    Returns:
      One or more sentences.

    Raises:
      PacodiError: for a window that is not a finite vector of at least four values.
    """
    return word(measure(window, yardsticks), phrasing_seed, split=split, detail=detail)
