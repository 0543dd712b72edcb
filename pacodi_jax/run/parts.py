"""From settings to the parts of a run: its data, its text encoder and its generator."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax import data
from pacodi_jax.data import Dataset, bounds, calendar
from pacodi_jax.data.captioned import with_texts
from pacodi_jax.models import Arrays, Batch, Generator, Shape, Training
from pacodi_jax.settings import Config, TrainSettings
from pacodi_jax.text.encoders import Encoder
from pacodi_jax.text.settings import build_encoder


def load_windows(config: Config, table: Any = None) -> Dataset:
    """The data set that a config asks for, its texts left as they are.

    Args:
      config: the settings.
      table: a frame or an array in memory, instead of the source that the settings name.
    """
    wanted = config.data
    if wanted.calendar == calendar.AUTO and not config.model.reads_conditions:
        wanted = wanted.replace(calendar=calendar.OFF)
    return data.load(wanted, seed=config.seed, table=table)


def load_data(config: Config, table: Any = None) -> Dataset:
    """The data set that a config asks for, with texts as conditions if it names an encoder."""
    found = load_windows(config, table)
    if not config.text.encoder:
        return found
    return with_texts(
        found,
        encoder(config),
        column=found.recipe.text,
        phrasings=config.text.phrasings,
        seed=config.seed,
    )


def all_windows(config: Config, table: Any = None) -> tuple[np.ndarray, tuple[str, ...]]:
    """Every window of a source in the user's units ``(N, L, C)``, and the names of its channels.

    There is no split.

    Raises:
      PacodiError: if there is none.
    """
    as_it_is = {"bounds": bounds.NONE, "calendar": calendar.OFF}
    whole = config.data.replace(
        protocol="honest", split="time", fractions=(1.0, 0.0, 0.0), **as_it_is
    )
    found = data.load(whole, seed=config.seed, table=table)
    return found.recipe.deliver(found.train.values()), found.recipe.channels


def encoder(config: Config, words: tuple[str, ...] = ()) -> Encoder:
    """The text encoder that a config asks for; ``words`` are those of a trained model's recipe."""
    return build_encoder(config.text, words=words, path=config.data.path)


def state_shapes(generator: Generator, shape: Shape, batch: int = 1) -> Any:
    """The shapes of a training state; nothing is computed."""
    windows = jax.ShapeDtypeStruct((batch, shape.length, shape.channels), jnp.float32)
    width = shape.condition_width
    condition = jax.ShapeDtypeStruct((batch, width), jnp.float32) if width else None
    slot = jax.ShapeDtypeStruct((batch,), jnp.int32)
    return jax.eval_shape(generator.init, jax.random.key(0), Batch(windows, slot, condition))


def build_generator(
    config: Config,
    shape: Shape,
    arrays: Arrays,
    make_optimiser: Callable[[TrainSettings], optax.GradientTransformationExtraArgs] | None = None,
) -> Generator:
    """The generator that a config asks for; without an optimiser it can only sample."""
    training = None
    if make_optimiser is not None:
        training = Training(
            lambda **changes: make_optimiser(config.train.replace(**changes)),
            config.train.batch,
            config.train.ema,
            config.text.dropout,
            config.train.steps,
        )
    return config.model.build(config.family, shape, arrays, training)
