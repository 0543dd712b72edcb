"""Reads what texts state: attention pooling over the frozen word-piece states of MiniLM.

Each fact of :data:`~pacodi_jax.text.statements.FACTS` has a query q_f. With the last hidden states
h_t of a sentence's word pieces, a_ft = softmax_t(q_f · K h_t) and v_f = Σ_t a_ft GELU(V h_t); the
slots of the fact are on where sigmoid(W_f v_f + b_f) is above one half. The weights are
trained on the captions of :mod:`pacodi_jax.text.captions`, which say what they state
(``benchmarks/train_reader.py``); they are no part of any data set and come with the package.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import statements
from pacodi_jax.text.encoders.interface import Encoder, clean_text
from pacodi_jax.text.encoders.minilm import MiniLM
from pacodi_jax.types import Array

WEIGHTS = Path(__file__).with_name("statement_reader.safetensors")
_VERSION = 1
_SENTENCE = re.compile(r"[.;:!?]+(?:\s+|$)")
_WEAK = 0.3  # the best slot of a fact counts from here on, if none of it reaches one half
#: Which fact each slot belongs to.
OWNERS = np.repeat(np.arange(len(statements.FACTS)), list(statements.FACTS.values()))
#: The same as zeros and ones ``(facts, WIDTH)``: a product by it is cheaper than to gather.
_OWNS = (np.arange(len(statements.FACTS))[:, None] == OWNERS).astype(np.float32)


def init(key: Array, states: int, width: int) -> dict[str, Array]:
    """Untrained weights for hidden states of ``states`` numbers."""
    shapes = {
        "query": (len(statements.FACTS), width),
        "key": (states, width),
        "value": (states, width),
        "output": (statements.WIDTH, width),
    }
    made = {
        name: jax.random.normal(jax.random.fold_in(key, number), shape) * width**-0.5
        for number, (name, shape) in enumerate(shapes.items())
    }
    return made | {"bias": jnp.full(statements.WIDTH, -3.0)}


def logits(weights: Mapping[str, Array], states: Array, mask: Array) -> Array:
    """Of every slot ``(B, WIDTH)``, from hidden states ``(B, N, D)`` and ``mask (B, N)``."""
    scores = jnp.einsum("fw,bnw->bfn", weights["query"], states @ weights["key"])
    shares = jax.nn.softmax(jnp.where(mask[:, None], scores, -jnp.inf))
    pooled = jnp.einsum("bfn,bnw->bfw", shares, jax.nn.gelu(states @ weights["value"]))
    every = jnp.einsum("bfw,sw->bfs", pooled, weights["output"])
    return jnp.sum(every * _OWNS, axis=1) + weights["bias"]


def sentences(text: str) -> list[str]:
    """The sentences of a clean text."""
    return [part for part in _SENTENCE.split(text) if any(map(str.isalnum, part))]


def decide(chances: np.ndarray) -> dict[str, set[int]]:
    """What a sentence states, by the chance of every slot ``(WIDTH,)``."""
    told = {}
    for name, first in statements.FIRST.items():
        part = chances[first : first + statements.FACTS[name]]
        if part.max() > _WEAK:
            told[name] = set(np.flatnonzero(part > min(0.5, part.max() - 1e-6)).tolist())
    return told


def together(told: Sequence[statements.Stated]) -> dict[str, set[int]]:
    """What sentences state together; of two that exclude one another the later one counts."""
    found: dict[str, set[int]] = {}
    for one in told:
        for name, classes in one.items():
            before = found.get(name, set(classes))
            if name in statements.SCATTERED:
                found[name] = before | set(classes)
            else:
                found[name] = before & set(classes) or set(classes)
    return found


@lru_cache(maxsize=1)
def _language_model(folder: str | None) -> MiniLM:
    """Loaded when a text is read, and not before: training needs none."""
    return MiniLM(folder=folder)


class StatementReader(Encoder):
    """Turns texts into statements.

    Args:
      folder: where MiniLM's files are, or None for the installed package.
    """

    name = "statements"
    width = statements.WIDTH
    identity = f"{name}/v{_VERSION}/width={width}"
    gives_statements = True

    def __init__(self, *, folder: str | None = None):
        self._folder = folder

    def read(self, texts: Sequence[str]) -> list[dict[str, set[int]]]:
        """What each text states; nothing, where it does not speak of a series."""
        parts = [sentences(clean_text(text)) for text in texts]
        different = sorted({part for text in parts for part in text})
        told = dict(zip(different, self._read(different), strict=True))
        return [together([told[part] for part in text]) for text in parts]

    def explain(self, text: str) -> tuple[dict[str, set[int]], list[str]]:
        """What a text states, and the sentences of which nothing is understood."""
        parts = sentences(clean_text(text))
        told = self._read(parts)
        return together(told), [part for part, one in zip(parts, told, strict=True) if not one]

    def _read(self, texts: list[str]) -> list[dict[str, set[int]]]:
        if not texts:
            return []
        weights = {name: value.astype(np.float32) for name, value in load_file(WEIGHTS).items()}
        compute, told = jax.jit(logits), []
        lower = [text.casefold() for text in texts]
        for states in _language_model(self._folder).hidden_states(lower):
            size = -(-len(states) // 16) * 16
            padded = np.zeros((1, size, states.shape[1]), np.float32)
            padded[0, : len(states)] = states
            chances = jax.nn.sigmoid(compute(weights, padded, np.arange(size)[None] < len(states)))
            told.append(decide(np.asarray(chances[0])))
        return told

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Returns statements, float32 ``(N, WIDTH)``.

        Raises:
          PacodiError: for a text that states nothing, or MiniLM's files missing.
        """
        rows = np.zeros((len(texts), self.width), np.float32)
        for row, text, told in zip(rows, texts, self.read(texts), strict=True):
            if not told:
                raise PacodiError(
                    f"nothing of {clean_text(text)[:60]!r} is understood; say what the series "
                    'does, for example "it rises slowly, then drops sharply near the end".'
                )
            row[:] = statements.vector(told)
        return rows
