"""What windows are asked to be: static columns, a text, or train's own law of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from pacodi_jax.data import Recipe
from pacodi_jax.data.captioned import Captioned
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.interface import clean_text

_KEPT = 512  # training windows, evenly spread, whose texts are kept
_STREAM = 3  # folded into the seed of a request for the texts that it leaves open


class TextLaw(NamedTuple):
    """Texts of training windows: what a text-conditional model draws by unless it is asked.

    Attributes:
      texts: ``(M,)``.
      vectors: ``(M, E)``, the encoded texts.
    """

    texts: tuple[str, ...]
    vectors: np.ndarray

    @classmethod
    def of(cls, windows: WindowSet) -> "TextLaw | None":
        """The law of training windows; None if they have no texts."""
        if not isinstance(windows, Captioned):
            return None
        own = windows.once()
        rows = np.linspace(0, len(own) - 1, min(len(own), _KEPT)).astype(int)
        return cls(tuple(own.texts[row] for row in rows), own.vectors[rows])

    def draw(self, seed: int, count: int) -> np.ndarray:
        """Row numbers ``(count,)``; number i depends on (seed, i) alone."""
        key = jax.random.fold_in(jax.random.key(seed), _STREAM)
        keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(np.arange(count))
        size = len(self.texts)
        return np.asarray(jax.vmap(lambda key: jax.random.randint(key, (), 0, size))(keys))


class Request(NamedTuple):
    """What is asked of ``count`` windows.

    Attributes:
      vectors: ``(count, E)`` as the model reads it; None for an unconditional model.
      columns: what stands in the static and text columns of each window; None without any.
      firsts: the first stamp of each window; None without a calendar.
    """

    vectors: np.ndarray | None
    columns: pd.DataFrame | None
    firsts: pd.DatetimeIndex | None = None

    def stamps(self, recipe: Recipe) -> pd.DatetimeIndex | None:
        """The stamps of all steps of the windows; None without a calendar."""
        if self.firsts is None or recipe.clock is None:
            return None
        return recipe.clock.windows(self.firsts, recipe.length)


def by_static(recipe: Recipe, seed: int, count: int, static: Mapping[str, Any] | None) -> Request:
    """Static columns as given; those left open are drawn from train's law."""
    rows = recipe.draw_static(seed, count, static)
    return Request(recipe.encode_static(rows), rows)


def by_law(recipe: Recipe, law: TextLaw | None, seed: int, count: int) -> Request:
    """Texts drawn from train's law; the null condition where a model keeps none."""
    if law is None:
        return Request(None, None)
    rows = law.draw(seed, count)
    columns = None
    if recipe.text is not None:
        columns = pd.DataFrame({recipe.text: [law.texts[row] for row in rows]})
    return Request(law.vectors[rows], columns)


def by_text(recipe: Recipe, vector: np.ndarray, text: str, count: int) -> Request:
    """One text for all windows."""
    vectors = np.broadcast_to(vector, (count, len(vector)))
    return Request(vectors, recipe.caption_rows(clean_text(text), count))


def at_dates(recipe: Recipe, request: Request, seed: int, count: int, start: Any) -> Request:
    """The request with the phases of first stamps: of ``start``, or drawn from train's law.

    Raises:
      PacodiError: for a start that the model does not know or the clock does not hit.
    """
    dates, clock = recipe.calendar, recipe.clock
    if dates is None or clock is None:
        if start is not None:
            raise PacodiError(
                f"start={start!r}: this model knows no dates; train one with data.calendar=on."
            )
        return request
    if start is None:
        firsts = dates.draw(seed, count)
    else:
        firsts = pd.DatetimeIndex([clock.moment(start)] * count)
    told = [part for part in (request.vectors, dates.phases(firsts)) if part is not None]
    return request._replace(vectors=np.concatenate(told, axis=1), firsts=firsts)


def refuse_both(static: Mapping[str, Any] | None, text: str | None) -> None:
    """Refuses a request by static columns and by a text at once."""
    if static is not None and text is not None:
        raise PacodiError("static columns and a text both give a condition; use one of them.")
