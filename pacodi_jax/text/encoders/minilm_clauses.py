"""MiniLM clause by clause: the kernel mean of a text's clauses.

The mean of the clauses' vectors blurs the facts of a caption. The mean of their random Fourier
features blurs them less: it estimates the kernel mean embedding of the set of clauses under
k(v, w) = exp(−‖v − w‖²/2b²), which in the limit distinguishes all such sets. Clauses recur across
captions, so many captions cost little, and long captions are not cut off.

Rahimi and Recht, 2007, Random Features for Large-Scale Kernel Machines; Muandet et al., 2017,
https://arxiv.org/abs/1605.09522.
"""

from collections.abc import Sequence

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.clauses import clauses
from pacodi_jax.text.encoders.interface import Encoder, clean_text
from pacodi_jax.text.encoders.minilm import MiniLM

BANDWIDTH = 0.8
_VERSION = 1
_SEED = 20260


def _normals(rows: int, columns: int) -> np.ndarray:
    """Standard normals from raw bits by Box–Muller: the same with every version of NumPy."""
    bits = np.random.PCG64(_SEED).random_raw(2 * rows * columns)
    uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    radius, angle = np.sqrt(-2.0 * np.log(uniform[0::2])), 2.0 * np.pi * uniform[1::2]
    return (radius * np.cos(angle)).reshape(rows, columns)


class MiniLMClauses(Encoder):
    """Random Fourier features of each clause's MiniLM vector, averaged over the clauses.

    Args:
      width: number of features, even; more features mean a better estimate of the kernel.
      folder: where MiniLM's files are, or None for the installed package.

    Raises:
      PacodiError: for an odd or tiny width, or if the weights are missing.
    """

    def __init__(self, *, width: int = 1024, folder: str | None = None):
        if width < 16 or width % 2:
            raise PacodiError(f"encoder minilm_clauses: width={width} must be even, 16 or more.")
        self._minilm = MiniLM(folder=folder)
        self._directions = _normals(self._minilm.width, width // 2) / BANDWIDTH
        self.width = width
        digest = self._minilm.identity.rsplit("/", 1)[1]
        self.identity = f"minilm_clauses/v{_VERSION}/width={width}/bandwidth={BANDWIDTH}/{digest}"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns vectors of length at most 1, float32 ``(N, width)``; equal clauses are read once.

        A clause is cut after 256 word pieces.
        """
        parts = [clauses(clean_text(text)) for text in texts]
        unique = sorted({part for text in parts for part in text if any(map(str.isalnum, part))})
        place = {part: number for number, part in enumerate(unique)}
        phase = self._minilm.encode_clean(unique) @ self._directions
        features = (
            np.concatenate([np.cos(phase), np.sin(phase)], axis=1) * (2.0 / self.width) ** 0.5
        )
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        for row, text in zip(vectors, parts, strict=True):
            row[:] = features[[place[part] for part in text if part in place]].mean(axis=0)
        return vectors
