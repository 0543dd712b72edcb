"""The words of the texts that a model was trained on, and how a request is read with them.

An encoder without weights gives a word that training never had some place by chance, where the
model takes it for another. So a request is read by the words of training: one that is misspelt as
the word it is nearest to, and any other is left out. Tell the user of both.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from pacodi_jax.text.clauses import stem
from pacodi_jax.text.encoders.interface import FILLERS, WORD, clean_text

_NEAR = 0.85  # of difflib's ratio: "upwrd" is near "upward", "throughout" not near "through"
_SHORT = 4  # letters; among words so short the nearest one is often another


class Reading(NamedTuple):
    """How a text is read.

    Attributes:
      text: what is left of it, punctuation included; it may be nothing.
      corrected: what was written, and the word it is read as.
      ignored: words that are left out, those that say nothing of a series aside.
    """

    text: str
    corrected: dict[str, str]
    ignored: tuple[str, ...]


def collect(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the different words of the texts, in small letters, sorted."""
    return tuple(sorted({word for text in texts for word in WORD.findall(text.casefold())}))


def read(text: str, words: tuple[str, ...]) -> Reading:
    """Reads a text by the words of training; without any, as it is.

    Raises:
      PacodiError: for a text that no encoder reads.
    """
    text = clean_text(text)
    if not words:
        return Reading(text, {}, ())
    stems = _stems(words)
    corrected: dict[str, str] = {}
    ignored: dict[str, None] = {}

    def known(word: str) -> str:
        folded = word.casefold()
        if folded in FILLERS or stem(folded) in stems:
            return word
        near = _nearest(folded, words)
        if near is None:
            ignored[word] = None
            return ""
        return corrected.setdefault(word, near)

    left = " ".join(WORD.sub(lambda found: known(found[0]), text).split())
    return Reading(left, corrected, tuple(ignored))


@lru_cache(maxsize=8)
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(stem(word) for word in words)


@lru_cache(maxsize=1 << 12)
def _nearest(word: str, words: tuple[str, ...]) -> str | None:
    """The word that a misspelt one most resembles, or None."""
    if len(word) <= _SHORT:
        return None
    return next(iter(get_close_matches(word, words, n=1, cutoff=_NEAR)), None)
