"""One fact in words: each teller words a fact of a window and notes what it stated."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from pacodi_jax.text import lexicon, phrases, statements
from pacodi_jax.text.facts import Facts
from pacodi_jax.text.phrases import Split
from pacodi_jax.text.properties import Extremes, Trend
from pacodi_jax.text.segments import Segment

_WHOLE_SHARE = 0.7
_PLACED_SHARE = 0.75
_BRIEFLY_PLACED_SHARE = 0.3
_Item = TypeVar("_Item")


class Words:
    """Choices by the seed; only ``random()`` is used, whose stream Python guarantees.

    Attributes:
      split: whose frames are used.
      brief: whether few facts are told, so that requests and bare counts occur.
      stated: what has been told so far, see :mod:`.statements`.
    """

    def __init__(self, seed: int, split: Split):
        self._random = random.Random(f"{split}/{seed}")
        self.split = split
        self.brief = False
        self.stated: dict[str, set[int]] = {}

    def chance(self) -> float:
        """A number in [0, 1)."""
        return self._random.random()

    def pick(self, items: Sequence[_Item]) -> _Item:
        """One of the items."""
        return items[int(self.chance() * len(items))]

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        """The items in an order of this seed."""
        return sorted(items, key=lambda _: self.chance())

    def frame(self, fact: str) -> str:
        """A sentence frame of a fact."""
        frames = phrases.FRAMES[fact]
        asked = frames.asked if self.brief and self.split == "train" else ()
        return self.pick(getattr(frames, self.split) + asked)

    def fill(self, fact: str, phrase: str) -> str:
        """A sentence frame of a fact around a phrase."""
        return self.frame(fact).format(x=phrase, X=capital(phrase))

    def state(self, fact: str, *classes: int) -> None:
        """Notes that a fact is told to be in one of ``classes``; what is told twice is both."""
        if fact in statements.SCATTERED:
            self.stated[fact] = self.stated.get(fact, set()) | set(classes)
        else:
            self.stated[fact] = self.stated.get(fact, set(classes)) & set(classes)


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def _place(words: Words, where: float) -> str:
    return words.pick(lexicon.PLACES[statements.place(where)])


def _count(words: Words, number: int) -> str:
    return words.pick(lexicon.COUNTS[number] if number < len(lexicon.COUNTS) else lexicon.MANY)


def _tell_level(words: Words, facts: Facts) -> str:
    words.state("level", facts.level)
    return words.frame("level").format(x=words.pick(lexicon.LEVELS[facts.level]))


def _tell_start(words: Words, facts: Facts) -> str:
    words.state("start", facts.outline[0])
    return words.frame("start").format(x=words.pick(lexicon.LEVELS[facts.outline[0]]))


def _tell_end(words: Words, facts: Facts) -> str:
    words.state("end", facts.outline[-1])
    return words.frame("end").format(x=words.pick(lexicon.LEVELS[facts.outline[-1]]))


def _tell_outline(words: Words, facts: Facts) -> str:
    frame, told = words.frame("outline"), []
    for name, grade in zip(statements.LANDMARKS, facts.outline, strict=True):
        words.state(name, grade)
        told.append(words.pick(lexicon.LEVELS[grade]))
    return frame.format(**dict(zip("abcde", told, strict=True)))


def _tell_spread(words: Words, facts: Facts) -> str:
    words.state("spread", facts.spread)
    return words.fill("spread", lexicon.SPREADS[facts.spread])


def sign(trend: Trend) -> int:
    """The sign of a trend, 0 for none."""
    return 0 if trend.strength == 0 else 1 if trend.change > 0 else -1


def tell_trend(words: Words, facts: Facts) -> str:
    """Words the trend; "rises" leaves open how strongly."""
    found, strength = sign(facts.trend), facts.trend.strength
    words.state("trend", *{3 + found * step for step in ((2, 3) if strength == 2 else (strength,))})
    noun, verb = words.pick(lexicon.TRENDS[found, strength])
    if words.chance() < 0.5:
        return words.fill("trend_noun", noun)
    return words.fill("trend_verb", verb)


def _tell_volatility(words: Words, facts: Facts) -> str:
    words.state("volatility", *lexicon.PLAIN_VOLATILITIES[facts.volatility])
    nouns, adjectives = lexicon.VOLATILITIES[facts.volatility]
    if words.chance() < 0.5:
        return words.fill("volatility_noun", words.pick(nouns))
    frame, adjective = words.frame("volatility_adjective"), words.pick(adjectives)
    return frame.format(x=adjective, X=capital(adjective))


def _tell_extremes(words: Words, fact: str, found: Extremes) -> str:
    """Counts and places the peaks or dips; an uncertain count is hedged with "perhaps".

    Most brief captions only count them, so that "two peaks" without places occurs in training.
    """
    number = len(found.places)
    count = _count(words, number)
    words.state(fact, min(number, statements.FACTS[fact] - 1))
    hedged = bool(found.places) and not found.sure
    told = f"perhaps {count}" if hedged else count
    placed = not words.brief or words.chance() < _BRIEFLY_PLACED_SHARE
    shown = found.places[:3] if placed else ()
    words.state(f"{fact}_at", *map(statements.place, shown))
    places = " and ".join(_place(words, where) for where in shown)
    sentence = words.frame(fact).format(n=told, N=capital(told), p=places)
    sentence = " ".join(sentence.split())
    if hedged:
        sentence = sentence.replace(" clear ", " ")
    if number == 1:
        sentence = sentence.replace("peaks", "peak").replace("dips", "dip")
        sentence = sentence.replace("There are", "There is")
    return sentence


def tell_peaks(words: Words, facts: Facts) -> str:
    """Counts the peaks and may place them."""
    return _tell_extremes(words, "peaks", facts.peaks)


def _tell_dips(words: Words, facts: Facts) -> str:
    return _tell_extremes(words, "dips", facts.dips)


def _tell_highest(words: Words, facts: Facts) -> str:
    words.state("highest", statements.place(facts.highest))
    return words.frame("highest").format(x=_place(words, facts.highest))


def _tell_lowest(words: Words, facts: Facts) -> str:
    words.state("lowest", statements.place(facts.lowest))
    return words.frame("lowest").format(x=_place(words, facts.lowest))


def _tell_cycles(words: Words, facts: Facts) -> str:
    if facts.cycles == 0:
        return ""
    words.state("cycles", min(facts.cycles, statements.FACTS["cycles"] - 1))
    told = f"{_count(words, facts.cycles)} full cycle{'s' * (facts.cycles > 1)}"
    return words.frame("cycles").format(x=told)


def _piece(words: Words, piece: Segment, style: int) -> str:
    """One piece: "a sharp drop near the end" (style 0), "drops sharply near the end" (style 1)."""
    move = words.pick(lexicon.MOVES[piece.direction][style])
    pace = words.pick(lexicon.PACES[piece.pace][style])
    placed = piece.share < _WHOLE_SHARE and words.chance() < _PLACED_SHARE
    where = statements.where(piece)
    place = f" {_place(words, where)}" if placed else ""
    if piece.direction == "flat":
        return f"{('a ', '')[style]}{move}{place}"
    if placed:
        kind = "rises_at" if piece.direction == "up" else "falls_at"
        words.state(kind, statements.place(where))
    return f"a {pace} {move}{place}" if style == 0 else f"{move} {pace}{place}"


def _tell_story(words: Words, facts: Facts) -> str:
    style = int(words.chance() < 0.5)
    opening, links = phrases.STORIES[("noun", "verb")[style]]
    told = words.pick(getattr(opening, words.split))
    for number, piece in enumerate(facts.story):
        told += words.pick(getattr(links, words.split)) if number else ""
        told += _piece(words, piece, style)
        if number < len(statements.PIECES):
            classes = statements.pieces(piece.direction, (piece.pace,))
            words.state(statements.PIECES[number], *classes)
    return told


Teller = Callable[[Words, Facts], str]

#: Every fact of a full caption and the function that words it.
TELLERS: dict[str, Teller] = {
    "level": _tell_level,
    "outline": _tell_outline,
    "story": _tell_story,
    "trend": tell_trend,
    "spread": _tell_spread,
    "volatility": _tell_volatility,
    "peaks": tell_peaks,
    "dips": _tell_dips,
    "highest": _tell_highest,
    "lowest": _tell_lowest,
    "cycles": _tell_cycles,
    "start": _tell_start,
    "end": _tell_end,
}
