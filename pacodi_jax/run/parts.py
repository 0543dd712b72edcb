"""From settings to the parts of a run: its data, its text encoder and its generator."""

from typing import Any

import optax
from ml_collections import ConfigDict

from pacodi_jax import data, models
from pacodi_jax.core import statistics
from pacodi_jax.data import Dataset
from pacodi_jax.data.captioned import with_texts
from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.text import tsfragment
from pacodi_jax.text.encoders import ENCODERS, Encoder
from pacodi_jax.text.service import Service


def load_windows(config: ConfigDict) -> Dataset:
    """The data set that a config asks for, its texts left as they are."""
    wanted = config.data
    return data.load(
        wanted.source,
        path=wanted.path or None,
        length=wanted.length,
        stride=wanted.stride,
        protocol=wanted.protocol,
        split=wanted.split,
        fractions=wanted.fractions,
        scaling=wanted.scaling,
        time=wanted.time or None,
        time_format=wanted.time_format or None,
        id=wanted.id or None,
        channels=wanted.channels or None,
        static=wanted.static,
        text=wanted.text or None,
        missing=wanted.missing,
        max_gap=wanted.max_gap,
        seed=config.seed,
    )


def load_data(config: ConfigDict) -> Dataset:
    """The data set that a config asks for, with texts as conditions if it names an encoder."""
    found = load_windows(config)
    if not config.text.encoder:
        return found
    return with_texts(
        found,
        build_encoder(config),
        column=found.recipe.text,
        phrasings=config.text.phrasings,
        seed=config.seed,
    )


def build_encoder(config: ConfigDict, words: tuple[str, ...] = ()) -> Encoder:
    """The text encoder that a config asks for; ``words`` are those of a trained model's recipe."""
    wanted = config.text
    options: dict[str, dict[str, Any]] = {
        "hashed": {"width": wanted.width, "words": words},
        "minilm_clauses": {"width": wanted.width},
        "endpoint": {
            "service": Service(wanted.url),
            "model": wanted.model,
            "width": wanted.width,
            "cut": wanted.cut,
        },
    }
    if wanted.encoder == "precomputed":
        held = tsfragment.read(config.data.path)
        options["precomputed"] = {
            "texts": held.texts,
            "vectors": held.vectors,
            "model": wanted.model or tsfragment.MODEL,
        }
    if wanted.encoder == "endpoint" and not wanted.model:
        raise PacodiError(
            "config.text.model is empty; name the embedding model that the service at "
            "config.text.url shall use."
        )
    encoder = choose("config.text.encoder", wanted.encoder, ENCODERS)
    return encoder(**options.get(wanted.encoder, {}))


def build_generator(
    config: ConfigDict,
    coding: statistics.Statistics,
    fitted: models.Fitted,
    *,
    condition_width: int = 0,
    optimiser: optax.GradientTransformation | None = None,
) -> models.SpectralDiffusion:
    """The generator that a config asks for; without an optimiser it can only sample."""
    settings = models.Settings(**config.diffusion)
    wanted = config.sample
    sampler = models.make_sampler(
        settings,
        fitted,
        coding.variance,
        solver=wanted.solver,
        steps=wanted.steps,
        grid=wanted.grid,
        guidance=wanted.guidance,
        block=wanted.batch,
        eta=wanted.eta,
        posterior_variance=wanted.posterior_variance,
    )
    return models.build(
        models.Architecture(**config.model),
        settings,
        coding,
        fitted,
        sampler=sampler,
        optimiser=optimiser or optax.identity(),
        batch=config.train.batch,
        ema_decay=config.train.ema,
        condition_width=condition_width,
        condition_dropout=config.text.dropout,
    )
