"""The words that captions are made of, to tell a user when a request has none of them."""

import re
import string
from collections.abc import Iterator
from typing import Any

from pacodi_jax.text import lexicon, phrases
from pacodi_jax.text.clauses import stem

_WORD = re.compile(r"\w+")


def _strings(table: Any) -> Iterator[str]:
    """Yields every string in nested dicts and tuples; of frames, those for training only."""
    if isinstance(table, str):
        yield "".join(text for text, *_ in string.Formatter().parse(table))
    elif isinstance(table, phrases.Frames):
        yield from _strings((table.train, table.asked))
    else:
        for item in table.values() if isinstance(table, dict) else table:
            yield from _strings(item)


def _known() -> frozenset[str]:
    tables = (
        *(lexicon.LEVELS, lexicon.PLACES, lexicon.SPREADS, lexicon.VOLATILITIES, lexicon.COUNTS),
        *(lexicon.TRENDS, lexicon.MOVES, lexicon.PACES, phrases.STORIES, phrases.FRAMES),
    )
    words = _WORD.findall(" ".join(_strings(tables)).casefold())
    return frozenset(stem(word) for word in words) | {"peak", "dip", "cycl", "perhap"}


KNOWN = _known()


def familiarity(text: str) -> float:
    """Returns the share of a text's words that training captions use, in [0, 1].

    A text in another language has about none: a model then has nothing to go by and its samples
    are close to unconditional ones. Say so to the user instead of drawing in silence.
    """
    words = [stem(word) for word in _WORD.findall(text.casefold())]
    return sum(word in KNOWN for word in words) / len(words) if words else 0.0
