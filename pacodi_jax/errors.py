"""Errors that tell the user what was wrong, where, and what to do next."""

import difflib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TypeVar

_Value = TypeVar("_Value")


def printable(text: str, keep: str = "") -> str:
    """Returns a text whose control characters are written out: ``\\x1b`` for an escape.

    Names of columns and files come from strangers, and a terminal obeys such characters.

    Args:
      text: what is to be shown.
      keep: control characters that stay, such as a line feed.
    """
    return "".join(
        letter if letter.isprintable() or letter in keep or _is_space(letter) else _spelt(letter)
        for letter in text
    )


def _is_space(letter: str) -> bool:
    return unicodedata.category(letter) == "Zs"


def _spelt(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


class PacodiError(ValueError):
    """A mistake in the user's input. Commands print it without a traceback and exit with 2.

    Its message is one line of at most ``LONGEST`` letters, whatever the names in it hold.
    """

    LONGEST = 2000

    def __init__(self, message: object = "") -> None:
        super().__init__(_cut(printable(str(message)), self.LONGEST))


def _cut(text: str, longest: int) -> str:
    """Leaves out the middle of a long text: what to do next stands at its end."""
    end = longest // 4
    return text if len(text) <= longest else f"{text[: longest - end - 3]} … {text[-end:]}"


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
