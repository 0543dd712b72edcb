"""A cache of slow encoders' vectors, so that no text is read or paid for twice.

A file holds the vectors of one block of texts and the digests of these texts, never the texts. A
file that cannot be read counts as absent; one that cannot be written is skipped.
"""

import contextlib
import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pacodi_jax import files
from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.interface import check_vectors

#: Seconds between two progress lines of a long encoding.
_TOLD_EVERY = 15.0
_LOG = logging.getLogger("pacodi_jax")


def _digest(text: str, size: int = 16) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()


def folder_of(space: str) -> Path:
    """The cache folder of one space, in ``vectors`` of :func:`pacodi_jax.files.cache_folder`."""
    return files.cache_folder("vectors", _digest(space, 8).hex())


def _stored(folder: Path, wanted: set[bytes], width: int) -> dict[bytes, np.ndarray]:
    """The cached vectors of the wanted digests."""
    found: dict[bytes, np.ndarray] = {}
    for path in sorted(folder.glob("*.npz")):
        try:
            with path.open("rb") as file, np.load(file) as held:
                digests = [row.tobytes() for row in held["digests"]]
                rows = [row for row, digest in enumerate(digests) if digest in wanted]
                if rows:
                    vectors = check_vectors(held["vectors"], width, str(path))
                    found |= {digests[row]: vectors[row] for row in rows}
        except Exception:  # a damaged file may raise anything
            continue
    return found


def _keep(folder: Path, digests: list[bytes], vectors: np.ndarray) -> None:
    """Writes the vectors of one block of texts."""
    joined = b"".join(digests)
    rows = np.frombuffer(joined, np.uint8).reshape(len(digests), -1)
    name = hashlib.blake2b(joined, digest_size=16).hexdigest()
    with (
        contextlib.suppress(PacodiError),
        files.replacing(folder / f"{name}.npz") as temporary,
        temporary.open("wb") as stream,
    ):
        np.savez(stream, digests=rows, vectors=vectors)


def encode(
    texts: Sequence[str],
    read: Callable[[list[str]], np.ndarray],
    *,
    space: str,
    width: int,
    block: int,
) -> np.ndarray:
    """Returns the vectors of clean texts; each different text that is not cached is read once.

    Args:
      texts: N clean texts.
      read: turns at most ``block`` different texts into vectors ``(…, width)``.
      space: names what ``read`` computes; vectors cached under another name are not used.
      width: the length of a vector.
      block: how many texts are read, and cached, at once.

    Returns:
      Vectors, float32 ``(N, width)``.
    """
    digests = {text: _digest(text) for text in texts}
    folder = folder_of(space)
    found = _stored(folder, set(digests.values()), width)
    missing = sorted((t for t in digests if digests[t] not in found), key=lambda t: (len(t), t))
    told = time.monotonic()
    for first in range(0, len(missing), block):
        part = missing[first : first + block]
        vectors, named = read(part), [digests[text] for text in part]
        _keep(folder, named, vectors)
        found |= zip(named, vectors, strict=True)
        if time.monotonic() - told >= _TOLD_EVERY:
            told = time.monotonic()
            _LOG.info("encoding texts: %d of %d", first + len(part), len(missing))
    gathered = np.zeros((len(texts), width), np.float32)
    for row, text in zip(gathered, texts, strict=True):
        row[:] = found[digests[text]]
    return gathered
