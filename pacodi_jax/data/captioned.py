"""Windows with texts: the user's own captions, or captions that are written here, as conditions."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Self

import numpy as np

from pacodi_jax.data.dataset import Dataset
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError
from pacodi_jax.text import captions, facts, properties, statements
from pacodi_jax.text.captions import Told
from pacodi_jax.text.encoders import Encoder
from pacodi_jax.text.encoders.interface import clean_text
from pacodi_jax.text.phrases import Split

_RARE = 0.03  # a kind of fact is rare below this share of the training windows
_FEWEST = 5  # windows of a kind; fewer would be memorised
_OVERSAMPLING = 4  # further captions of a rare fact per caption that its window has anyway


@dataclass(frozen=True, eq=False, kw_only=True)
class Captioned(WindowSet):
    """A part of a split whose windows have texts.

    Attributes:
      texts: ``(N,)`` a text for each window.
      vectors: ``(N, E)`` float32, the encoded texts.
      encoder: the identity of what encoded them.
      rare: ``(N,)`` bool, rows in which a window is repeated with a caption of a rare fact.
    """

    texts: tuple[str, ...]
    vectors: np.ndarray
    encoder: str
    rare: np.ndarray

    def pick(self, rows: np.ndarray) -> Self:
        """The windows of these rows, with their texts."""
        texts = tuple(self.texts[row] for row in rows)
        vectors, rare = self.vectors[rows], self.rare[rows]
        return replace(self, starts=self.starts[rows], texts=texts, vectors=vectors, rare=rare)

    def once(self) -> Self:
        """Every window once, at its first row; a window with several texts has several rows."""
        return self.pick(np.sort(np.unique(self.starts, return_index=True)[1]))

    def text_vectors(self) -> np.ndarray:
        """The encoded texts."""
        return self.vectors

    def oversampled(self) -> np.ndarray:
        """Oversampled rare examples; their condition is never dropped."""
        return self.rare

    @property
    def digest(self) -> str:
        """What tells these texts from others."""
        return hashlib.sha256("\0".join(self.texts).encode()).hexdigest()[:16]


def with_texts(
    dataset: Dataset, encoder: Encoder, *, column: str | None, phrasings: int, seed: int
) -> Dataset:
    """Gives every window a text and makes its vector the condition.

    Without a column of texts, captions are written by the yardsticks of the training windows:
    ``phrasings`` of them for each training window, and one in phrasings that training never uses
    for each window of the other parts. Training windows that have a rare fact, such as two peaks,
    are oversampled, with captions of that fact alone.

    Args:
      dataset: of one channel.
      encoder: turns texts into vectors.
      column: of the user's texts, or None to write captions.
      phrasings: captions per training window.
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
        told = [
            tuple(Told(text, None) for text in _given(part, column)) for part in (train, *others)
        ]
        own = len(train)
    else:
        own = phrasings * len(train)
        train, told = _captions(train, others, phrasings, seed)
    reader = encoder.taught([one.text for one in told[0]])
    validation = _attach(dataset.validation, told[1], reader, len(told[1]))
    return replace(
        dataset,
        train=_attach(train, told[0], encoder, own),
        validation=validation,
        held_out=_attach(dataset.held_out, told[2], reader, len(told[2])),
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


def _captions(
    train: WindowSet, others: Sequence[WindowSet], phrasings: int, seed: int
) -> tuple[WindowSet, list[tuple[Told, ...]]]:
    """The training windows as often as they have captions, and the captions of all parts.

    First come ``phrasings`` rounds of all windows, then the oversampled ones.
    """
    yardsticks = properties.fit(train.values()[:, :, 0])
    measured = _measure(train, yardsticks)
    seeds = range(seed, seed + phrasings)
    further = range(seeds.stop, seeds.stop + _OVERSAMPLING * phrasings)
    repeated, further_texts = _oversample(measured, further)
    texts = [_write(measured, seeds, "train") + further_texts]
    texts += [_write(_measure(part, yardsticks), seeds[:1], "held_out") for part in others]
    rows = np.append(np.tile(np.arange(len(train)), phrasings), repeated)
    return train.pick(rows), texts


def _measure(part: WindowSet, yardsticks: properties.Yardsticks) -> list[facts.Facts]:
    return [facts.measure(window, yardsticks) for window in part.values()[:, :, 0]]


def _write(measured: list[facts.Facts], seeds: Sequence[int], split: Split) -> tuple[Told, ...]:
    """Captions of all windows, all of one round (a seed) before the next."""
    detail: captions.Detail = "drawn" if split == "train" else "full"
    return tuple(
        captions.tell(fact, seed * len(measured) + row, split=split, detail=detail)
        for seed in seeds
        for row, fact in enumerate(measured)
    )


def _oversample(
    measured: list[facts.Facts], seeds: Sequence[int]
) -> tuple[np.ndarray, tuple[Told, ...]]:
    """Further captions of rare facts, each alone: the rows of their windows, and the texts.

    More captions of one kind do not change the conditional distribution that they or others ask
    for; they are only learnt better. Their condition is never dropped, so that the null condition
    (guidance 0) is still trained on the distribution of the training windows.
    """
    kinds = [captions.kinds(fact) for fact in measured]
    counts = Counter(chain.from_iterable(kind.items() for kind in kinds))
    rare = [
        (row, name)
        for row, kind in enumerate(kinds)
        for name, value in kind.items()
        if _FEWEST <= counts[name, value] < _RARE * len(measured)
    ]
    texts = (
        captions.tell_one(measured[row], name, seed * len(measured) + row, split="train")
        for seed in seeds
        for row, name in rare
    )
    rows = np.array([row for row, _ in rare], dtype=int)
    return np.tile(rows, len(seeds)), tuple(texts)


def _vectors(told: tuple[Told, ...], encoder: Encoder) -> np.ndarray:
    """What the texts tell a model: what they state where that is known, else how they are read."""
    if encoder.gives_statements and all(one.stated is not None for one in told):
        rows = np.zeros((len(told), statements.WIDTH), np.float32)
        for row, one in zip(rows, told, strict=True):
            row[:] = statements.vector(one.stated or {})
        return rows
    return encoder.encode([one.text for one in told])


def _attach(part: WindowSet, told: tuple[Told, ...], encoder: Encoder, own: int) -> Captioned:
    """Gives a part its texts; rows from ``own`` on are oversampled."""
    inherited = {field.name: getattr(part, field.name) for field in fields(part)}
    texts = tuple(one.text for one in told)
    return Captioned(
        **inherited,
        texts=texts,
        vectors=_vectors(told, encoder),
        encoder=encoder.identity,
        rare=np.arange(len(texts)) >= own,
    )
