"""Loose facts in words: denials, ranges of grades, halves and thirds, comparisons, and pairs.

A claim is a phrase and the classes of a fact that it allows; it suits every window of one of these
classes. "Not noisy" suits three grades of volatility, "several peaks" all counts from two on.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pacodi_jax.text import phrases, statements
from pacodi_jax.text.facts import Facts
from pacodi_jax.text.lexicon import LOOSE, NEAR_PLACES, PLACES, Kind
from pacodi_jax.text.telling import Words, capital

_COUNTED = {"peaks": ("peak", "local high", "summit"), "dips": ("dip", "local low", "hollow")}
_GRADED = ("trend", "volatility", "level", "spread")
_DENYING = frozenset(("no", "not", "never", "neither", "does", "doesn't", "is", "isn't", "without"))
_TRIES = 60
_NUMBERS = ("", "one", "two", "three", "four", "five")
_PARTS = ("first half", "second half", "first third", "middle third", "last third")
_MOVES = (
    (("falls", "drops", "goes down"), ("a fall", "a decline")),
    (("stays flat", "holds steady"), ("a flat stretch", "a plateau")),
    (("rises", "climbs", "goes up"), ("a rise", "an increase")),
)


class Claim(NamedTuple):
    """A phrase and the classes of a fact that it allows."""

    fact: str
    classes: tuple[int, ...]
    kind: Kind
    phrase: str


def _of_numbers() -> Iterator[Claim]:
    """Counts of peaks and dips, and where they are."""
    for fact, nouns in _COUNTED.items():
        most = statements.FACTS[fact]
        for noun in nouns:
            yield Claim(fact, (1,), "noun", f"just one {noun}")
            yield Claim(fact, (1,), "noun", f"a single {noun}")
            yield Claim(fact, (0,), "noun", f"no {noun}")
            yield Claim(fact, (0,), "addition", f"without any {noun}")
            yield Claim(fact, (0,), "verb", f"does not have a {noun}")
            yield Claim(fact, tuple(range(2, most)), "noun", f"several {noun}s")
            yield Claim(fact, tuple(range(2, most)), "noun", f"more than one {noun}")
            yield Claim(fact, (0, 1), "noun", f"at most one {noun}")
            for number in range(2, len(_NUMBERS)):
                yield Claim(fact, (number,), "noun", f"{_NUMBERS[number]} {noun}s")
                yield Claim(fact, (number,), "verb", f"has exactly {_NUMBERS[number]} {noun}s")
            for where, told in (
                (1, "an early {}"),
                (5, "a late {}"),
                (3, "a {} right in the middle"),
            ):
                yield Claim(f"{fact}_at", (where,), "noun", told.format(noun))


def _denied() -> Iterator[Claim]:
    """What grades are not, by rule: "not rough", "at no time rough", "no rise"."""
    for fact, classes, kind, known in LOOSE:
        others = tuple(sorted({*range(statements.FACTS[fact])} - {*classes}))
        if fact not in _GRADED or not {*classes} & {0, len(others) + len(classes) - 1}:
            continue
        if fact == "level":  # "not high" is not slightly high either
            others = (0, 1, 2, 3) if 6 in classes else (3, 4, 5, 6)
        for phrase in known:
            word, _, rest = phrase.partition(" ")
            bare = rest if word in ("a", "an") else phrase
            if word in _DENYING:
                continue
            if kind in ("adjective", "predicate"):
                yield Claim(fact, others, "predicate", f"not {phrase}")
                yield Claim(fact, others, "predicate", f"at no time {phrase}")
            elif kind == "noun":
                yield Claim(fact, others, "noun", f"no {bare}")
                yield Claim(fact, others, "addition", f"without {phrase}")
            elif kind == "verb":
                yield Claim(fact, others, "verb", f"never {phrase}")


def _of_places() -> Iterator[Claim]:
    """Where peaks and dips are, in all words for places."""
    for fact, nouns in _COUNTED.items():
        for at, places in enumerate(PLACES):
            for place in (*places, *NEAR_PLACES[at]):
                yield from (Claim(f"{fact}_at", (at,), "noun", f"a {n} {place}") for n in nouns)
            if fact == "peaks":
                yield from (Claim("peaks_at", (at,), "verb", f"peaks {place}") for place in places)


def _of_parts() -> Iterator[Claim]:
    """Halves and thirds."""
    for name, part in zip(statements.PARTS, _PARTS, strict=True):
        for way, (verbs, nouns) in enumerate(_MOVES):
            yield from (Claim(name, (way,), "verb", f"{verb} in the {part}") for verb in verbs)
            yield from (Claim(name, (way,), "noun", f"{noun} in the {part}") for noun in nouns)


@cache
def claims() -> tuple[Claim, ...]:
    """All claims."""
    told = [
        Claim(fact, classes, kind, phrase)
        for fact, classes, kind, known in LOOSE
        for phrase in known
    ]
    return (*told, *_denied(), *_of_numbers(), *_of_places(), *_of_parts())


@cache
def _by_fact() -> dict[str, dict[tuple[int, ...], tuple[Claim, ...]]]:
    found: dict[str, dict[tuple[int, ...], tuple[Claim, ...]]] = {}
    for claim in claims():
        group = found.setdefault(claim.fact, {})
        group[claim.classes] = (*group.get(claim.classes, ()), claim)
    return found


def true_claims(facts: Facts) -> list[tuple[Claim, ...]]:
    """The claims that suit a window, those of the same meaning together; no uncertain counts."""
    true = statements.exact(facts)
    unsure = {name for name in _COUNTED if not getattr(facts, name).sure}
    return [
        group
        for fact, groups in _by_fact().items()
        if fact.removesuffix("_at") not in unsure
        for classes, group in groups.items()
        if true.get(fact, set()) & set(classes)
    ]


def tell_claim(words: Words, facts: Facts) -> str:
    """Words one claim that suits a window."""
    claim = words.pick(words.pick(true_claims(facts)))
    words.state(claim.fact, *claim.classes)
    return words.fill(claim.kind, claim.phrase)


def tell_pair(words: Words, facts: Facts) -> str:
    """Words two claims of different facts in one sentence; one alone where no two fit."""
    suiting = true_claims(facts)
    requests = words.brief and words.split == "train"
    frames = phrases.PAIRS[words.split] + (phrases.PAIRS["asked"] if requests else ())
    for _ in range(_TRIES):
        first, second, frame = words.pick(frames)
        one, other = (words.pick(words.pick(suiting)) for _ in "ab")
        if one.fact != other.fact and (one.kind, other.kind) == (first, second):
            words.state(one.fact, *one.classes)
            words.state(other.fact, *other.classes)
            return frame.format(a=one.phrase, A=capital(one.phrase), b=other.phrase)
    return tell_claim(words, facts)
