"""Every setting of a run in one object: the engine's sections, and those of the model's family."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from pacodi_jax.config import Section, setting
from pacodi_jax.data import calendar
from pacodi_jax.data.settings import DataSettings
from pacodi_jax.errors import PacodiError, choose, nearest
from pacodi_jax.models import FAMILIES, Drawing, Family
from pacodi_jax.parallel import BACKENDS
from pacodi_jax.text.settings import TextSettings

#: Settings that may change when a run is resumed; a data file may move, its content may not.
FREE = (
    "data.path",
    "data.stream",
    "train.steps",
    "train.chunk",
    "train.checkpoint_every",
    "train.keep",
    "train.log_every",
    "train.validate_every",
    "train.max_skips",
    "train.backend",
    "sample",
    "evaluate",
)
#: Those of them that change nothing once a model is trained.
AFTERWARDS = tuple(name for name in FREE if name != "sample")
#: Sections without which a mapping is not the settings of a run.
_NEEDED = ("data", "model", "train")

_SHARE = ("a share of the steps below 1, or a number of steps", lambda x: x > 0)
_WARMUP = ("0, a share of the updates below 1, or a number of updates", lambda x: x >= 0)


@dataclass(frozen=True)
class TrainSettings(Section, name="train"):
    """How long and how carefully to train.

    Settings that go together follow the number of steps: a value below 1 is a share of it.
    """

    steps: int = setting(40_000, "training steps", least=1)
    batch: int = setting(32, "windows per step, over all devices", least=1)
    learning_rate: float = setting(
        3e-3, "the peak", accepted=("a positive number", lambda x: 0 < x < float("inf"))
    )
    warmup: float = setting(0.0125, "linear warm-up: a share or a number", accepted=_WARMUP)
    decay: str = setting(
        "cosine", "of the learning rate after warm-up", choices=("cosine", "plateau", "constant")
    )
    plateau_factor: float = setting(
        0.5,
        "by which a plateau lowers the rate",
        accepted=("0 < plateau_factor < 1", lambda x: 0 < x < 1),
    )
    plateau_patience: int = setting(4000, "updates without progress that make a plateau", least=1)
    plateau_threshold: float = setting(
        1e-4,
        "a smaller relative fall of the loss is no progress",
        accepted=("0 <= plateau_threshold < 1", lambda x: 0 <= x < 1),
    )
    final_rate: float = setting(
        0.01,
        "the smallest fraction of the peak that decay leaves",
        accepted=("0 <= final_rate <= 1", lambda x: 0 <= x <= 1),
    )
    beta2: float = setting(
        0.999, "Adam's second decay rate", accepted=("0 < beta2 < 1", lambda x: 0 < x < 1)
    )
    weight_decay: float = setting(
        0.0, "decoupled, of matrices", accepted=("0 or more", lambda x: x >= 0)
    )
    clip: float = setting(
        1.0, "largest norm of a gradient", accepted=("a positive number", lambda x: x > 0)
    )
    accumulate: int = setting(1, "gradients averaged to one update", least=1)
    ema: float = setting(
        0.999,
        "decay of the average of the parameters, which sampling uses",
        accepted=("0 <= ema < 1", lambda x: 0 <= x < 1),
    )
    calibration: int = setting(
        0,
        "draws after training by which the second moments of samples are corrected",
        accepted=("0 (none), or 100 and more draws", lambda x: x == 0 or x >= 100),
    )
    chunk: int = setting(0, "steps per dispatch; 0 measures", least=0)
    checkpoint_every: float = setting(0.1, "a share or a number of steps", accepted=_SHARE)
    keep: int = setting(3, "newest checkpoints that are kept, beside the best", least=1)
    log_every: float = setting(0.0125, "a share or a number of steps", accepted=_SHARE)
    validate_every: float = setting(0.1, "a share or a number of steps", accepted=_SHARE)
    max_skips: int = setting(20, "non-finite steps in a row that end the run", least=1)
    backend: str = setting("pmap", "how a step is spread over devices", choices=BACKENDS)

    def check(self) -> None:
        """A warm-up leaves some updates at full rate."""
        if self.warmup_updates >= self.updates:
            raise PacodiError(
                f"train.warmup={self.warmup:g} leaves none of the {self.updates} updates "
                f"(train.steps={self.steps} by train.accumulate={self.accumulate}) at full rate; "
                "lower the warm-up, or give it as a share below 1."
            )

    @property
    def updates(self) -> int:
        """Updates of the weights: one per ``accumulate`` steps."""
        return max(self.steps // self.accumulate, 1)

    @property
    def warmup_updates(self) -> int:
        """Updates of warm-up."""
        return round(self.warmup * self.updates) if self.warmup < 1 else round(self.warmup)

    def every(self, name: str) -> int:
        """``checkpoint_every``, ``log_every`` or ``validate_every`` as a number of steps."""
        value = getattr(self, name)
        return max(round(value * self.steps) if value < 1 else round(value), 1)


@dataclass(frozen=True)
class Evaluation(Section, name="evaluate"):
    """How samples are scored."""

    windows: int = setting(3000, "at most so many per side", least=1)
    seeds: int = setting(5, "complete runs of every score, each with its own draws", least=1)


#: Settings of the data that runs of version 0.1 had not, as they were.
_EARLIER = {"bounds": "none", "calendar": "off", "block": 0, "stream": "off"}

#: The sections that every run has.
_ENGINE: dict[str, Any] = {
    "data": DataSettings,
    "text": TextSettings,
    "train": TrainSettings,
    "evaluate": Evaluation,
}


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
        section = _sections(family)["model"]
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
        own = _sections(family)
        for name in values:
            if name not in {*own, *_ENGINE, "seed"}:
                raise PacodiError(
                    f"model.name={family.name!r} has no settings {name!r}; it has "
                    f"{', '.join(sorted(own))}.{nearest(name, own)}"
                )
        made = {name: kind.make(values.get(name, {})) for name, kind in own.items()}
        shared = {name: kind.make(values.get(name, {})) for name, kind in _ENGINE.items()}
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
        sections = _sections(self.model) | _ENGINE
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
        return {"seed": self.seed, **own, **{n: getattr(self, n).to_dict() for n in _ENGINE}}

    def to_json(self) -> str:
        """The settings as text, for ``config.json`` in the run folder."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True) + "\n"


def stored(values: Mapping[str, Any]) -> Config:
    """The settings of a run as it wrote them; what its version had no setting for was off."""
    return Config.make({**values, "data": _EARLIER | values.get("data", {})})


def read(path: Path) -> Config:
    """Reads the settings in ``config.json`` of a run.

    Raises:
      PacodiError: if the file is not one.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise ValueError("it does not hold settings by section")
        lacking = [name for name in _NEEDED if not isinstance(values.get(name), dict)]
        if lacking:
            raise ValueError(f"it has no section {lacking[0]!r} of settings")
        return stored(values)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise PacodiError(f"{path} cannot be read: {error}") from error


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of nested sections by full name."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        inside = isinstance(value, Mapping)
        flat |= flatten(value, f"{prefix}{name}.") if inside else {f"{prefix}{name}": value}
    return flat


def _is_among(name: str, names: tuple[str, ...]) -> bool:
    """Whether a setting, or its whole section, is among ``names``."""
    return any(name == other or name.startswith(f"{other}.") for other in names)


def first_difference(
    before: Config, now: Config, free: tuple[str, ...] = FREE
) -> tuple[str, Any, Any] | None:
    """The first setting that makes another run, with both values; None if there is none.

    Args:
      before: the settings of the run.
      now: those that are asked for.
      free: settings, or whole sections, that may differ.
    """
    old, new = flatten(before.to_dict()), flatten(now.to_dict())
    if before.train.warmup_updates == now.train.warmup_updates:  # a share, or the number it gives
        old["train.warmup"] = new["train.warmup"]
    for name in sorted(old.keys() | new.keys()):
        if not _is_among(name, free) and old.get(name) != new.get(name):
            return name, old.get(name), new.get(name)
    return None


def _sections(family: Family) -> dict[str, Any]:
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
