"""The words of the texts that a model was trained on, and how requests are mapped to them.

A hashing encoder puts an unseen word into arbitrary slots, where the model takes it for another
word. So each word of a request is mapped to the training words: a synonym to the word it means, a
misspelt word to the nearest one, and any other word is dropped. A :class:`Reading` lists all such
changes, to be shown to the user.
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
_SHORT = 4  # letters; the nearest word to so short a word is often wrong


class Reading(NamedTuple):
    """How a text is read, all in lower case.

    Attributes:
      text: what remains, punctuation included; it may be empty.
      corrected: words of the request and the words they are replaced by.
      ignored: words that are dropped, except filler words.
    """

    text: str
    corrected: dict[str, str]
    ignored: tuple[str, ...]


def collect(texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the different words of the texts, in lower case, sorted."""
    different = dict.fromkeys(texts)
    return tuple(sorted({word for text in different for word in _words(_plain(text))}))


def encode_request(encoder: Encoder, text: str) -> np.ndarray:
    """Returns the vector ``(width,)`` of a text.

    Raises:
      PacodiError: for a text that is refused, or has no word of the encoder's vocabulary.
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
    """The words of training; if there are none, all words are kept.

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
          PacodiError: for a text that :func:`clean_text` refuses.
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
        """The word itself if it is known, else the word that it means or misspells, else None."""
        if word in FILLERS or stem(word) in self._stems:
            return word
        if word not in self._found:
            self._found[word] = self._nearest(word)
        return self._found[word]

    def _nearest(self, word: str) -> str | None:
        """The known word of the same meaning, or the most similar one of the same first letter.

        Digits and words with a known meaning are never corrected by spelling.
        """
        if word in _DIGITS or stem(word) in _MEANINGS:
            return self._meaning(word)
        if len(word) <= _SHORT or not word.isalpha():
            return None
        near = get_close_matches(word, self._by_initial.get(word[0], ()), n=1, cutoff=_NEAR)
        return next((self._meaning(found) or found for found in near), None)

    def _meaning(self, word: str) -> str | None:
        """What captions say for a word, if the training texts have all of it."""
        meaning = _DIGITS.get(word) or _MEANINGS.get(stem(word), "")
        known = all(stem(part) in self._stems for part in meaning.split())
        return meaning if meaning and known else None


def _plain(text: str) -> str:
    return clean_text(text).casefold()


def _words(plain: str) -> list[str]:
    return WORD.findall(plain)
