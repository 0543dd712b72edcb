"""Precomputed vectors, such as those of TSFragment-600K: texts are looked up in a table."""

from collections.abc import Sequence

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.interface import Encoder, check_vectors, served_identity


class Precomputed(Encoder):
    """A table of texts and their vectors.

    Args:
      texts: the texts, N of them.
      vectors: their vectors ``(N, width)``.
      model: the name of the model that made them. With the width it is the identity, so an endpoint
        that serves the same model reads new texts into the same space.

    Raises:
      PacodiError: if the counts differ, or a vector has another width or is not finite.
    """

    def __init__(
        self,
        *,
        texts: Sequence[str],
        vectors: np.ndarray,
        width: int = 128,
        model: str = "text-embedding-3-large",
    ):
        self._vectors = check_vectors(vectors, width, "encoder precomputed")
        if len(texts) != len(self._vectors):
            raise PacodiError(
                f"encoder precomputed: {len(texts)} texts but {len(self._vectors)} vectors."
            )
        self._place = {text: number for number, text in enumerate(texts)}
        self._model, self.width = model, width
        self.identity = served_identity(model, width)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the vectors of ``texts``, float32 ``(N, width)``.

        Raises:
          PacodiError: for a text that is not in the table.
        """
        unknown = [text for text in texts if text not in self._place]
        if unknown:
            raise PacodiError(
                f"encoder precomputed has no vector for {str(unknown[0])[:60]!r} "
                f"({len(unknown)} such texts). For new texts use encoder endpoint with "
                f"{self._model} cut to {self.width}, or train with encoder minilm or hashed."
            )
        return self._vectors[[self._place[text] for text in texts]]
