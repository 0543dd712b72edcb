"""Errors that tell the user what was wrong, where, and what to do next."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from absl import flags

_Value = TypeVar("_Value")


class PacodiError(ValueError):
    """A mistake in the user's input. Commands print it without a traceback and exit with 2."""


def nearest(name: str, choices: Iterable[str]) -> str:
    """Returns ``" Did you mean 'x'?"`` for the closest choice in any case, or an empty string."""
    folded = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.5)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def choose(argument: str, name: str, choices: Mapping[str, _Value]) -> _Value:
    """Looks ``name`` up in ``choices``; an unknown name is refused with what is accepted.

    Args:
      argument: how the caller calls this choice, for example ``"solver"``.
      name: what the user asked for.
      choices: every accepted name and its value.

    Returns:
      The value under ``name``.

    Raises:
      PacodiError: naming the argument, its value, the accepted names and the nearest one.
    """
    if name not in choices:
        accepted = ", ".join(choice or "'' (none)" for choice in sorted(choices))
        raise PacodiError(
            f"{argument}={name!r} is unknown; accepted: {accepted}.{nearest(name, choices)}"
        )
    return choices[name]


class Registry(dict[str, _Value]):
    """A dict of choices: ``registry[name]`` refuses an unknown name as :func:`choose` does.

    Args:
      argument: what is chosen, for example ``"solver"``.
      choices: every accepted name and its value.
    """

    def __init__(self, argument: str, choices: Mapping[str, _Value]) -> None:
        super().__init__(choices)
        self.argument = argument

    def __missing__(self, name: str) -> _Value:
        return choose(self.argument, name, self)


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
