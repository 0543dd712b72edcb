"""What every text encoder offers, and the checks that all of them share."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from pacodi_jax.errors import PacodiError

MAX_WORDS = 1000
#: Words that say nothing about a series.
FILLERS = frozenset(
    ("a", "an", "the", "it", "its", "is", "are", "be", "of", "and", "with", "that", "there", "has")
)
WORD = re.compile(r"\w+")
_EXAMPLE = '"a slow rise, then a sharp drop near the end"'


class Encoder(Protocol):
    """Turns texts into vectors.

    Attributes:
      identity: names the space of the vectors. It is stored in checkpoints, since a model cannot
        use vectors of another space.
      width: the length of a vector.
      words: the vocabulary, if it has a fixed one; a text with none of these words gives zeros.
      gives_statements: whether its vectors are what texts state
        (:mod:`pacodi_jax.text.statements`), so that captions written here need not be read.
    """

    identity: str
    width: int
    words: tuple[str, ...] = ()
    gives_statements: bool = False

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the vectors of ``texts``, float32 ``(N, width)``."""
        ...

    def taught(self, texts: Sequence[str]) -> "Encoder":
        """Returns the encoder for requests to a model trained on ``texts``."""
        del texts
        return self  # a language model needs no vocabulary of its own


def clean_text(text: str) -> str:
    """Returns the text in NFKC form, control characters as spaces, white space collapsed.

    Raises:
      PacodiError: if it is not a string, or has no word, more than 1000 words, or only words that
        say nothing about a series.
    """
    if not isinstance(text, str):
        raise PacodiError(f"a text must be a string, got {type(text).__name__}.")
    if not text.isprintable():
        text = "".join(" " if unicodedata.category(c).startswith("C") else c for c in text)
    words = unicodedata.normalize("NFKC", text).split()
    if not any(c.isalnum() for word in words for c in word):
        raise PacodiError(
            f"the text is empty: it has no word. Describe the series, for example {_EXAMPLE}."
        )
    if len(words) > MAX_WORDS:
        raise PacodiError(
            f"the text has {len(words)} words; at most {MAX_WORDS} are read. Shorten it to the "
            "shape of the series."
        )
    cleaned = " ".join(words)
    if FILLERS.issuperset(WORD.findall(cleaned.casefold())):
        raise PacodiError(
            f"the text {cleaned[:60]!r} says nothing of the series; say what it does, for example "
            f"{_EXAMPLE}."
        )
    return cleaned


def as_numbers(values: Any, width: int, source: str) -> np.ndarray:
    """Returns ``values`` as a float32 array of any shape; too large numbers become infinite.

    Raises:
      PacodiError: naming ``source``, for anything but real numbers in rows of one length.
    """
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise TypeError("complex numbers")
        with np.errstate(over="ignore"):
            return array.astype(np.float32)
    except (TypeError, ValueError, OverflowError):
        raise PacodiError(
            f"{source}: embeddings must be rows of {width} numbers; turn a text into one with "
            "Trained.encode."
        ) from None


def check_vectors(vectors: Any, width: int, source: str) -> np.ndarray:
    """Returns ``vectors`` as float32 ``(N, width)`` after checking them.

    Raises:
      PacodiError: naming ``source``, for anything but numbers, a wrong width or a value that is
        not finite.
    """
    vectors = as_numbers(vectors, width, source)
    if vectors.ndim != 2 or vectors.shape[1] != width:
        got = vectors.shape[1] if vectors.ndim == 2 else f"shape {vectors.shape}"
        raise PacodiError(f"{source}: embeddings must be {width} numbers wide, got {got}.")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        raise PacodiError(
            f"{source}: embedding {int(bad[0])} is not finite ({bad.size} such); "
            "drop those rows or make them anew."
        )
    return vectors


def require_identity(encoder: Encoder, expected: str) -> None:
    """Refuses an encoder other than the one that a checkpoint was trained with.

    Raises:
      PacodiError: naming both identities.
    """
    if encoder.identity != expected:
        raise PacodiError(
            f"the checkpoint was trained with text encoder {expected!r}, but this one is "
            f"{encoder.identity!r}; their vectors differ in meaning. Use the first or train anew."
        )


def served_identity(model: str, width: int) -> str:
    """Names the space of a served model's vectors, at whatever address it is served."""
    return f"served/{model}/width={width}"
