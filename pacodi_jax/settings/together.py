"""Every setting of a run in one object: the engine's sections, and those of the model's family."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from pacodi_jax.data import calendar
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.errors import PacodiError, choose, nearest
from pacodi_jax.models import FAMILIES, Drawing, Family
from pacodi_jax.settings.engine import ENGINE, Evaluation, TrainSettings
from pacodi_jax.text.settings import TextSettings


@dataclass(frozen=True)
class Config:
    """All settings of a run.

    Attributes:
      family: the settings of the model's family: ``model``, ``sample`` and what else it has.
    """

    family: Any
    seed: int = 0
    data: DataSettings = field(default_factory=DataSettings)
    text: TextSettings = field(default_factory=TextSettings)
    train: TrainSettings = field(default_factory=TrainSettings)
    evaluate: Evaluation = field(default_factory=Evaluation)

    @property
    def model(self) -> Family:
        """The family of models."""
        return FAMILIES[self.family.model.name]

    @property
    def sample(self) -> Drawing:
        """How samples are drawn."""
        return self.family.sample

    @property
    def is_conditional(self) -> bool:
        """Whether the model is asked to have conditions: texts, static columns or a calendar."""
        return self.has_kinds or self.data.calendar not in (calendar.OFF, calendar.AUTO)

    @property
    def has_kinds(self) -> bool:
        """Whether windows come in kinds, by texts or static columns, each with its own moments."""
        return bool(self.text.encoder or self.data.static)

    @classmethod
    def default(cls, model: str = "pacodi", size: str | None = None) -> Self:
        """The defaults of a family, of one of its sizes."""
        family = FAMILIES[model]
        section = sections_of(family)["model"]
        chosen = {} if size is None else choose("size", size, family.sizes)
        plain = cls(family.settings(model=section(name=model, **chosen)))
        return plain.changed(family.defaults) if family.defaults else plain

    @classmethod
    def make(cls, values: Mapping[str, Any]) -> Self:
        """Makes the settings of a mapping of sections, each a mapping of names to values.

        Raises:
          PacodiError: for the first setting that is unknown or cannot work, by name.
        """
        values = dict(values)
        family = FAMILIES[values.get("model", {}).get("name", "pacodi")]
        own = sections_of(family)
        for name in values:
            if name not in {*own, *ENGINE, "seed"}:
                raise PacodiError(
                    f"model.name={family.name!r} has no settings {name!r}; it has "
                    f"{', '.join(sorted(own))}.{nearest(name, own)}"
                )
        made = {name: kind.make(values.get(name, {})) for name, kind in own.items()}
        shared = {name: kind.make(values.get(name, {})) for name, kind in ENGINE.items()}
        found = cls(family.settings(**made), check_seed(values.get("seed", cls.seed)), **shared)
        _check_together(found)
        return found

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """The settings with some changed by full name, such as ``{"train.steps": 2000}``.

        Raises:
          PacodiError: for a name that does not exist, with the nearest that does.
        """
        values = self.to_dict()
        for name, value in changes.items():
            section, _, key = name.partition(".")
            known = flatten(values)
            if name not in known:
                raise PacodiError(f"there is no setting {name!r}.{nearest(name, known)}")
            if key:
                values[section][key] = value
            else:
                values[section] = value
        return self.make(values)

    def parsed(self, texts: Mapping[str, str]) -> Self:
        """The settings with some changed by texts of the command line, by full name.

        Raises:
          PacodiError: for a name that does not exist, or a text that is not of its type.
        """
        sections = sections_of(self.model) | ENGINE
        values: dict[str, Any] = {}
        for name, text in texts.items():
            section, _, key = name.partition(".")
            if section in sections and key:
                values[name] = sections[section].parse(key, text)
            elif name == "seed":
                values[name] = int(text) if text.strip().isdecimal() else text
            else:
                known = flatten(self.to_dict())
                raise PacodiError(f"there is no setting {name!r}.{nearest(name, known)}")
        return self.changed(values)

    def to_dict(self) -> dict[str, Any]:
        """The settings as a mapping of sections."""
        own = {
            f.name: getattr(self.family, f.name).to_dict() for f in dataclasses.fields(self.family)
        }
        return {"seed": self.seed, **own, **{n: getattr(self, n).to_dict() for n in ENGINE}}

    def to_json(self) -> str:
        """The settings as text, for ``config.json`` in the run folder."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of nested sections by full name."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        inside = isinstance(value, Mapping)
        flat |= flatten(value, f"{prefix}{name}.") if inside else {f"{prefix}{name}": value}
    return flat


def sections_of(family: Family) -> dict[str, Any]:
    """The sections of a family by name: ``model``, ``sample`` and what else it has."""
    return {part.name: part.type for part in dataclasses.fields(family.settings)}


def check_seed(value: Any) -> int:
    """Returns a seed as a whole number.

    Raises:
      PacodiError: for anything but a whole number that JAX can hold.
    """
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise PacodiError(f"seed={value!r}; accepted: 0 <= seed < 2**32.")
    return value


def _check_together(config: Config) -> None:
    """Refuses settings of different sections that exclude one another."""
    text, data = config.text, config.data
    if text.encoder == "precomputed" and data.source != "tsfragment":
        raise PacodiError(
            "text.encoder='precomputed' is for data.source='tsfragment', whose files bring the "
            "vectors; use 'hashed', 'minilm' or 'endpoint'."
        )
    if data.text and not text.encoder:
        raise PacodiError(
            f"data.text={data.text!r} names a column of texts that nothing would read; set "
            "text.encoder='hashed' or another encoder, or leave the column out."
        )
    if config.is_conditional and not config.model.reads_conditions:
        raise PacodiError(
            f"model.name={config.model.name!r} cannot be conditioned; leave data.static and "
            "text.encoder empty, and data.calendar='off'."
        )
    draws = config.train.calibration
    hindrance = config.model.calibration_hindrance(config.family, config.has_kinds)
    if draws and hindrance:
        raise PacodiError(f"train.calibration={draws} {hindrance}; set it to 0.")
