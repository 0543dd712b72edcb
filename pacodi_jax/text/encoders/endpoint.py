"""Vectors from any OpenAI-compatible embeddings service."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders import kept
from pacodi_jax.text.encoders.interface import Encoder, check_vectors, clean_text, served_identity
from pacodi_jax.text.service import Service, post

_BATCH = 128


class Endpoint(Encoder):
    """Asks ``POST {url}/embeddings`` for vectors.

    Its identity names the model and the width, not the address: the same model served elsewhere
    gives the same vectors, and ``precomputed`` vectors of that model are in the same space.

    Args:
      service: the address, the variable that holds the key, time-outs and retries.
      model: the model's name there, for example ``text-embedding-3-large``.
      width: the length of its vectors.
      cut: whether to ask the service to shorten its vectors to ``width`` (``dimensions``); only
        some models can.
    """

    def __init__(self, *, service: Service, model: str, width: int, cut: bool = False):
        self._service, self._model, self._cut = service, model, cut
        self.width = width
        self.identity = served_identity(model, width)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns the vectors of ``texts``, float32 ``(N, width)``; equal texts are sent once.

        Answers are cached for later runs, by address, model and width.

        Raises:
          PacodiError: if the service fails or answers with something else.
        """
        cleaned = [clean_text(text) for text in texts]
        space = f"{self.identity}/{self._service.url}"
        return kept.encode(cleaned, self._ask, space=space, width=self.width, block=_BATCH)

    def _ask(self, texts: list[str]) -> np.ndarray:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._cut:
            body["dimensions"] = self.width
        answer = post(self._service, "/embeddings", body)
        try:
            rows = {int(item["index"]): item["embedding"] for item in answer["data"]}
            with np.errstate(over="ignore"):  # infinite values are refused below
                vectors = np.array([rows[number] for number in range(len(texts))], np.float32)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            raise PacodiError(
                f"{self._service.url} answered without {len(texts)} embeddings of one width; is it "
                "an OpenAI-compatible embeddings service?"
            ) from None
        return check_vectors(vectors, self.width, self._service.url)
