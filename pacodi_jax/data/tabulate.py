"""Windows in the user's units as rows of the user's table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pacodi_jax.data import writing
from pacodi_jax.data.clock import Clock
from pacodi_jax.data.frames import ColumnType, as_pandas
from pacodi_jax.errors import PacodiError

if TYPE_CHECKING:
    from pacodi_jax.data.recipe import Recipe

#: The column that numbers the windows of a written table.
WINDOW = "window"


def check(recipe: "Recipe", values: np.ndarray) -> None:
    """Refuses windows that are not ``(N, L, C)`` with the user's C channels."""
    shape, channels = np.shape(values), len(recipe.channels)
    if len(shape) != 3 or shape[2] != channels:
        raise PacodiError(
            f"windows have shape {shape}; expected (N, L, {channels}) in the user's units, as "
            "Recipe.deliver gives them."
        )


def table(
    recipe: "Recipe",
    values: np.ndarray,
    stamps: pd.Index | None,
    ids: Sequence[Any] | None,
    static: pd.DataFrame | None,
    first: int = 0,
) -> pd.DataFrame:
    """The table of :meth:`pacodi_jax.data.Recipe.to_table`."""
    check(recipe, values)
    values = np.asarray(values, np.float64)
    count, length = values.shape[:2]
    columns: dict[str, Any] = {WINDOW: np.repeat(np.arange(first, first + count), length)}
    if recipe.clock:
        columns |= recipe.clock.write(
            default_stamps(recipe.clock, count, length, first) if stamps is None else stamps
        )
    if recipe.id:
        columns[recipe.id] = pd.Series(_ids(recipe.id_dtype, ids, count, first)).repeat(length)
    if static is not None:
        names = [a.name for a in recipe.attributes]
        names += [recipe.text] if recipe.text and recipe.text in static else []
        columns |= {name: static[name].repeat(length) for name in names}
    flat = values.reshape(count * length, -1)
    for i, (name, dtype) in enumerate(zip(recipe.channels, recipe.dtypes, strict=True)):
        columns[name] = writing.as_dtype(flat[:, i], dtype)
    ordered = [WINDOW, *(c for c in recipe.columns if c in columns)]
    ordered += [c for c in columns if c not in ordered]
    found = pd.DataFrame({k: pd.Series(columns[k]).reset_index(drop=True) for k in ordered})
    if recipe.backend != "pandas":
        return found
    types = own_types(recipe, found)
    return found.assign(**{name: as_pandas(found[name], types[name]) for name in types})


def default_stamps(clock: Clock, count: int, length: int, begin: int = 0) -> pd.Index:
    """Stamps of consecutive stretches of the source's grid, from its start again at its end."""
    slots = max(clock.rows // length, 1)
    first = np.arange(begin, begin + count) % slots * length
    steps = (first[:, None] + np.arange(length)).ravel()
    return clock.stamps([clock.start], np.zeros(len(steps), int), steps)


def _ids(dtype: str, ids: Sequence[Any] | None, count: int, first: int) -> Sequence[Any]:
    if ids is not None:
        return ids
    number = any(word in dtype.lower() for word in ("int", "float"))
    return [i if number else f"synthetic_{i}" for i in range(first, first + count)]


def own_types(recipe: "Recipe", found: pd.DataFrame) -> dict[str, ColumnType]:
    """The user's types of the columns that can hold what they are given.

    The ids of samples are new; where they do not fit the type of the user's ids they keep their
    own. So does a fractional value that was asked of a static column of whole numbers.
    """
    types = {name: recipe.types[name] for name in map(str, found.columns) if name in recipe.types}
    for name in [recipe.id or "", *(a.name for a in recipe.attributes)]:
        if name in types and not _fits(found[name], types[name]):
            types[name] = {key: types[name][key] for key in types[name] if key == "label"}
    return types


def _fits(values: pd.Series, kind: ColumnType) -> bool:
    """Whether a column's values survive in the user's type."""
    name = str(kind.get("dtype") or kind.get("name") or "")
    target = writing.plain(name)
    if target.kind in "iu" and name.lower() != "float64":
        numbers = pd.to_numeric(values, errors="coerce")
        limits = np.iinfo(target)
        return bool(
            numbers.between(limits.min, limits.max).all() and (numbers == numbers.round()).all()
        )
    text = not pd.api.types.is_numeric_dtype(values.dtype)
    if name.lower() in ("bool", "boolean", "float32", "float64") or name[:4].lower() == "date":
        return not text or isinstance(values.dtype, pd.CategoricalDtype)
    return True
