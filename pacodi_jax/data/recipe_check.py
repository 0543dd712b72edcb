"""Refuses a recipe that this package did not write: files from strangers hold anything."""

from typing import TYPE_CHECKING

import numpy as np

from pacodi_jax.data import files, tabulate
from pacodi_jax.errors import PacodiError

if TYPE_CHECKING:
    from pacodi_jax.data.recipe import Recipe

#: The endings under which samples are written; empty for arrays in memory.
KINDS = ("", *files.ARRAYS, *files.TABLES)


def check(recipe: "Recipe") -> None:
    """Refuses a recipe whose parts do not fit one another, or that writes no table.

    Raises:
      PacodiError: naming the field.
    """
    if recipe.kind not in KINDS:
        raise PacodiError(f"kind={str(recipe.kind)[:40]!r}; accepted: {', '.join(KINDS[1:])}")
    if isinstance(recipe.length, bool) or not isinstance(recipe.length, int) or recipe.length < 2:
        raise PacodiError(f"length={recipe.length!r}; accepted: 2, 3, 4, …")
    _check_channels(recipe)
    try:
        tabulate.table(recipe, np.zeros((1, 2, len(recipe.channels))), None, None, None)
    except Exception as error:  # of pandas and numpy, for types and clocks that are none
        told = " ".join(str(error).split())[:200]
        raise PacodiError(f"no table can be written by it: {told}") from error


def _check_channels(recipe: "Recipe") -> None:
    count, scaler = len(recipe.channels), recipe.scaler
    texts = (*recipe.channels, *recipe.dtypes, *recipe.columns, *recipe.words)
    if not count or not all(isinstance(text, str) for text in texts):
        raise PacodiError("channels, dtypes, columns and words are lists of texts")
    if len(set(recipe.channels)) < count:
        raise PacodiError("channels: a name stands twice")
    sizes = {"dtypes": len(recipe.dtypes), "scaler.offset": scaler.offset.shape}
    sizes |= {"scaler.factor": scaler.factor.shape}
    for name, size in sizes.items():
        if size not in (count, (count,)):
            raise PacodiError(f"{name} is for another number of channels than {count}")
    if not np.isfinite([*scaler.offset, *scaler.factor]).all() or (scaler.factor < 0).any():
        raise PacodiError("scaler: offsets and factors are finite, factors 0 or more")
    pieces = len(scaler.scores)
    if pieces and scaler.knots.shape != (pieces, count):
        raise PacodiError(f"scaler.knots has shape {scaler.knots.shape}, not {(pieces, count)}")
