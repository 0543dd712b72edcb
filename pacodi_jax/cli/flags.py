"""Mistakes in absl's flags, told in one line."""

import re

from absl import flags

from pacodi_jax.errors import nearest

#: What the flags' parsers say of a value of the wrong type, and what it means.
_WRONG_TYPES = {
    "invalid literal for int()": "a whole number is needed",
    "could not convert string to float": "a number is needed",
}


def flag_mistake(error: flags.Error) -> str:
    """What was wrong with the flags, in plain words and with the nearest choice."""
    line = (str(error).strip().splitlines() or [""])[-1].strip()
    flag, _, cause = line.partition(": ")
    for sign, meaning in _WRONG_TYPES.items():
        if sign in cause:
            return f"{flag}: {meaning}"
    choices = re.search(r"one of <(.*)>", cause)
    if not choices:
        return line
    return f"{line}.{nearest(flag.partition('=')[2], choices[1].split('|'))}"
