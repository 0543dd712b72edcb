"""Captions of any window: deterministic sentences on its shape, in several phrasings.

``caption(window, seed, split=…, statistics=…)`` words the measured properties of a window. The
seed picks frames, synonyms, the order of the facts and, unless all are asked for, how many of them
are told, so that short requests ("two peaks") are as familiar to a model as full descriptions.
"""

import random
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import numpy as np

from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.text import phrases, properties
from pacodi_jax.text.phrases import Split
from pacodi_jax.text.properties import Extremes, Statistics
from pacodi_jax.text.segments import Segment, segments

Detail = Literal["full", "drawn"]

_PLACE_EDGES = (0.06, 0.26, 0.43, 0.57, 0.74, 0.9)
_FULL_SHARE = 0.5
_EDGE_SHARE = 0.4
_WHOLE_SHARE = 0.7
_PLACED_SHARE = 0.75
_Item = TypeVar("_Item")


class _Words:
    """The seed's choices: every draw uses ``random()`` alone, whose stream Python guarantees."""

    def __init__(self, seed: int, split: Split):
        self._random = random.Random(f"{split}/{seed}")
        self.split = split

    def chance(self) -> float:
        return self._random.random()

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[int(self.chance() * len(items))]

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        return sorted(items, key=lambda _: self.chance())

    def frame(self, fact: str) -> str:
        return self.pick(getattr(phrases.FRAMES[fact], self.split))


def _place(words: _Words, where: float) -> str:
    return words.pick(phrases.PLACES[int(np.searchsorted(_PLACE_EDGES, where))])


def _level(words: _Words, value: float, statistics: Statistics) -> str:
    return words.pick(phrases.LEVELS[properties.level_grade(value, statistics)])


def _tell_level(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    return words.frame("level").format(x=_level(words, float(window.mean()), statistics))


def _tell_start(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    value = properties.landmarks(window)[0]
    return words.frame("start").format(x=_level(words, value, statistics))


def _tell_end(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    value = properties.landmarks(window)[-1]
    return words.frame("end").format(x=_level(words, value, statistics))


def _tell_outline(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    told = (_level(words, value, statistics) for value in properties.landmarks(window))
    return words.frame("outline").format(**dict(zip("abcde", told, strict=True)))


def _tell_spread(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    grade = properties.spread_grade(window, statistics)
    return words.frame("spread").format(x=phrases.SPREADS[grade])


def _tell_trend(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    found = properties.trend(window, statistics)
    sign = 0 if found.strength == 0 else 1 if found.change > 0 else -1
    noun, verb = words.pick(phrases.TRENDS[sign, found.strength])
    if words.chance() < 0.5:
        return words.frame("trend_noun").format(x=noun, X=_capital(noun))
    return words.frame("trend_verb").format(x=verb)


def _tell_volatility(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    noun, adjective = phrases.VOLATILITIES[properties.volatility_grade(window, statistics)]
    if words.chance() < 0.5:
        return words.frame("volatility_noun").format(x=noun, X=_capital(noun))
    return words.frame("volatility_adjective").format(x=adjective)


def _tell_extremes(words: _Words, fact: str, found: Extremes) -> str:
    """Counts the peaks or dips and places them; an unsure count is hedged with "perhaps"."""
    count = phrases.COUNTS[len(found.places)] if len(found.places) < 7 else phrases.MANY
    told = count if found.sure or not found.places else f"perhaps {count}"
    places = " and ".join(_place(words, where) for where in found.places[:3])
    sentence = words.frame(fact).format(n=told, N=_capital(told), p=places).strip()
    if len(found.places) == 1:
        sentence = sentence.replace("peaks", "peak").replace("dips", "dip")
        sentence = sentence.replace("There are", "There is")
    return sentence


def _tell_peaks(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    return _tell_extremes(words, "peaks", properties.peaks(window, statistics))


def _tell_dips(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    return _tell_extremes(words, "dips", properties.dips(window, statistics))


def _tell_highest(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    del statistics
    return words.frame("highest").format(x=_place(words, _argmax(window)))


def _tell_lowest(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    del statistics
    return words.frame("lowest").format(x=_place(words, _argmax(-window)))


def _tell_cycles(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    count = properties.cycles(window, statistics)
    if count == 0:
        return ""
    number = phrases.COUNTS[count] if count < 7 else phrases.MANY
    return words.frame("cycles").format(x=f"{number} full cycle{'s' * (count > 1)}")


def _where(piece: Segment) -> float:
    """The place to name: a short piece at either edge is told as the start or the end."""
    if piece.share <= _EDGE_SHARE and piece.centre < 0.5 * piece.share + 0.01:
        return 0.0
    if piece.share <= _EDGE_SHARE and piece.centre > 0.99 - 0.5 * piece.share:
        return 1.0
    return piece.centre


def _piece(words: _Words, piece: Segment, style: int) -> str:
    """Words one piece: "a sharp drop near the end" (style 0), "drops sharply near the end" (1)."""
    move = words.pick(phrases.MOVES[piece.direction][style])
    pace = words.pick(phrases.PACES[piece.pace][style])
    placed = piece.share < _WHOLE_SHARE and words.chance() < _PLACED_SHARE
    place = f" {_place(words, _where(piece))}" if placed else ""
    if piece.direction == "flat":
        return f"{('a ', '')[style]}{move}{place}"
    return f"a {pace} {move}{place}" if style == 0 else f"{move} {pace}{place}"


def _tell_story(words: _Words, window: np.ndarray, statistics: Statistics) -> str:
    style = int(words.chance() < 0.5)
    opening, links = phrases.STORIES[("noun", "verb")[style]]
    told = words.pick(getattr(opening, words.split))
    for number, piece in enumerate(segments(window, statistics)):
        told += words.pick(getattr(links, words.split)) if number else ""
        told += _piece(words, piece, style)
    return told


_Teller = Callable[[_Words, np.ndarray, Statistics], str]

#: Every fact and how it is told, in the order of a full caption.
FACTS: dict[str, _Teller] = {
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


def _argmax(window: np.ndarray) -> float:
    return float(np.argmax(window)) / (window.shape[0] - 1)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _chosen(words: _Words, detail: Detail) -> list[str]:
    """The facts to tell: all (the outline stands for start and end), or a drawn few."""
    everything = [name for name in FACTS if name not in ("start", "end")]
    if detail == "full" or words.chance() < _FULL_SHARE:
        return words.shuffled(everything)
    few = words.shuffled(list(FACTS))
    return few[: 1 + int(words.chance() * (len(few) - 1))]


def caption(
    window: np.ndarray,
    phrasing_seed: int,
    *,
    statistics: Statistics,
    split: Split = "train",
    detail: Detail = "drawn",
) -> str:
    """Words a window: the same window, seed, split and detail always give the same text.

    Args:
      window: one channel's values ``(L,)``, in the scale that ``statistics`` were fitted in.
      phrasing_seed: picks the phrasing.
      statistics: the channel's yardsticks, ``properties.fit`` of its train windows.
      split: which sentence frames to use; those of ``"held_out"`` are never trained on.
      detail: ``"full"`` tells every fact; ``"drawn"`` does in half of the captions and tells one or
        more facts picked by the seed in the others, so that partial requests are familiar.

    Returns:
      One or more sentences.

    Raises:
      PacodiError: for a window that is not a finite vector of at least four values.
    """
    choose("split", split, {"train": 0, "held_out": 0})
    choose("detail", detail, {"full": 0, "drawn": 0})
    window = np.asarray(window, dtype=np.float64)
    if window.ndim != 1 or window.shape[0] < 4 or not np.isfinite(window).all():
        raise PacodiError(
            f"a caption needs one finite channel (L,) with L >= 4, got shape {window.shape}"
            f"{'' if np.isfinite(window).all() else ' with missing values'}."
        )
    words = _Words(phrasing_seed, split)
    told = [FACTS[name](words, window, statistics) for name in _chosen(words, detail)]
    told = [_capital(sentence) for sentence in told if sentence]
    return ". ".join(told or [_capital(_tell_level(words, window, statistics))]) + "."
