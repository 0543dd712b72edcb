"""Vectors of slow encoders are kept between runs, so that no text is read or paid for twice.

A file holds the vectors of one block of texts and the digests of these texts, never the texts. It
appears whole or not at all; one that cannot be read counts as absent, and one that cannot be
written is not kept.
"""

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pacodi_jax.text.encoders.interface import check_vectors

#: Seconds between two lines that tell how far a long encoding is.
_TOLD_EVERY = 15.0


def _digest(text: str, size: int = 16) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=size).digest()


def folder_of(space: str) -> Path:
    """``$XDG_CACHE_HOME/pacodi_jax/vectors/…``, by default under ``~/.cache``, for one space."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "pacodi_jax" / "vectors" / _digest(space, 8).hex()


def _stored(folder: Path, wanted: set[bytes], width: int) -> dict[bytes, np.ndarray]:
    """The vectors that a folder holds of the wanted digests."""
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
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez(stream, digests=rows, vectors=vectors)
            Path(temporary).replace(folder / f"{name}.npz")
        finally:
            Path(temporary).unlink(missing_ok=True)


def encode(
    texts: Sequence[str],
    read: Callable[[list[str]], np.ndarray],
    *,
    space: str,
    width: int,
    block: int,
) -> np.ndarray:
    """Returns the vectors of clean texts; only those not kept are read, equal ones once.

    Args:
      texts: N clean texts.
      read: turns at most ``block`` different texts into vectors ``(…, width)``.
      space: names what ``read`` makes of a text; vectors of another name are not used.
      width: the length of a vector.
      block: how many texts are read, and kept, at once.

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
            done = f"{first + len(part)} of {len(missing)}"
            print(f"encoding texts: {done}", file=sys.stderr, flush=True)
    gathered = np.zeros((len(texts), width), np.float32)
    for row, text in zip(gathered, texts, strict=True):
        row[:] = found[digests[text]]
    return gathered
