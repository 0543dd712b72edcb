"""The files beside a sealed model are for reading: one that says something else is refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pacodi_jax import settings
from pacodi_jax.data import Recipe
from pacodi_jax.errors import PacodiError
from pacodi_jax.settings import Config


def refuse_settings(path: Path, sealed: Config) -> None:
    """Refuses settings beside a model that draw other samples than its own.

    A run that goes on, to more steps than the model has, may also have chosen other samples.
    """
    if not path.is_file():
        return
    told = settings.read(path)
    goes_on = told.train.steps != sealed.train.steps
    difference = settings.first_difference(
        sealed, told, free=settings.FREE if goes_on else settings.AFTERWARDS
    )
    if difference is not None:
        _refuse(path, *difference)


def refuse_recipe(path: Path, sealed: Recipe) -> None:
    """Refuses a recipe beside a model that is not the model's."""
    if path.is_file():
        _compare(path, json.loads(sealed.to_json()), json.loads(read_recipe(path).to_json()))


def refuse_facts(path: Path, sealed: dict[str, Any]) -> None:
    """Refuses a card beside a model that is not the model's."""
    if not path.is_file():
        return
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PacodiError(f"{path} cannot be read: {error}") from error
    _compare(path, sealed, told)


def read_recipe(path: Path) -> Recipe:
    """Reads ``recipe.json``.

    Raises:
      PacodiError: if the file is not one.
    """
    try:
        return Recipe.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PacodiError(f"{path} cannot be read: {error}") from error


def _compare(path: Path, sealed: Any, told: Any) -> None:
    for difference in _differences("", sealed, told):
        _refuse(path, *difference)


def _differences(name: str, sealed: Any, told: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where two JSON values differ: the name, the sealed value and the other."""
    if isinstance(sealed, dict) and isinstance(told, dict):
        for key in (*sealed, *(key for key in told if key not in sealed)):
            inner = f"{name}.{key}" if name else str(key)
            yield from _differences(inner, sealed.get(key), told.get(key))
    elif isinstance(sealed, list) and isinstance(told, list) and len(sealed) == len(told):
        for i, pair in enumerate(zip(sealed, told, strict=True)):
            yield from _differences(f"{name}[{i}]", *pair)
    elif sealed != told:
        yield name or "everything", sealed, told


def _refuse(path: Path, name: str, sealed: Any, told: Any) -> None:
    raise PacodiError(
        f"{path} says {name}={_short(told)}, but the sealed model has {_short(sealed)}. Undo the "
        "change, or load the .pacodi file by itself."
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
