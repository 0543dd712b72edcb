"""What one evaluation found: the panel of all scores, what was compared, and how.

Every class has ``record()``, its JSON values under the keys of ``scores.json``, and
``from_record``. A field that is ``None`` is left out, so that shortened files read back unchanged.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.privacy import Privacy
from pacodi_jax.metrics.score import Score, present, to_tuple

SCHEMA = 1


@dataclass(frozen=True)
class Method:
    """All that decides the numbers beside the windows; the record's ``settings``."""

    seeds: tuple[int, ...]
    windows: int
    encoder_steps: int
    discriminative_steps: int
    predictive_steps: int
    strong_steps: int
    encoder: str
    correlational_windows: int
    projections: int
    neighbours: int
    scale: str
    interval: str

    def record(self) -> dict[str, Any]:
        """The JSON values of the settings."""
        return present(**asdict(self))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Method":
        """Reads what :meth:`record` wrote."""
        return cls(**{**record, "seeds": tuple(record["seeds"])})


@dataclass(frozen=True)
class Side:
    """Size and contents of one set of windows; ``fingerprint`` is the digest of its contents."""

    windows: int
    length: int
    channels: int
    fingerprint: str


@dataclass(frozen=True)
class Sides:
    """The sets of windows that were compared, and the names of their channels."""

    real: Side
    synthetic: Side
    held_out: Side | None
    channels: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """The JSON values; ``held_out`` is null where there is none."""
        return {**asdict(self), "channels": list(self.channels)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Sides":
        """Reads what :meth:`record` wrote."""
        sides = {
            name: None if record[name] is None else Side(**record[name])
            for name in ("real", "synthetic", "held_out")
        }
        return cls(**sides, channels=tuple(record["channels"]))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Memorisation:
    """Median distances to the nearest training window, on the scale of [0, 1] per channel.

    Attributes:
      synthetic: of synthetic windows.
      train_apart: of training windows, to others at least L steps away.
      held_out: of held-out windows, if there are any.
      ratio: the first over the distance of the reference; a generator that copies is below 1.
      reference: ``"train_apart"``; or, where the order of training windows is not known,
        ``"held_out"``, or ``"train"``: their distances to each other, whether they overlap or not.
    """

    synthetic: float
    train_apart: float
    held_out: float | None
    ratio: float
    reference: str | None = None

    def record(self) -> dict[str, Any]:
        """The JSON values of the distances."""
        return present(**asdict(self))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Memorisation":
        """Reads what :meth:`record` wrote."""
        apart, unseen = record["train_apart"], record.get("held_out")
        return cls(record["synthetic"], apart, unseen, record["ratio"], record.get("reference"))


@dataclass(frozen=True)
class Panel:
    """Every score of one evaluation.

    Attributes:
      protocol: a label of how the windows were made; it is shown with every score.
      scores: one per metric and split.
      settings: what decided the numbers.
      data: what was compared; ``None`` in shortened files.
      verdict: sentences, the most important first.
      memorisation: distances to the training series, if they were measured.
      seconds: the time that scoring took.
      facts: whatever else the record holds: the model, its sampler, the draw of the windows.
      privacy: what was found of copies and of membership, if it was looked for.
    """

    protocol: str
    scores: tuple[Score, ...]
    settings: Method
    data: Sides | None = None
    verdict: tuple[str, ...] | None = None
    memorisation: Memorisation | None = None
    seconds: float | None = None
    schema: int | None = SCHEMA
    facts: Mapping[str, Any] = field(default_factory=dict)
    privacy: Privacy | None = None

    def of(self, split: str) -> tuple[Score, ...]:
        """The scores against one set of real windows, ``"train"`` or ``"held_out"``."""
        return tuple(score for score in self.scores if score.split == split)

    def score(self, name: str, split: str = "train") -> Score:
        """One score by the name of its metric."""
        return next(score for score in self.of(split) if score.name == name)

    def record(self) -> dict[str, Any]:
        """The JSON values of the panel, as ``scores.json`` holds them."""
        return {
            **present(schema=self.schema, protocol=self.protocol, verdict=self.verdict),
            **present(data=self.data and self.data.record()),
            "settings": self.settings.record(),
            "scores": [score.record() for score in self.scores],
            **present(seconds=self.seconds),
            **self.facts,
            **present(memorisation=self.memorisation and self.memorisation.record()),
            **present(privacy=self.privacy and self.privacy.record()),
        }

    def to_json(self) -> str:
        """The text of ``scores.json``."""
        return json.dumps(self.record(), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Panel":
        """Reads what :meth:`record` wrote.

        Raises:
          PacodiError: for a record of a later version.
        """
        if record.get("schema", SCHEMA) > SCHEMA:
            raise PacodiError(
                f"these scores have schema {record['schema']}; this version reads up to {SCHEMA}. "
                "Update pacodi_jax."
            )
        data, memorisation = record.get("data"), record.get("memorisation")
        privacy = record.get("privacy")
        known = {f.name for f in fields(cls)}
        return cls(
            record["protocol"],
            tuple(map(Score.from_record, record["scores"])),
            Method.from_record(record["settings"]),
            data and Sides.from_record(data),
            to_tuple(record.get("verdict")),
            memorisation and Memorisation.from_record(memorisation),
            record.get("seconds"),
            record.get("schema"),
            {key: value for key, value in record.items() if key not in known},
            privacy and Privacy.from_record(privacy),
        )

    @classmethod
    def from_json(cls, text: str) -> "Panel":
        """Reads the text of a ``scores.json``."""
        return cls.from_record(json.loads(text))
