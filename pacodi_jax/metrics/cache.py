"""What depends on the real windows alone is kept between runs: encoders, floors and ceilings."""

import contextlib
import hashlib
import json
from pathlib import Path

import jax
import numpy as np
import safetensors
import safetensors.numpy

from pacodi_jax import files
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics import ts2vec


def digest(windows: np.ndarray) -> str:
    """Returns 16 hex digits of the windows' contents and shape, whatever their order."""
    rows = np.ascontiguousarray(windows, np.float32).reshape(len(windows), -1)
    digests = sorted(hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows)
    whole = hashlib.blake2b(repr(windows.shape).encode(), digest_size=8)
    for part in digests:
        whole.update(part)
    return whole.hexdigest()


class Cache:
    """A folder of encoders (``.safetensors``) and bounds (``.json``); ``None`` keeps nothing.

    A file that cannot be read counts as absent, and one that cannot be written is not kept: a
    full disk costs time, not the scores.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def _write(self, name: str, data: bytes) -> None:
        if self.folder is not None:
            with contextlib.suppress(PacodiError):
                files.write(self.folder / name, lambda temporary: temporary.write_bytes(data))

    def encoder(self, key: str, like: ts2vec.Params) -> ts2vec.Params | None:
        """Returns the weights kept under ``key``, shaped ``like`` these, or None."""
        if self.folder is None:
            return None
        leaves, tree = jax.tree.flatten(like)
        try:
            stored = safetensors.numpy.load_file(self.folder / f"encoder-{key}.safetensors")
        except (OSError, safetensors.SafetensorError):
            return None
        names = [str(i) for i in range(len(leaves))]
        if [leaf.shape for leaf in leaves] != [stored[n].shape for n in names if n in stored]:
            return None
        return jax.tree.unflatten(tree, [stored[n] for n in names])

    def keep_encoder(self, key: str, params: ts2vec.Params) -> None:
        """Keeps weights under ``key``."""
        leaves = {str(i): np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(params))}
        self._write(f"encoder-{key}.safetensors", safetensors.numpy.save(leaves))

    def bounds(self, key: str) -> dict[str, float]:
        """Returns the floors and ceilings kept under ``key``; empty if there are none."""
        if self.folder is None:
            return {}
        try:
            stored = json.loads((self.folder / f"bounds-{key}.json").read_text())
            return {str(name): float(value) for name, value in stored.items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}

    def keep_bounds(self, key: str, bounds: dict[str, float]) -> None:
        """Keeps floors and ceilings under ``key``."""
        self._write(f"bounds-{key}.json", json.dumps(bounds, indent=1).encode())


def key_of(*parts: object) -> str:
    """Returns 16 hex digits of ``parts``."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def default_cache() -> Cache:
    """The judge's folder in the user's cache."""
    return Cache(files.cache_folder("judge"))
