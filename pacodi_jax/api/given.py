"""Data as users give them: a frame, an array, a file, or a name of the catalogue."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from pacodi_jax.data import Dataset
from pacodi_jax.data.catalogue import CATALOGUE
from pacodi_jax.data.table import unnamed_channels
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import parts
from pacodi_jax.run.trained import Trained


def source(data: Any) -> tuple[dict[str, Any], Any]:
    """The settings that name the data, and the table if it is in memory."""
    if isinstance(data, str | os.PathLike):
        name = os.fspath(data)
        if name in CATALOGUE or name == "sines":
            return {"data.source": name, "data.path": ""}, None
        if not Path(name).expanduser().exists():
            raise PacodiError(
                f"there is no file {name!r}, and no data set of that name; known: "
                f"{', '.join((*CATALOGUE, 'sines'))}."
            )
        return {"data.source": "table", "data.path": str(Path(name).expanduser())}, None
    return {"data.source": "table", "data.path": ""}, data


def dataset(trained: Trained, real: Any) -> Dataset:
    """The training data of a model, given again.

    Raises:
      PacodiError: if none are given, or their channels are others than the model's.
    """
    if real is None:
        raise PacodiError("a loaded model does not hold its training data; give real=….")
    settings, table = source(real)
    found = parts.load_windows(trained.config.changed(settings), table)
    if found.recipe.live_channels != trained.recipe.live_channels:
        raise PacodiError(
            f"real has the channels {', '.join(found.recipe.live_channels)}; the model was "
            f"trained on {', '.join(trained.recipe.live_channels)}."
        )
    return found


def windows(trained: Trained, held_out: Any) -> np.ndarray:
    """All windows ``(N, L, C)`` of a table of the model's columns, in the user's units.

    Columns of a table are found by name, whatever their order; those of an array, which have no
    names, by position.

    Raises:
      PacodiError: if its channels are others than the model's.
    """
    settings, table = source(held_out)
    values, names = parts.all_windows(trained.config.changed(settings), table)
    wanted = trained.recipe.channels
    if set(names) == set(wanted):
        return values[..., [names.index(name) for name in wanted]]
    unnamed = unnamed_channels(len(wanted))
    if len(names) != len(wanted) or unnamed not in (names, wanted):
        raise PacodiError(
            f"held_out has the channels {', '.join(names)}; the model was trained on "
            f"{', '.join(wanted)}."
        )
    return values
