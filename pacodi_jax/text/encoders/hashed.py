"""Hashed words and word pairs: a text encoder that needs no weights and no download.

The features of a clause are its stemmed words and the unordered pairs of words at most six apart.
Each feature is hashed to four signed slots, so two features that share one slot hardly ever share
all four. Counts enter as √count, words weigh twice as much as pairs, and vectors have unit length.
Pairs keep together what belongs together ("ends … low"), whatever the sentence around it.

Given the words of the texts that a model was trained on, it maps requests to these words, see
:mod:`.vocabulary`.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.clauses import clauses, stem
from pacodi_jax.text.encoders.interface import FILLERS, WORD, Encoder
from pacodi_jax.text.encoders.vocabulary import Vocabulary, collect

_VERSION = 2
_WEIGHTS = {"word": 1.0, "pair": 0.5}
_SLOTS = 4
_REACH = 6
_BLOCK = 1024


def _features(text: str) -> Iterator[tuple[str, str]]:
    """Yields (group, feature) for every feature of a clean text in lower case."""
    for clause in clauses(text):
        stems = [stem(word) for word in WORD.findall(clause) if word not in FILLERS]
        for place, word in enumerate(stems):
            yield "word", word
            for other in stems[place + 1 : place + 1 + _REACH]:
                yield "pair", " ".join(sorted((word, other)))


@lru_cache(maxsize=1 << 16)
def _slots(group: str, feature: str, width: int) -> tuple[tuple[int, float], ...]:
    """The slots of a feature and their signs; the same on every machine."""
    digest = hashlib.blake2b(f"{group}:{feature}".encode(), digest_size=8 * _SLOTS).digest()
    numbers = (int.from_bytes(digest[8 * i : 8 * i + 8], "little") for i in range(_SLOTS))
    return tuple(((number >> 1) % width, 1.0 if number & 1 else -1.0) for number in numbers)


class Hashed(Encoder):
    """The hashed n-gram encoder.

    Args:
      width: number of slots; more slots mean fewer collisions.
      words: those of a model's training texts, to which requests are mapped; empty keeps all.

    Raises:
      PacodiError: for a width below 16.
    """

    def __init__(self, *, width: int = 1024, words: tuple[str, ...] = ()):
        if width < 16:
            raise PacodiError(f"encoder hashed: width={width} is too small; use 16 or more.")
        self.width, self.words = width, words
        self._vocabulary = Vocabulary(words)
        self.identity = f"hashed/v{_VERSION}/width={width}"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns unit vectors, float32 ``(N, width)``; bitwise the same on every machine.

        A text with none of the training words gives zeros.
        """
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        for first in range(0, len(texts), _BLOCK):
            block = texts[first : first + _BLOCK]
            vectors[first : first + len(block)] = self._encode(block)
        return vectors

    def taught(self, texts: Sequence[str]) -> "Hashed":
        """Returns the encoder that maps requests to the words of ``texts``."""
        return Hashed(width=self.width, words=collect(texts))

    def _encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors of one block of texts in double precision, ``(N, width)``."""
        vectors = np.zeros((len(texts), self.width), dtype=np.float64)
        for row, text in zip(vectors, texts, strict=True):
            read = self._vocabulary.read(text).text
            for (group, feature), count in Counter(_features(read)).items():
                for slot, sign in _slots(group, feature, self.width):
                    row[slot] += sign * _WEIGHTS[group] * count**0.5
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(norms, 1e-12)
