"""Windows with texts: the user's own captions, or captions that are written here, as conditions."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain

import numpy as np

from pacodi_jax.data.dataset import Dataset
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError
from pacodi_jax.text import captions, facts, properties
from pacodi_jax.text.encoders import Encoder
from pacodi_jax.text.encoders.interface import clean_text
from pacodi_jax.text.phrases import Split


@dataclass(frozen=True, eq=False, kw_only=True)
class Captioned(WindowSet):
    """A part of a split whose windows have texts.

    Attributes:
      texts: ``(N,)`` a text for each window.
      vectors: ``(N, E)`` float32, the encoded texts.
      encoder: the identity of what encoded them.
    """

    texts: tuple[str, ...]
    vectors: np.ndarray
    encoder: str

    def condition(self) -> np.ndarray:
        """The encoded texts."""
        return self.vectors


def with_texts(
    dataset: Dataset, encoder: Encoder, *, column: str | None, phrasings: int, seed: int
) -> Dataset:
    """Gives every window a text and makes its vector the condition.

    Without a column of texts, captions are written by the yardsticks of the training windows:
    ``phrasings`` of them for each training window, and one in phrasings that training never uses
    for each window of the other parts.

    Args:
      dataset: of one channel.
      encoder: turns texts into vectors.
      column: of the user's texts, or None to write captions.
      phrasings: captions a training window.
      seed: of the phrasings.

    Raises:
      PacodiError: if there is more than one channel, or a text of the column cannot be read.
    """
    channels = dataset.train.channels
    if channels != 1:
        raise PacodiError(
            f"texts describe one channel, and the data has {channels}: choose one with "
            "config.data.channels."
        )
    train, others = dataset.train, (dataset.validation, dataset.held_out)
    if column is not None:
        texts = [_given(part, column) for part in (train, *others)]
    else:
        yardsticks = properties.fit(train.values()[:, :, 0])
        seeds = range(seed, seed + phrasings)
        texts = [_write(train, yardsticks, seeds, "train")]
        texts += [_write(part, yardsticks, seeds[:1], "held_out") for part in others]
        train = _repeat(train, phrasings)
    reader = encoder.taught(texts[0])
    validation = _attach(dataset.validation, texts[1], reader)
    return replace(
        dataset,
        train=_attach(train, texts[0], encoder),
        validation=validation,
        held_out=_attach(dataset.held_out, texts[2], reader),
        recipe=replace(dataset.recipe, words=reader.words),
        report=dataset.report._replace(unread=_unread(validation, reader)),
    )


def _unread(part: Captioned, reader: Encoder) -> int:
    """How many windows have a text of which nothing is read."""
    return int((~part.vectors.any(axis=1)).sum()) if reader.words else 0


def _given(part: WindowSet, column: str) -> tuple[str, ...]:
    """The user's texts; one that no encoder reads is refused by its number among different ones."""
    texts = tuple(map(str, part.column(column)))
    for number, text in enumerate(dict.fromkeys(texts), start=1):
        try:
            clean_text(text)
        except PacodiError as error:
            raise PacodiError(
                f"column {column!r}, text {number} ({text[:40]!r}): {error}"
            ) from None
    return texts


def _repeat(part: WindowSet, times: int) -> WindowSet:
    """The part with every window ``times`` times, all of one round before the next."""
    return replace(part, starts=np.tile(part.starts, times))


def _write(
    part: WindowSet, yardsticks: properties.Statistics, seeds: Sequence[int], split: Split
) -> tuple[str, ...]:
    """Captions of all windows, one round a seed; a window is measured once."""
    windows = part.values()[:, :, 0]
    measured = [facts.measure(window, yardsticks) for window in windows]
    detail: captions.Detail = "drawn" if split == "train" else "full"
    return tuple(
        chain.from_iterable(
            (
                captions.word(fact, seed * len(measured) + row, split=split, detail=detail)
                for row, fact in enumerate(measured)
            )
            for seed in seeds
        )
    )


def _attach(part: WindowSet, texts: tuple[str, ...], encoder: Encoder) -> Captioned:
    inherited = {field.name: getattr(part, field.name) for field in fields(part)}
    return Captioned(
        **inherited, texts=texts, vectors=encoder.encode(texts), encoder=encoder.identity
    )
