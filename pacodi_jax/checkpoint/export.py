"""What a run hands on: weights in safetensors with a card beside them."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from pacodi_jax.checkpoint.digest import (
    Damaged,
    flatten,
    open_seal,
    require_same_shapes,
    seal,
    unflatten,
    verify,
)
from pacodi_jax.checkpoint.disk import write_text
from pacodi_jax.errors import PacodiError


def export(folder: Path, weights: Any, card: dict[str, Any]) -> Path:
    """Writes ``model.safetensors`` and its card, ``model.json`` and ``model.md``.

    Args:
      folder: where to write them.
      weights: a tree of arrays; each is stored under its path.
      card: plain facts of the model, in the order in which a reader wants them.

    Returns:
      The path of the weights.
    """
    arrays = {name: np.array(a, order="C") for name, a in flatten(weights).items()}
    place = folder / "model.safetensors"
    temporary = folder / ".model.safetensors.part"
    save_file(arrays, temporary, metadata={"seal": json.dumps(seal(arrays, card))})
    temporary.chmod(0o644)
    os.replace(temporary, place)
    write_text(folder / "model.json", json.dumps(card, indent=2) + "\n")
    write_text(folder / "model.md", _markdown(card))
    return place


def _markdown(card: dict[str, Any]) -> str:
    rows = [f"| {key} | {json.dumps(value)} |" for key, value in card.items()]
    return "\n".join(["# Model card", "", "| what | value |", "|---|---|", *rows, ""])


def load_weights(path: Path, template: Any) -> tuple[Any, dict[str, Any]]:
    """Returns exported weights in the structure of ``template``, and their card.

    Args:
      path: the file that :func:`export` wrote.
      template: a tree of arrays, or of their shapes and dtypes (``jax.eval_shape``).

    Raises:
      PacodiError: if the file is missing, damaged, or holds another model.
    """
    try:
        arrays = load_file(path)
        with safe_open(path, "numpy") as file:
            sealed = open_seal(json.loads((file.metadata() or {})["seal"]))
        require_same_shapes(template, sealed, str(path))
        verify(arrays, sealed)
    except (OSError, SafetensorError, KeyError, json.JSONDecodeError, Damaged) as error:
        raise PacodiError(
            f"the weights {path} cannot be read: {error}. Export them again with --mode=train."
        ) from error
    return unflatten(template, arrays), sealed["metadata"]
