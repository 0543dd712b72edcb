"""Clauses: the parts of a text that can be read by themselves."""

import re

_BREAK = re.compile(r"[.,;:!?\n]+\s+|[.,;:!?\n]+$")


def clauses(text: str) -> list[str]:
    """Splits a text at punctuation that is followed by space, so that 0.5 stays whole.

    Example:
      >>> clauses("A slow rise, then a sharp drop. High volatility.")
      ['A slow rise', 'then a sharp drop', 'High volatility']
    """
    return [part.strip() for part in _BREAK.split(text) if part.strip()]
