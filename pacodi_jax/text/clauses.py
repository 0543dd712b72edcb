"""Clauses, which are the parts of a text that can be read on their own, and stems of words."""

import re

_SUFFIX = re.compile(r"(?<=\w{4})ly$|(?<=\w{3})(?:ing|es|ed|e|s)$|(?<=\wo)es$")
_BREAK = re.compile(r"[.,;:!?\n]+\s+|[.,;:!?\n]+$")


def clauses(text: str) -> list[str]:
    """Splits a text at punctuation that is followed by space, so that 0.5 stays whole.

    Example:
      >>> clauses("A slow rise, then a sharp drop. High volatility.")
      ['A slow rise', 'then a sharp drop', 'High volatility']
    """
    return [part.strip() for part in _BREAK.split(text) if part.strip()]


def stem(word: str) -> str:
    """Removes a common ending from a word in lower case.

    Example:
      >>> stem("rising"), stem("rises"), stem("sharply"), stem("early")
      ('ris', 'ris', 'sharp', 'early')
    """
    return _SUFFIX.sub("", word)
