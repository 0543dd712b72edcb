"""What windows are asked to be: by a text, by static columns, or by train's own law of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from pacodi_jax.data import Recipe, condition_parts
from pacodi_jax.data.captioned import Captioned
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.interface import clean_text
from pacodi_jax.types import Array

_KEPT = 512  # training windows, evenly spread, whose texts are kept
_STREAM = 3  # folded into the seed of a request for the texts that it leaves open
_NEAREST = 0.1  # the share of kept windows that a text chooses among


class Texts(NamedTuple):
    """The texts of a request.

    Attributes:
      vectors: ``(N, E)``, zeros for a window that is asked by no text.
      given: ``(N,)`` bool, which windows are asked by a text.
      words: ``(N,)`` the texts themselves, empty where there is none.
    """

    vectors: np.ndarray
    given: np.ndarray
    words: list[str]


class TextLaw(NamedTuple):
    """Texts of training windows: what a text-conditional model draws by unless it is asked.

    Attributes:
      texts: ``(M,)``.
      vectors: ``(M, E)``, the encoded texts.
      static: ``(M, E₂)``, the encoded static columns of the same windows; None without any.
    """

    texts: tuple[str, ...]
    vectors: np.ndarray
    static: np.ndarray | None = None

    @classmethod
    def of(cls, windows: WindowSet) -> "TextLaw | None":
        """The law of training windows; None if they have no texts."""
        if not isinstance(windows, Captioned):
            return None
        own = windows.once()
        some = own.pick(np.linspace(0, len(own) - 1, min(len(own), _KEPT)).astype(int))
        return cls(some.texts, some.vectors, some.static_numbers())

    def draw(self, seed: int, count: int, static: np.ndarray | None) -> Texts:
        """Texts of ``count`` windows; number i depends on (seed, i) and its static columns alone.

        Args:
          seed: of the draw.
          count: how many.
          static: ``(count, E₂)``, the static columns that the windows have: texts are those of
            training windows with the same ones, or none if no window that is kept has them.
        """
        if static is None or self.static is None:
            size = len(self.texts)
            pick = jax.vmap(lambda key: jax.random.randint(key, (), 0, size))
            return self._texts(np.asarray(pick(self._keys(seed, count))))
        places = np.asarray(jax.vmap(jax.random.uniform)(self._keys(seed, count)))
        rows = np.full(count, -1)
        different, which = np.unique(static, axis=0, return_inverse=True)
        for number, values in enumerate(different):
            same = np.flatnonzero((self.static == values).all(axis=1))
            if len(same):
                mine = which.ravel() == number
                rows[mine] = same[(places[mine] * len(same)).astype(int)]
        return self._texts(rows)

    def _texts(self, rows: np.ndarray) -> Texts:
        """The texts of kept windows; −1 is no text."""
        given = rows >= 0
        vectors = np.where(given[:, None], self.vectors[rows], np.float32(0))
        return Texts(vectors, given, [self.texts[row] if row >= 0 else "" for row in rows])

    @staticmethod
    def _keys(seed: int, count: int) -> Array:
        key = jax.random.fold_in(jax.random.key(seed), _STREAM)
        return jax.vmap(lambda i: jax.random.fold_in(key, i))(np.arange(count))

    def told(self, recipe: Recipe, vector: np.ndarray) -> Recipe:
        """The recipe with train's law of static columns narrowed to windows of similar texts."""
        if self.static is None or recipe.law is None:
            return recipe
        lengths = np.linalg.norm(self.vectors, axis=1) * np.linalg.norm(vector)
        likeness = self.vectors @ vector / np.maximum(lengths, 1e-9)
        near = likeness >= np.quantile(likeness, 1 - _NEAREST)
        names = [attribute.name for attribute in recipe.attributes]
        rows = recipe.encode_static(pd.DataFrame(recipe.law.rows, columns=names))
        counts = (self.static[near][:, None] == rows).all(axis=2).sum(axis=0)
        if not counts.any():
            return recipe
        return replace(recipe, law=recipe.law._replace(counts=tuple(counts.tolist())))


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

    def pick(self, rows: np.ndarray | range) -> "Request":
        """What is asked of some of the windows."""
        chosen = np.asarray(rows)
        return Request(
            None if self.vectors is None else self.vectors[chosen],
            None if self.columns is None else self.columns.iloc[chosen].reset_index(drop=True),
            None if self.firsts is None else self.firsts[chosen],
        )

    def stamps(self, recipe: Recipe) -> pd.DatetimeIndex | None:
        """The stamps of all steps of the windows; None without a calendar."""
        if self.firsts is None or recipe.clock is None:
            return None
        return recipe.clock.windows(self.firsts, recipe.length)


def asked(
    recipe: Recipe,
    law: TextLaw | None,
    seed: int,
    count: int,
    *,
    static: Mapping[str, Any] | None = None,
    text: str | None = None,
    vector: np.ndarray | None = None,
) -> Request:
    """What is asked by a text and by static columns; what is left open is drawn by train's law.

    Static columns are completed from training windows, of similar texts if a text is given. Without
    a text, texts are those of training windows with the same static columns; a model that keeps no
    law of its texts draws under the null condition.

    Args:
      recipe: of the model.
      law: of its training texts.
      seed: of the draws.
      count: how many windows.
      static: values of static columns.
      text: what the windows should look like.
      vector: the encoded text.
    """
    rows, numbers = None, None
    if recipe.attributes or static is not None:
        known = recipe if law is None or vector is None else law.told(recipe, vector)
        rows = known.draw_static(seed, count, static)
        numbers = recipe.encode_static(rows)
    vectors, texts = beside(law, seed, count, numbers, vector)
    if recipe.text is not None and (text is not None or texts is not None):
        words = texts.words if texts is not None else [clean_text(str(text))] * count
        own = pd.DataFrame({recipe.text: words})
        rows = own if rows is None else pd.concat([rows, own], axis=1)
    return Request(vectors, rows)


def beside(
    law: TextLaw | None,
    seed: int,
    count: int,
    static: np.ndarray | None,
    vector: np.ndarray | None = None,
) -> tuple[np.ndarray | None, Texts | None]:
    """Conditions ``(count, E)`` of encoded static columns and one text, and texts that were drawn.

    Args:
      law: of the model's training texts.
      seed: of the draws.
      count: how many windows.
      static: ``(count, E₂)``, or None without static columns.
      vector: the encoded text; without one texts are drawn by their law.
    """
    if vector is not None:
        rows = np.broadcast_to(vector, (count, len(vector)))
        return condition_parts.join(rows, static), None
    if law is None:
        return condition_parts.join(None, static), None
    texts = law.draw(seed, count, static)
    return condition_parts.join(texts.vectors, static, has_text=texts.given), texts


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
