"""Settings: one frozen dataclass per section holds defaults, choices, ranges and words.

A section is written once, where it is used::

    @dataclass(frozen=True)
    class Network(Section, name="model"):
        width: int = setting(64, "of a token", least=1)
        dtype: str = setting("float32", "of the products", choices=DTYPES)

and made by ``Network(**config.model)``. Every value is checked when it is made; an unknown or
impossible one is refused by its full name, ``model.width``.
"""

import ast
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

import numpy as np

from pacodi_jax.errors import PacodiError, choose, nearest

#: Whole numbers below it are counted in 32 bits.
LARGEST = 2**31
_FLAGS = {"true": True, "false": False, "1": True, "0": False}
_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "True or False"}


def setting(
    default: Any,
    text: str,
    *,
    choices: Iterable[str] | None = None,
    least: float | None = None,
    accepted: tuple[str, Callable[[Any], bool]] | None = None,
) -> Any:
    """A field of a section.

    Args:
      default: its value unless another is given.
      text: what it is, in words that follow its name.
      choices: the accepted values, if they are a fixed set of names.
      least: the smallest accepted number.
      accepted: any other rule: how to say it, and the test that a value must pass.
    """
    rules = {"text": text, "choices": choices, "least": least, "accepted": accepted}
    return dataclasses.field(default=default, metadata=rules)


@dataclass(frozen=True)
class Section:
    """Settings that belong together. Subclasses are frozen dataclasses of :func:`setting` fields.

    Attributes:
      section: how the section is called in a config and in messages.
    """

    section: ClassVar[str] = ""

    def __init_subclass__(cls, name: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.section = name or cls.section

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value = _as_type(
                self.full_name(field.name), getattr(self, field.name), hints[field.name]
            )
            object.__setattr__(self, field.name, value)
            _check(self.full_name(field.name), value, field)
        self.check()

    def check(self) -> None:
        """Refuses values that exclude one another; called after each was checked by itself."""

    @classmethod
    def full_name(cls, field: str) -> str:
        """``section.field``, as messages and configs have it."""
        return f"{cls.section}.{field}" if cls.section else field

    @classmethod
    def make(cls, values: Mapping[str, Any]) -> Self:
        """Makes the section of a mapping.

        Raises:
          PacodiError: for a name that the section does not have, with the nearest it has.
        """
        names = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in names:
                raise PacodiError(
                    f"there is no setting {cls.full_name(name)!r}.{nearest(name, names)}"
                )
        return cls(**values)

    @classmethod
    def parse(cls, field: str, text: str) -> Any:
        """Reads a value of the command line in the field's type.

        Names of columns and the like are taken as they are, several of them between commas or as
        a Python tuple.

        Raises:
          PacodiError: for a field that is not there, or a text that is not of its type.
        """
        hints = get_type_hints(cls)
        names = [known.name for known in dataclasses.fields(cls)]
        if field not in names:
            full = cls.full_name(field)
            known = [cls.full_name(name) for name in names]
            raise PacodiError(f"there is no setting {full!r}.{nearest(full, known)}")
        return _as_type(cls.full_name(field), _read(text, _allowed(hints[field])), hints[field])

    def replace(self, **changes: Any) -> Self:
        """The section with some values changed; unknown names are refused as by :meth:`make`."""
        return self.make(self.to_dict() | changes)

    def to_dict(self) -> dict[str, Any]:
        """The values by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def _allowed(hint: Any) -> tuple[Any, ...]:
    """The types that a field may have."""
    return get_args(hint) if get_origin(hint) not in (None, tuple) else (hint,)


def _read(text: str, allowed: tuple[Any, ...]) -> Any:
    """A text of the command line as a value of one of these types, or as it is."""
    if str in allowed:
        return text
    word = text.strip().lower()
    if bool in allowed and word in _FLAGS:
        return _FLAGS[word]
    if type(None) in allowed and word in ("", "none"):
        return None
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = text
    if any(get_origin(kind) is tuple for kind in allowed) and not isinstance(value, tuple | list):
        parts = tuple(part.strip() for part in text.split(",") if part.strip())
        numbers = any(get_args(kind)[0] is float for kind in allowed)
        return tuple(map(_number, parts)) if numbers else parts
    return float(word) if word in ("inf", "-inf", "nan") and float in allowed else value


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _as_type(name: str, value: Any, hint: Any) -> Any:
    """The value in the field's type: numpy scalars, lists and whole floats are taken as meant.

    Raises:
      PacodiError: naming the setting, its value and the type that it needs.
    """
    allowed = _allowed(hint)
    if value is None and type(None) in allowed:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    for kind in allowed:
        if kind is tuple or get_origin(kind) is tuple:
            if isinstance(value, str):
                return (value,) if value else ()
            if isinstance(value, Iterable):
                return tuple(value)
        elif kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        elif kind is int and isinstance(value, float) and value.is_integer():
            return int(value)
        elif kind is Any or (type(value) is kind):
            return value
    words = " or ".join(_WORDS.get(kind, "a list") for kind in allowed if kind is not type(None))
    raise PacodiError(f"{name}={value!r}; {words} is needed.")


def _check(name: str, value: Any, field: dataclasses.Field) -> None:
    """Refuses a value outside the field's choices or range, by name."""
    rules = field.metadata
    if rules.get("choices") is not None:
        choose(name, value, dict.fromkeys(rules["choices"]))
    least = rules.get("least")
    if least is not None and not value >= least:
        counted = ", ".join(str(least + i) for i in range(3)) + ", …"
        accepted = counted if isinstance(value, int) else f"{least} or more"
        raise PacodiError(f"{name}={value}; accepted: {accepted}.")
    if least is not None and isinstance(value, int) and value >= LARGEST:
        raise PacodiError(f"{name}={str(value)[:30]}; accepted: whole numbers below 2**31.")
    if rules.get("accepted") is not None:
        words, holds = rules["accepted"]
        if not holds(value):
            raise PacodiError(f"{name}={value}; accepted: {words}.")
