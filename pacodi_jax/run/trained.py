"""A trained model that speaks the user's units."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from pacodi_jax import parallel
from pacodi_jax.core.checks import check_count
from pacodi_jax.core.conditioning import Observed
from pacodi_jax.data import Recipe
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import FAMILIES, Arrays, Generator, Shape
from pacodi_jax.models.per_window import keys_of
from pacodi_jax.run import conditions, parts, room, told
from pacodi_jax.run.conditions import Request, TextLaw
from pacodi_jax.run.shards import Shard
from pacodi_jax.settings import Config, check_seed
from pacodi_jax.text.encoders import Encoder, check_vectors, require_identity
from pacodi_jax.text.encoders.interface import as_numbers
from pacodi_jax.text.encoders.vocabulary import encode_request
from pacodi_jax.types import Array, Key

#: Folded into the seed, so that samples do not share training's random numbers.
SAMPLE_STREAM = 1
#: Likewise for whole series.
SERIES_STREAM = 2


def sample_key(seed: int | Array) -> Key:
    """The key of samples; window i of a request is drawn by (seed, i)."""
    return jax.random.fold_in(jax.random.key(seed), SAMPLE_STREAM)


class Draw(NamedTuple):
    """Windows that were drawn.

    Attributes:
      values: ``(N, L, C)`` float64, in the user's units and rounded as the user's columns are.
      columns: the static and text columns, one row per window; None without any.
      facts: what decided the draw, JSON values.
      stamps: of all steps, ``(N·L,)``; None for a model without a calendar.
      first: the number of the first window; 0 unless it is a later shard.
    """

    values: np.ndarray
    columns: pd.DataFrame | None
    facts: dict[str, Any]
    stamps: pd.DatetimeIndex | None = None
    first: int = 0


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model.

    Attributes:
      config: the settings of its run.
      recipe: the way back to the user's table.
      facts: plain facts of the model, for people and reports.
      arrays: what was fitted to the training windows.
      weights: of the network.
      texts: the law of training texts; None without texts.
    """

    config: Config
    recipe: Recipe
    facts: dict[str, Any]
    arrays: Arrays
    weights: Arrays
    texts: TextLaw | None = None

    @cached_property
    def generator(self) -> Generator:
        """The model."""
        return parts.build_generator(self.config, self.shape, self.arrays)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the fields, without the programs that were built of them."""
        names = (field.name for field in fields(self))
        return {name: self.__dict__[name] for name in names}

    @property
    def shape(self) -> Shape:
        """The sizes that the model is built for."""
        return Shape(
            self.config.data.length, len(self.facts["channels"]), self.facts["condition_width"]
        )

    @cached_property
    def _weights(self) -> Arrays:
        return jax.tree.map(jnp.asarray, self.weights)

    @property
    def label(self) -> str:
        """What every file made with this model must say; empty for an honest one."""
        paper = self.recipe.label if self.recipe.protocol == "paper" else ""
        return "; ".join(filter(None, [paper, self.generator.facts().label]))

    def draw(
        self,
        count: int,
        *,
        seed: int | None = None,
        static: Mapping[str, Any] | None = None,
        text: str | None = None,
        start: Any = None,
        shard: Shard | None = None,
        progress: Callable[[int, int], None] | None = None,
        **how: Any,
    ) -> Draw:
        """Draws windows in the user's units.

        Args:
          count: how many.
          seed: window i depends on (seed, i) alone; the run's seed by default.
          static: values of static columns; those left out are drawn from train's law.
          text: what the windows should look like, for a model that reads texts.
          start: the first stamp of every window, for a model with a calendar; drawn from the
            first stamps of the training windows by default.
          shard: draws this part of the windows alone, bit for bit as the whole has them.
          progress: called with (drawn, count) after each block.
          **how: settings of the ``sample`` section that differ from the run's.

        Raises:
          PacodiError: for a request that this model cannot answer.
        """
        count = check_count(count)
        seed = check_seed(self.config.seed if seed is None else seed)
        rows = (shard or Shard(0, 1)).rows(count)
        room.require_windows(len(rows), self.shape.length, len(self.recipe.channels))
        how = self.way(text, how)
        request = self.request(seed, count, static=static, text=text, start=start)
        scaled = self._draw_rows(sample_key(seed), rows, count, request, progress, how)
        asked: dict[str, Any] = {"static": static, "text": text, "start": start, "shard": shard}
        facts = told.draw_facts(self, count, seed, **asked, **how)
        request = request.pick(rows)
        values, stamps = self.recipe.deliver(scaled), request.stamps(self.recipe)
        return Draw(values, request.columns, facts, stamps, rows.start)

    def _draw_rows(
        self,
        key: Key,
        rows: range,
        count: int,
        request: Request,
        progress: Callable[[int, int], None] | None,
        how: dict[str, Any],
    ) -> np.ndarray:
        """Some rows of ``count`` windows, computed in the blocks in which all would be."""
        if len(rows) == count:
            return self.draw_scaled(key, count, request.vectors, progress=progress, **how)
        wanted = parallel.rows_of_blocks(rows, count, self.config.sample.replace(**how).batch)
        keys, vectors = keys_of(key, jnp.asarray(wanted)), request.pick(wanted).vectors
        drawn = self.draw_scaled(keys, len(wanted), vectors, progress=progress, **how)
        return drawn[rows.start - wanted[0] :][: len(rows)]

    def way(self, text: str | None, how: Mapping[str, Any]) -> dict[str, Any]:
        """How windows are drawn: a text is followed with the guidance that validation chose."""
        chosen = None if text is None else self.facts.get("guidance")
        wanted = getattr(self.config.sample.replace(**how), "guidance", 1.0)
        return dict(how) | ({} if chosen is None or wanted is not None else {"guidance": chosen})

    def request(
        self,
        seed: int,
        count: int,
        *,
        static: Mapping[str, Any] | None = None,
        text: str | None = None,
        start: Any = None,
    ) -> Request:
        """What the windows are asked to be, completed by train's law."""
        asked = self.asked(seed, count, static=static, text=text)
        return conditions.at_dates(self.recipe, asked, seed, count, start)

    def asked(
        self,
        seed: int,
        count: int,
        *,
        static: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> Request:
        """What is asked by static columns and a text, completed by train's law; without dates."""
        vector = None if text is None else self.encode(text)
        request: dict[str, Any] = {"static": static, "text": text, "vector": vector}
        return conditions.asked(self.recipe, self.texts, seed, count, **request)

    def draw_scaled(
        self,
        key: Key,
        count: int,
        condition: Any = None,
        *,
        observed: Observed | None = None,
        progress: Callable[[int, int], None] | None = None,
        **how: Any,
    ) -> np.ndarray:
        """Draws ``(count, L, C_live)`` windows in the model's scale, for those who measure it.

        Args:
          key: random key; window i depends on (key, i) alone. Or one key per window.
          count: how many.
          condition: ``(count, E)``, or one row ``(E,)`` for all; None is the null condition.
          observed: what is known of each window, for models that can be given it.
          progress: called with (drawn, count) after each block.
          **how: settings of the ``sample`` section that differ from the run's.
        """
        if condition is not None:
            condition = self._checked(condition, count)
        if observed is not None:
            self.require_observed()
            how["observed"] = observed
        return self.generator.sample(key, self._weights, count, condition, progress=progress, **how)

    def require_observed(self) -> None:
        """Refuses a model of a family that cannot be given observed values."""
        if not self.config.model.reads_observed:
            able = ", ".join(name for name, family in FAMILIES.items() if family.reads_observed)
            raise PacodiError(
                f"model.name={self.config.model.name!r} cannot be given observed values, which "
                f"whole series, gaps and forecasts need; train one of {able}."
            )

    def _checked(self, condition: Any, count: int) -> np.ndarray:
        """The condition as ``(count, E)``, a single row ``(E,)`` for every window."""
        width = self.shape.condition_width
        if not width:
            raise PacodiError("this model was trained without conditions; sample it without one.")
        rows = as_numbers(condition, width, "condition")
        rows = check_vectors(np.atleast_2d(rows), width, "condition")
        if len(rows) not in (1, count):
            raise PacodiError(f"{len(rows)} conditions for {count} windows; give one, or {count}.")
        return np.broadcast_to(rows, (count, width))

    def reading(self, config: Config) -> "Trained":
        """The model with texts encoded, and data found, as other settings ask; all else stays."""
        data = self.config.data
        changed = replace(
            self.config,
            text=config.text if config.text.encoder else self.config.text,
            data=data.replace(path=config.data.path) if config.data.path else data,
        )
        return replace(self, config=changed)

    def encoder(self) -> Encoder:
        """The text encoder, refused by name if the model was trained with another one."""
        if not self.facts["encoder"]:
            raise PacodiError(
                "this model was trained without texts; train one with configs/text.py, or sample "
                "without a text."
            )
        encoder = parts.encoder(self.config, self.recipe.words)
        require_identity(encoder, self.facts["encoder"])
        return encoder

    def encode(self, text: str) -> np.ndarray:
        """The condition ``(E,)`` of a text, by the encoder that the model was trained with.

        Raises:
          PacodiError: for a text that it does not read, or has no word of those it was trained on.
        """
        return encode_request(self.encoder(), text)
