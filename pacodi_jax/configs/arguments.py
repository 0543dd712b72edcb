"""The arguments of a preset: what follows the colon of ``--config=FILE.py:length=64``."""

from collections.abc import Mapping, Sequence

from pacodi_jax.errors import PacodiError, choose, nearest


def parse(
    text: str, accepted: Sequence[str], choices: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Parses ``name=value,name=value``.

    Args:
      text: the part after the colon.
      accepted: the argument names.
      choices: the values of those that have a fixed set; the others are whole numbers.

    Raises:
      PacodiError: naming the argument, its value and what is accepted.
    """
    given: dict[str, str] = {}
    for piece in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or name not in accepted:
            raise PacodiError(
                f"config argument {piece!r} is unknown; accepted: "
                f"{', '.join(f'{n}=…' for n in accepted)}.{nearest(name, accepted)}"
            )
        if name in choices:
            choose(f"config argument {name}", value, dict.fromkeys(choices[name]))
        elif not value.isdecimal() or int(value) < 1:
            raise PacodiError(
                f"config argument {piece!r}: {name} must be a whole number from 1 up."
            )
        given[name] = value
    return given
