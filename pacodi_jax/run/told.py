"""What decided a draw, as ``samples.json`` tells it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pacodi_jax.run.shards import Shard
from pacodi_jax.text import statements
from pacodi_jax.text.encoders.statement_reader import StatementReader
from pacodi_jax.text.encoders.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pacodi_jax.run.trained import Trained


def draw_facts(
    trained: "Trained",
    count: int,
    seed: int,
    *,
    static: Mapping[str, Any] | None = None,
    text: str | None = None,
    start: Any = None,
    shard: Shard | None = None,
    **how: Any,
) -> dict[str, Any]:
    """What decides the windows of a request: JSON values, known before anything is drawn."""
    how = trained.way(text, how)
    about = trained.generator.facts(**how)
    return {
        "windows": count,
        "seed": seed,
        "label": trained.label or "honest: nothing of a real window was used to sample",
        "sampler": trained.config.sample.replace(**how).to_dict(),
        "evaluations": about.evaluations,
        "calibrated": about.calibrated,
        "model": trained.facts,
        "text": text,
        "reading": _reading(trained, text),
        "static": None if static is None else dict(static),
        "start": None if start is None else str(start),
    } | ({} if shard is None else {"shard": [shard.number, shard.parts]})


def _reading(trained: "Trained", text: str | None) -> dict[str, Any] | None:
    """How a text is read, if its encoder can tell."""
    if text is None:
        return None
    if trained.config.text.encoder == StatementReader.name:
        told, ignored = StatementReader().explain(text)
        return {"stated": statements.words(told), "corrected": {}, "ignored": ignored}
    if not trained.recipe.words:
        return None
    read = Vocabulary(trained.recipe.words).read(text)
    return {"text": read.text, "corrected": read.corrected, "ignored": list(read.ignored)}
