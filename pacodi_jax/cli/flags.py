"""Mistakes in absl's flags and in config files, told in one line."""

import re

from absl import flags

from pacodi_jax.errors import nearest

#: What the flags' parsers say of a value of the wrong type, and what it means.
_WRONG_TYPES = {
    "invalid literal for int()": "a whole number is needed",
    "could not convert string to float": "a number is needed",
    "Non-boolean argument": "true or false is needed",
}


def _wrong_value(line: str) -> str:
    """A flag's value that does not fit, in plain words and with the nearest choice."""
    flag, _, cause = line.partition(": ")
    if cause.startswith("Flag --config must have a value"):
        return "no settings: give --config=configs/NAME.py, or the --workdir of a run"
    for sign, meaning in _WRONG_TYPES.items():
        if sign in cause:
            return f"{flag}: {meaning}"
    choices = re.search(r"one of <(.*)>", cause)
    if not choices:
        return line
    return f"{line}.{nearest(flag.partition('=')[2], choices[1].split('|'))}"


def flag_mistake(error: Exception) -> str:
    """What was wrong with the flags, in one line; a config is code, and may raise anything."""
    lines = str(error).strip().splitlines() or [""]
    if isinstance(error, AttributeError | KeyError):  # an override of what does not exist
        names = re.findall(r"[\w.]+(?=\\?['\"])", str(error))
        if names:
            nearest = f" Did you mean {names[1]!r}?" if len(names) > 1 else ""
            return f"the config has no setting {names[0]!r}.{nearest}"
    if isinstance(error, flags.Error | OSError):  # the last line of a wrapped traceback
        return _wrong_value(lines[-1].strip().removeprefix("pacodi_jax.errors.PacodiError: "))
    return f"--config: {type(error).__name__}: {' '.join(str(error).split())}"
