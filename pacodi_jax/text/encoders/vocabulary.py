"""The words of the texts that a model was trained on, and how a request is read with them.

An encoder without weights gives a word that training never had some place by chance, where the
model takes it for another. So a request is read by the words of training: one that is misspelt as
the word it is nearest to, one that means the same as a known one as that, and any other is left
out. Tell the user of all three.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.clauses import stem
from pacodi_jax.text.encoders.interface import FILLERS, WORD, Encoder, clean_text
from pacodi_jax.text.lexicon import SYNONYMS

_NEAR = 0.88  # of difflib's ratio: "upwrd" is near "upward", "troughs" is not near "through"
_DIGITS = {"0": "no", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six"}
_MEANINGS = {stem(word): meaning for word, meaning in SYNONYMS.items()}
_TWICE = re.compile(r"\b(\w+)(?: \1\b)+")  # "a sharp jump" is a sharp rise, not a sharp sharp one
_SHORT = 4  # letters; among words so short the nearest one is often another


class Reading(NamedTuple):
    """How a text is read, all in small letters.

    Attributes:
      text: what is left of it, punctuation included; it may be nothing.
      corrected: what was written, and the word or words it is read as.
      ignored: words that are left out, those that say nothing of a series aside.
    """

    text: str
    corrected: dict[str, str]
    ignored: tuple[str, ...]


def collect(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the different words of the texts, in small letters, sorted."""
    different = dict.fromkeys(texts)
    return tuple(sorted({word for text in different for word in _words(_plain(text))}))


def encode_request(encoder: Encoder, text: str) -> np.ndarray:
    """Returns the vector ``(width,)`` of a text.

    Raises:
      PacodiError: for a text that the encoder does not read, or that has no word it was taught.
    """
    vector = encoder.encode([text])[0]
    if vector.any() or not encoder.words:
        return vector
    telling = [word for word in encoder.words if word not in FILLERS]
    some = ", ".join(telling[:: len(telling) // 12 + 1])
    raise PacodiError(
        f"this model knows none of the words of {clean_text(text)[:60]!r}: no text that it was "
        f"trained on has them. Some that it knows: {some}."
    )


class Vocabulary:
    """The words of training; without any, all words are read.

    Args:
      words: as :func:`collect` returns them.
    """

    def __init__(self, words: tuple[str, ...] = ()):
        self._stems = {stem(word) for word in words}
        self._by_initial: dict[str, list[str]] = {}
        for word in (*words, *filter(self._meaning, SYNONYMS)):
            self._by_initial.setdefault(word[0], []).append(word)
        self._found: dict[str, str | None] = {}

    def read(self, text: str) -> Reading:
        """Reads a text.

        Raises:
          PacodiError: for a text that no encoder reads.
        """
        plain = _plain(text)
        if not self._stems:
            return Reading(plain, {}, ())
        taken = {word: self._take(word) for word in _words(plain)}
        corrected = {word: known for word, known in taken.items() if known not in (word, None)}
        left = " ".join(WORD.sub(lambda found: taken[found[0]] or "", plain).split())
        return Reading(
            _TWICE.sub(r"\1", left) if corrected else left,
            corrected,
            tuple(word for word, known in taken.items() if known is None),
        )

    def _take(self, word: str) -> str | None:
        """The word itself if it is known, the one that it means or misspells, or None."""
        if word in FILLERS or stem(word) in self._stems:
            return word
        if word not in self._found:
            self._found[word] = self._nearest(word)
        return self._found[word]

    def _nearest(self, word: str) -> str | None:
        """The word that means the same, or that a misspelt one most resembles.

        Numbers and other beginnings mean others.
        """
        if word in _DIGITS or stem(word) in _MEANINGS:
            return self._meaning(word)
        if len(word) <= _SHORT or not word.isalpha():
            return None
        near = get_close_matches(word, self._by_initial.get(word[0], ()), n=1, cutoff=_NEAR)
        return next((self._meaning(found) or found for found in near), None)

    def _meaning(self, word: str) -> str | None:
        """What captions say for a word, if training has all of that."""
        meaning = _DIGITS.get(word) or _MEANINGS.get(stem(word), "")
        known = all(stem(part) in self._stems for part in meaning.split())
        return meaning if meaning and known else None


def _plain(text: str) -> str:
    return clean_text(text).casefold()


def _words(plain: str) -> list[str]:
    return WORD.findall(plain)
