"""What a text states of a series, as numbers: for every fact the classes that it allows.

A statement is one vector of zeros and ones, ``(WIDTH,)``. Each fact of :data:`FACTS` has its slots
there, one per class. A fact that the text does not mention has zeros. "Not volatile" has ones at
the three lower grades of volatility, "very volatile" a single one at the highest.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping

import numpy as np

from pacodi_jax.text.facts import Facts
from pacodi_jax.text.properties import Direction, Trend
from pacodi_jax.text.segments import Pace, Segment

#: The classes that a statement allows, by fact.
Stated = Mapping[str, Collection[int]]

#: Places in [0, 1], from the very start to the end: seven classes.
PLACE_EDGES = (0.06, 0.26, 0.43, 0.57, 0.74, 0.9)
LANDMARKS = ("start", "quarter", "middle", "three_quarters", "end")
DIRECTIONS: tuple[Direction, ...] = ("down", "flat", "up")
PARTS = ("first_half", "second_half", "first_third", "middle_third", "last_third")
#: Facts of two parts of a window: the first has more, both are alike, the second has more.
COMPARISONS = ("higher_half", "rougher_half", "higher_end")
PIECES = ("piece_1", "piece_2", "piece_3", "piece_4")
#: Where peaks, dips, rises and falls are: any of these places, not one of them.
SCATTERED = ("peaks_at", "dips_at", "rises_at", "falls_at")
_PACES: tuple[Pace, ...] = ("slow", "steady", "sharp")
_MOST = 6

#: Every fact and how many classes it has.
FACTS = {
    "level": 7,
    "trend": 7,
    "spread": 5,
    "volatility": 5,
    "peaks": _MOST + 1,
    "dips": _MOST + 1,
    "cycles": _MOST + 1,
    "highest": 7,
    "lowest": 7,
    **dict.fromkeys(SCATTERED, 7),
    **dict.fromkeys(LANDMARKS, 7),
    **dict.fromkeys(PARTS, 3),
    **dict.fromkeys(COMPARISONS, 3),
    **dict.fromkeys(PIECES, 7),
}
WIDTH = sum(FACTS.values())
#: The first slot of every fact.
FIRST = dict(zip(FACTS, np.cumsum([0, *FACTS.values()]).tolist(), strict=False))


def place(where: float) -> int:
    """The class of a place in [0, 1]."""
    return bisect_left(PLACE_EDGES, where)


def trend(found: Trend) -> int:
    """The class of a trend: 0 strongly down, 3 none, 6 strongly up."""
    return 3 + found.strength * (1 if found.change > 0 else -1)


def pieces(direction: Direction, paces: Collection[Pace] = _PACES) -> set[int]:
    """The classes of a piece of a story: down by pace (0 to 2), flat (3), up by pace (4 to 6)."""
    if direction == "flat":
        return {3}
    return {4 * (direction == "up") + _PACES.index(pace) for pace in paces}


def where(piece: Segment) -> float:
    """The place to name: a short piece at an edge is placed at the start or the end."""
    if piece.share <= _EDGE_SHARE and piece.centre < 0.5 * piece.share + 0.01:
        return 0.0
    if piece.share <= _EDGE_SHARE and piece.centre > 0.99 - 0.5 * piece.share:
        return 1.0
    return piece.centre


_EDGE_SHARE = 0.4


def exact(facts: Facts) -> dict[str, set[int]]:
    """Everything that is true of a window: each fact with its own classes."""
    story = facts.story[: len(PIECES)]
    told = {
        "level": {facts.level},
        "trend": {trend(facts.trend)},
        "spread": {facts.spread},
        "volatility": {facts.volatility},
        "peaks": {min(len(facts.peaks.places), _MOST)},
        "dips": {min(len(facts.dips.places), _MOST)},
        "cycles": {min(facts.cycles, _MOST)},
        "highest": {place(facts.highest)},
        "lowest": {place(facts.lowest)},
        "peaks_at": {place(at) for at in facts.peaks.places},
        "dips_at": {place(at) for at in facts.dips.places},
        "rises_at": {place(where(one)) for one in story if one.direction == "up"},
        "falls_at": {place(where(one)) for one in story if one.direction == "down"},
    }
    told |= {name: {grade} for name, grade in zip(LANDMARKS, facts.outline, strict=True)}
    told |= {name: {DIRECTIONS.index(way)} for name, way in zip(PARTS, facts.parts, strict=True)}
    told |= {name: {1 + sign} for name, sign in zip(COMPARISONS, facts.compared, strict=True)}
    told |= {
        name: pieces(one.direction, (one.pace,)) for name, one in zip(PIECES, story, strict=False)
    }
    return {name: classes for name, classes in told.items() if classes}


def vector(stated: Stated) -> np.ndarray:
    """The statement as float32 ``(WIDTH,)``."""
    found = np.zeros(WIDTH, np.float32)
    for name, classes in stated.items():
        found[[FIRST[name] + one for one in classes]] = 1.0
    return found


def stated(vector: np.ndarray) -> dict[str, set[int]]:
    """The way back from :func:`vector`; slots above one half count."""
    parts = np.split(np.asarray(vector) > 0.5, list(FIRST.values())[1:])
    told = {
        name: set(np.flatnonzero(part).tolist()) for name, part in zip(FACTS, parts, strict=True)
    }
    return {name: classes for name, classes in told.items() if classes}


def words(told: Stated) -> str:
    """A statement in words, such as "trend: up or strongly up; peaks: 2"."""
    return "; ".join(
        f"{name.replace('_', ' ')}: {_either([_name(name, one) for one in sorted(classes)], name)}"
        for name, classes in told.items()
    )


def _either(names: list[str], fact: str) -> str:
    link = " and " if fact in SCATTERED else " or "
    return link.join(names[-2:]) if len(names) < 3 else f"{', '.join(names[:-1])}{link}{names[-1]}"


def _name(fact: str, one: int) -> str:
    """A class of a fact in words; a count as a number."""
    return _NAMES[fact][one] if fact in _NAMES else f"{one}{' or more' * (one == _MOST)}"


_GRADES = ("very low", "low", "slightly low", "normal", "slightly high", "high", "very high")
_TRENDS = ("strongly down", "down", "slightly down", "none", "slightly up", "up", "strongly up")
_PLACES = ("start", "early", "before the middle", "middle", "after the middle", "late", "end")
_MOVES = ("slowly down", "down", "sharply down", "flat", "slowly up", "up", "sharply up")
_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("level", *LANDMARKS), _GRADES),
    "trend": _TRENDS,
    "spread": ("very narrow", "narrow", "moderate", "wide", "very wide"),
    "volatility": ("very low", "low", "moderate", "high", "very high"),
    **dict.fromkeys(("highest", "lowest", *SCATTERED), _PLACES),
    **dict.fromkeys(PARTS, DIRECTIONS),
    **dict.fromkeys(COMPARISONS, ("the first", "alike", "the second")),
    **dict.fromkeys(PIECES, _MOVES),
}


def holds(facts: Facts, told: Stated) -> bool:
    """Whether all of a statement is true of a window.

    A story must begin as told; of places each one that is told must be there.
    """
    true = exact(facts)
    return all(
        true.get(name, set()) >= set(classes)
        if name in SCATTERED
        else bool(true.get(name, set()) & set(classes))
        for name, classes in told.items()
    )
