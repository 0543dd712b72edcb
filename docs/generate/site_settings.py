"""The page of every setting, made of the dataclasses that hold them."""

import dataclasses
from typing import Any, get_args, get_origin, get_type_hints

from pacodi_jax.models import FAMILIES
from pacodi_jax.settings import Config

INTRODUCTION = """# Settings

Every setting of a run, with its default, what it accepts and what it does. This page is made from
the code that checks them. The library takes them as `settings={"train.steps": 2000}`, `pacodi` as
`--set train.steps=2000`, the presets' command as `--config.train.steps=2000`. A wrong name or value
is refused with the nearest right one.

`seed` (0) stands alone: of training and, by default, of samples.

"""
#: Sections of every run, and what they are about.
ENGINE = {
    "data": "which data, how they are cut, split and scaled",
    "train": "how long and how carefully to train",
    "evaluate": "how samples are scored",
    "text": "texts as conditions",
}
_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "True or False"}


def settings_page() -> dict[str, str]:
    """The page by its name."""
    own = {part.name: part.type for part in dataclasses.fields(Config)}
    parts = [INTRODUCTION]
    for name, words in ENGINE.items():
        parts.append(f"## `{name}`: {words}\n\n{table(own[name])}\n")
    for family in FAMILIES.values():
        parts.append(f"## Model `{family.name}`\n")
        if family.defaults:
            told = ", ".join(f"`{name}={value}`" for name, value in family.defaults.items())
            parts.append(f"It brings its own defaults: {told}.\n")
        for size, values in family.sizes.items():
            if values:
                told = ", ".join(f"`{name}={value}`" for name, value in values.items())
                parts.append(f"- size `{size}`: {told}")
        parts.append("")
        for part in dataclasses.fields(family.settings):
            parts.append(table(part.type) + "\n")
    return {"reference/settings.md": "\n".join(parts)}


def table(section: Any) -> str:
    """The settings of a section, one per row."""
    hints = get_type_hints(section)
    rows = ["| setting | default | accepted | effect |", "|---|---|---|---|"]
    for field in dataclasses.fields(section):
        cells = (
            f"`{section.full_name(field.name)}`",
            f"`{default(field)!r}`",
            accepted(field, hints[field.name]),
            field.metadata.get("text", ""),
        )
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows)


def default(field: dataclasses.Field) -> Any:
    """What holds unless something else is given."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def accepted(field: dataclasses.Field, hint: Any) -> str:
    """The choices, the range or the type, in words."""
    rules = field.metadata
    if rules.get("choices") is not None:
        return ", ".join(f"`{choice}`" if choice else "empty" for choice in rules["choices"])
    if rules.get("accepted") is not None:
        return rules["accepted"][0]
    if rules.get("least") is not None:
        return f"{rules['least']} or more"
    return kind(hint)


def kind(hint: Any) -> str:
    """A type in words."""
    if get_origin(hint) is tuple:
        return "several, between commas"
    options = [each for each in get_args(hint) if each is not type(None)]
    if options:
        words = " or ".join(kind(each) for each in options)
        return words + (", or nothing" if type(None) in get_args(hint) else "")
    return _KINDS.get(hint, "anything")
