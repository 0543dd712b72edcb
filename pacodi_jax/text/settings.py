"""Settings of texts as conditions, and the encoder that they ask for."""

from dataclasses import dataclass
from typing import Any

from pacodi_jax.config import Section, setting
from pacodi_jax.errors import PacodiError
from pacodi_jax.text import tsfragment
from pacodi_jax.text.encoders import ENCODERS, Encoder
from pacodi_jax.text.service import Service


@dataclass(frozen=True)
class TextSettings(Section, name="text"):
    """How texts become conditions."""

    encoder: str = setting("", "what reads the texts; empty for none", choices=("", *ENCODERS))
    phrasings: int = setting(4, "captions per training window, if the data has no texts", least=1)
    dropout: float = setting(
        0.1,
        "probability that a training example's condition is dropped, for guidance",
        accepted=("0 <= dropout <= 1", lambda x: 0 <= x <= 1),
    )
    url: str = setting("", "address of an OpenAI-compatible service, for endpoint")
    model: str = setting("", "embedding model of the service, or of precomputed vectors")
    width: int = setting(1024, "of hashed, minilm_clauses and endpoint vectors", least=1)
    cut: bool = setting(False, "ask the endpoint to shorten its vectors to width")


def build_encoder(
    settings: TextSettings, *, words: tuple[str, ...] = (), path: str = ""
) -> Encoder:
    """Builds the encoder that the settings name.

    Args:
      settings: of the section ``text``.
      words: the words of a trained model's texts, by which ``hashed`` reads requests.
      path: the TSFragment-600K file or folder that holds the vectors of ``precomputed``.

    Raises:
      PacodiError: if no encoder is named, or what it needs is missing.
    """
    if not settings.encoder:
        raise PacodiError(
            f"text.encoder is empty, so no text can be read; name one of {', '.join(ENCODERS)}."
        )
    if settings.encoder == "endpoint" and not settings.model:
        raise PacodiError(
            "text.model is empty; name the embedding model of the service at text.url."
        )
    return ENCODERS[settings.encoder](**_options(settings, words, path))


def _options(settings: TextSettings, words: tuple[str, ...], path: str) -> dict[str, Any]:
    """What the named encoder is made with."""
    match settings.encoder:
        case "hashed":
            return {"width": settings.width, "words": words}
        case "minilm_clauses":
            return {"width": settings.width}
        case "endpoint":
            served = {"service": Service(settings.url), "model": settings.model}
            return served | {"width": settings.width, "cut": settings.cut}
        case "precomputed":
            held = tsfragment.read(path)
            model = settings.model or tsfragment.MODEL
            return {"texts": held.texts, "vectors": held.vectors, "model": model}
    return {}
