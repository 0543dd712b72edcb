"""One sealed file per trained model: weights, settings, recipe and facts, without code.

The file is a safetensors archive. Its header holds a seal, with the SHA-256 of each array and of
everything else that decides a sample, so a model that was edited or damaged is refused.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from pacodi_jax import files
from pacodi_jax.checkpoint.digest import Damaged, flatten, open_seal, seal, verify
from pacodi_jax.errors import PacodiError

#: The layout of the file; readers refuse a newer one.
FORMAT = 1


class Stored(NamedTuple):
    """What a model file holds.

    Attributes:
      arrays: nested dictionaries of arrays.
      header: plain facts, JSON values by name.
    """

    arrays: dict[str, Any]
    header: dict[str, Any]


def save(path: Path, stored: Stored) -> Path:
    """Writes a model file, whole or not at all."""
    arrays = {name: np.array(a, order="C") for name, a in flatten(stored.arrays).items()}
    sealed = seal(arrays, {"format": FORMAT, **stored.header})
    return files.write(
        path, lambda name: save_file(arrays, name, metadata={"seal": json.dumps(sealed)})
    )


def load(path: Path) -> Stored:
    """Reads a model file and proves it.

    Raises:
      PacodiError: if it is missing, damaged, edited, or of a newer version of this package.
    """
    try:
        with safe_open(path, "numpy") as file:
            sealed = open_seal(json.loads((file.metadata() or {})["seal"]))
        arrays = load_file(path)
        if arrays.keys() != sealed["arrays"].keys():
            raise Damaged("arrays were added or removed")
        verify(arrays, sealed)
    except (OSError, SafetensorError, ValueError, KeyError, RecursionError, Damaged) as error:
        raise PacodiError(f"the model {path} cannot be read: {_reason(error)}.") from error
    header = dict(sealed["metadata"])
    if header.pop("format", 0) > FORMAT:
        raise PacodiError(f"the model {path} is of a newer version; upgrade pacodi-jax.")
    return Stored(nest(arrays), header)


def nest(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Arrays under dotted names as nested dictionaries."""
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        *parents, leaf = name.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[leaf] = array
    return tree


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return "it has no seal, so it is not a model of this package"
    return (str(error) or type(error).__name__).rstrip(".")
