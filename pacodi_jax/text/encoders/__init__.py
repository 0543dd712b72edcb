"""Text encoders behind one interface: ``choose("encoder", name, ENCODERS)(**options)``."""

from collections.abc import Callable

from pacodi_jax.text.encoders.endpoint import Endpoint
from pacodi_jax.text.encoders.hashed import Hashed
from pacodi_jax.text.encoders.interface import Encoder, check_vectors, require_identity
from pacodi_jax.text.encoders.minilm import MiniLM
from pacodi_jax.text.encoders.minilm_clauses import MiniLMClauses
from pacodi_jax.text.encoders.precomputed import Precomputed
from pacodi_jax.text.encoders.statement_reader import StatementReader

__all__ = ["ENCODERS", "Encoder", "check_vectors", "require_identity"]

#: Every encoder by name.
ENCODERS: dict[str, Callable[..., Encoder]] = {
    "endpoint": Endpoint,
    "hashed": Hashed,
    "minilm": MiniLM,
    "minilm_clauses": MiniLMClauses,
    "precomputed": Precomputed,
    "statements": StatementReader,
}
