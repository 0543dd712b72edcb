"""The seal of a checkpoint: names, shapes, dtypes and SHA-256 of all it holds.

Orbax and TensorStore keep no checksum of array contents, so a flipped bit restores as a wrong
weight. The seal is written beside the arrays and proves them on restore; it also proves itself.
"""

import hashlib
import json
import math
from typing import Any

import jax
import numpy as np

from pacodi_jax.errors import PacodiError


class Damaged(Exception):
    """A stored step that is not what was saved."""


def flatten(tree: Any) -> dict[str, np.ndarray]:
    """Returns the leaves of ``tree`` under their paths, such as ``params.layers_0.kernel``."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    flat = {_name(path): np.asarray(leaf) for path, leaf in leaves}
    if len(flat) != len(leaves):
        raise PacodiError("two arrays of the state have one name; rename a field of it.")
    return flat


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def unflatten(template: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Returns ``arrays`` in the structure of ``template``, whose names they must have."""
    paths, structure = jax.tree_util.tree_flatten_with_path(template)
    return jax.tree.unflatten(structure, [arrays[_name(path)] for path, _ in paths])


def pack(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Returns the bytes of all arrays in one, in order: orbax writes it as a single array.

    A failure then has one cause and one message, where hundreds of small writes have hundreds.
    """
    return np.frombuffer(b"".join(a.tobytes() for a in arrays.values()), np.uint8)


def unpack(packed: np.ndarray, sealed: dict[str, Any]) -> dict[str, np.ndarray]:
    """Returns the arrays in ``packed`` as their seal describes them, proved by it.

    Raises:
      Damaged: naming the first array that is not the one that was saved.
    """
    arrays, start = {}, 0
    for name, want in sealed["arrays"].items():
        dtype, size = np.dtype(want["dtype"]), math.prod(want["shape"])
        part = packed[start : start + size * dtype.itemsize]
        start += part.nbytes
        if part.nbytes != size * dtype.itemsize:
            raise Damaged(f"the array {name} is cut short")
        arrays[name] = part.view(dtype).reshape(want["shape"]).copy()
    verify(arrays, sealed)
    return arrays


def verify(arrays: dict[str, np.ndarray], sealed: dict[str, Any]) -> None:
    """Compares every array with its seal.

    Raises:
      Damaged: naming the first array that is not the one that was saved.
    """
    for name, want in sealed["arrays"].items():
        if _sha256(arrays[name]) != want["sha256"]:
            raise Damaged(f"the array {name} is not the one that was saved")


def _sha256(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()


def _own_digest(sealed: dict[str, Any]) -> str:
    body = {"arrays": sealed["arrays"], "metadata": sealed["metadata"]}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def seal(arrays: dict[str, np.ndarray], metadata: dict[str, Any]) -> dict[str, Any]:
    """Returns the seal of ``arrays`` and of the JSON value ``metadata`` that travels with them."""
    described = {
        name: {"shape": list(a.shape), "dtype": a.dtype.name, "sha256": _sha256(a)}
        for name, a in arrays.items()
    }
    sealed: dict[str, Any] = {"arrays": described, "metadata": metadata}
    return sealed | {"sha256": _own_digest(sealed)}


def open_seal(sealed: Any) -> dict[str, Any]:
    """Returns the seal if it is intact.

    Raises:
      Damaged: if it is not a seal, or not the one that was written.
    """
    try:
        intact = sealed["sha256"] == _own_digest(sealed)
    except (KeyError, TypeError) as error:
        raise Damaged("its seal cannot be read") from error
    if not intact:
        raise Damaged("its seal does not match its own digest")
    return sealed


def require_same_shapes(template: Any, sealed: dict[str, Any], where: str) -> None:
    """Refuses to restore into a model of another make.

    Raises:
      PacodiError: naming the first array that is missing, unexpected, or of another shape or dtype.
    """
    have = {name: (list(a["shape"]), a["dtype"]) for name, a in sealed["arrays"].items()}
    leaves, _ = jax.tree_util.tree_flatten_with_path(template)
    want = {_name(path): (list(leaf.shape), np.dtype(leaf.dtype).name) for path, leaf in leaves}
    for name in sorted(have.keys() | want.keys()):
        if have.get(name) != want.get(name):
            raise PacodiError(
                f"the checkpoint {where} holds another model: {name} is {_describe(have, name)} "
                f"there and {_describe(want, name)} here. Use the configuration it was trained "
                "with, or another --workdir."
            )


def _describe(arrays: dict[str, tuple[list[int], str]], name: str) -> str:
    if name not in arrays:
        return "absent"
    shape, dtype = arrays[name]
    return f"{dtype}[{','.join(map(str, shape))}]"
