"""Captions of any window: deterministic sentences on its shape, in several phrasings.

``caption(window, seed, split=…, yardsticks=…)`` words the measured properties of a window. The
seed picks frames, synonyms, the order of the facts and, unless all are asked for, their number, so
that models are trained on short requests ("two peaks") as well as on full descriptions.
"""

import random
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from typing import Literal, TypeVar

import numpy as np

from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.text import lexicon, phrases
from pacodi_jax.text.facts import Facts, measure
from pacodi_jax.text.phrases import Split
from pacodi_jax.text.properties import Extremes, Trend, Yardsticks
from pacodi_jax.text.segments import Segment

Detail = Literal["full", "drawn"]

_PLACE_EDGES = (0.06, 0.26, 0.43, 0.57, 0.74, 0.9)
_FULL_SHARE = 0.2
#: Weight of a fact in the draw of short captions; 1 if not listed.
_READINESS = {"trend": 6.0, "story": 2.0, "volatility": 4.0, "peaks": 6.0}
_STRIKING = 16.0  # factor on that weight for two or more peaks or dips
_EDGE_SHARE = 0.4
_WHOLE_SHARE = 0.7
_PLACED_SHARE = 0.75
_BRIEFLY_PLACED_SHARE = 0.3
_BRIEF = 3  # at most so many facts: such captions may count peaks without placing them
_Item = TypeVar("_Item")


class _Words:
    """Choices by the seed; only ``random()`` is used, whose stream Python guarantees."""

    def __init__(self, seed: int, split: Split):
        self._random = random.Random(f"{split}/{seed}")
        self.split = split
        self.brief = False

    def chance(self) -> float:
        return self._random.random()

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[int(self.chance() * len(items))]

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        return sorted(items, key=lambda _: self.chance())

    def frame(self, fact: str) -> str:
        frames = phrases.FRAMES[fact]
        asked = frames.asked if self.brief and self.split == "train" else ()
        return self.pick(getattr(frames, self.split) + asked)


def _place(words: _Words, where: float) -> str:
    return words.pick(lexicon.PLACES[bisect_left(_PLACE_EDGES, where)])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _count(words: _Words, number: int) -> str:
    return words.pick(lexicon.COUNTS[number] if number < len(lexicon.COUNTS) else lexicon.MANY)


def _tell_level(words: _Words, facts: Facts) -> str:
    return words.frame("level").format(x=words.pick(lexicon.LEVELS[facts.level]))


def _tell_start(words: _Words, facts: Facts) -> str:
    return words.frame("start").format(x=words.pick(lexicon.LEVELS[facts.outline[0]]))


def _tell_end(words: _Words, facts: Facts) -> str:
    return words.frame("end").format(x=words.pick(lexicon.LEVELS[facts.outline[-1]]))


def _tell_outline(words: _Words, facts: Facts) -> str:
    told = (words.pick(lexicon.LEVELS[grade]) for grade in facts.outline)
    return words.frame("outline").format(**dict(zip("abcde", told, strict=True)))


def _tell_spread(words: _Words, facts: Facts) -> str:
    return words.frame("spread").format(x=lexicon.SPREADS[facts.spread])


def _sign(trend: Trend) -> int:
    return 0 if trend.strength == 0 else 1 if trend.change > 0 else -1


def _tell_trend(words: _Words, facts: Facts) -> str:
    noun, verb = words.pick(lexicon.TRENDS[_sign(facts.trend), facts.trend.strength])
    if words.chance() < 0.5:
        return words.frame("trend_noun").format(x=noun, X=_capital(noun))
    return words.frame("trend_verb").format(x=verb)


def _tell_volatility(words: _Words, facts: Facts) -> str:
    nouns, adjectives = lexicon.VOLATILITIES[facts.volatility]
    if words.chance() < 0.5:
        noun = words.pick(nouns)
        return words.frame("volatility_noun").format(x=noun, X=_capital(noun))
    return words.frame("volatility_adjective").format(x=words.pick(adjectives))


def _tell_extremes(words: _Words, fact: str, found: Extremes) -> str:
    """Counts and places the peaks or dips; an uncertain count is hedged with "perhaps".

    Most brief captions only count them, so that "two peaks" without places occurs in training.
    """
    count = _count(words, len(found.places))
    hedged = bool(found.places) and not found.sure
    told = f"perhaps {count}" if hedged else count
    placed = not words.brief or words.chance() < _BRIEFLY_PLACED_SHARE
    places = " and ".join(_place(words, where) for where in found.places[:3] if placed)
    sentence = words.frame(fact).format(n=told, N=_capital(told), p=places)
    sentence = " ".join(sentence.split())
    if hedged:
        sentence = sentence.replace(" clear ", " ")
    if len(found.places) == 1:
        sentence = sentence.replace("peaks", "peak").replace("dips", "dip")
        sentence = sentence.replace("There are", "There is")
    return sentence


def _tell_peaks(words: _Words, facts: Facts) -> str:
    return _tell_extremes(words, "peaks", facts.peaks)


def _tell_dips(words: _Words, facts: Facts) -> str:
    return _tell_extremes(words, "dips", facts.dips)


def _tell_highest(words: _Words, facts: Facts) -> str:
    return words.frame("highest").format(x=_place(words, facts.highest))


def _tell_lowest(words: _Words, facts: Facts) -> str:
    return words.frame("lowest").format(x=_place(words, facts.lowest))


def _tell_cycles(words: _Words, facts: Facts) -> str:
    if facts.cycles == 0:
        return ""
    told = f"{_count(words, facts.cycles)} full cycle{'s' * (facts.cycles > 1)}"
    return words.frame("cycles").format(x=told)


def _where(piece: Segment) -> float:
    """The place to name: a short piece at an edge is placed at the start or the end."""
    if piece.share <= _EDGE_SHARE and piece.centre < 0.5 * piece.share + 0.01:
        return 0.0
    if piece.share <= _EDGE_SHARE and piece.centre > 0.99 - 0.5 * piece.share:
        return 1.0
    return piece.centre


def _piece(words: _Words, piece: Segment, style: int) -> str:
    """One piece: "a sharp drop near the end" (style 0), "drops sharply near the end" (style 1)."""
    move = words.pick(lexicon.MOVES[piece.direction][style])
    pace = words.pick(lexicon.PACES[piece.pace][style])
    placed = piece.share < _WHOLE_SHARE and words.chance() < _PLACED_SHARE
    place = f" {_place(words, _where(piece))}" if placed else ""
    if piece.direction == "flat":
        return f"{('a ', '')[style]}{move}{place}"
    return f"a {pace} {move}{place}" if style == 0 else f"{move} {pace}{place}"


def _tell_story(words: _Words, facts: Facts) -> str:
    style = int(words.chance() < 0.5)
    opening, links = phrases.STORIES[("noun", "verb")[style]]
    told = words.pick(getattr(opening, words.split))
    for number, piece in enumerate(facts.story):
        told += words.pick(getattr(links, words.split)) if number else ""
        told += _piece(words, piece, style)
    return told


_Teller = Callable[[_Words, Facts], str]

#: Every fact and the function that words it.
_TELLERS: dict[str, _Teller] = {
    "level": _tell_level,
    "outline": _tell_outline,
    "story": _tell_story,
    "trend": _tell_trend,
    "spread": _tell_spread,
    "volatility": _tell_volatility,
    "peaks": _tell_peaks,
    "dips": _tell_dips,
    "highest": _tell_highest,
    "lowest": _tell_lowest,
    "cycles": _tell_cycles,
    "start": _tell_start,
    "end": _tell_end,
}


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
        "trend": (_sign(facts.trend), facts.trend.strength),
        "spread": facts.spread,
        "volatility": facts.volatility,
    }
    extremes = {"peaks": facts.peaks, "dips": facts.dips}
    told |= {name: len(found.places) for name, found in extremes.items() if found.sure}
    return told | ({"cycles": facts.cycles} if facts.cycles else {})


def _chosen(words: _Words, facts: Facts, detail: Detail) -> list[str]:
    """The facts to word: all (the outline covers start and end), or a random few, often one.

    The few are drawn without replacement by weight (Efraimidis and Spirakis, 2006).
    """
    everything = [name for name in _TELLERS if name not in ("start", "end")]
    if detail == "full" or words.chance() < _FULL_SHARE:
        return words.shuffled(everything)
    keys = {name: words.chance() ** (1.0 / _readiness(name, facts)) for name in _TELLERS}
    few = sorted(keys, key=keys.__getitem__, reverse=True)
    return few[: 1 + int(words.chance() ** 4 * (len(few) - 1))]


def word(facts: Facts, phrasing_seed: int, *, split: Split, detail: Detail) -> str:
    """Words measured facts, see :func:`caption`; measuring once serves many phrasings."""
    choose("split", split, {"train": 0, "held_out": 0})
    choose("detail", detail, {"full": 0, "drawn": 0})
    words = _Words(phrasing_seed, split)
    chosen = _chosen(words, facts, detail)
    words.brief = len(chosen) <= _BRIEF
    told = [_TELLERS[name](words, facts) for name in chosen]
    told = [_capital(sentence) for sentence in told if sentence]
    return ". ".join(told or [_tell_level(words, facts)]) + "."


def word_one(facts: Facts, fact: str, phrasing_seed: int, *, split: Split) -> str:
    """Words a single measured fact, for example ``"peaks"``.

    Raises:
      PacodiError: if the window does not have it, such as cycles where there are none.
    """
    choose("split", split, {"train": 0, "held_out": 0})
    words = _Words(phrasing_seed, split)
    words.brief = True
    told = choose("fact", fact, _TELLERS)(words, facts)
    if not told:
        raise PacodiError(f"the window has no {fact} to describe; choose another fact.")
    return _capital(told) + "."


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
