"""What all presets share. A preset changes only what differs from the defaults.

    python -m pacodi_jax.main --config=configs/NAME.py --workdir=runs/NAME

A preset takes arguments after a colon, and single settings can be overridden:

    --config=configs/etth1.py:length=64,variant=ddpm,size=base,preset=paper
    --config.train.steps=20000

| argument | values |
|---|---|
| length | steps per window |
| variant | sde (continuous time), ddpm (T discrete steps) |
| model | a family of models, such as pacodi or temporal (a DiT over time steps) |
| size | of the model: tiny, small, base, large |
| preset | default (what measures best), paper (the paper's model to the letter), ddpm |

``preset=ddpm`` is for ``model=temporal``: noise prediction and 1000 ancestral steps.

Every setting, its default, range and meaning stand in the sections that :class:`Config` is made of.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ml_collections import ConfigDict, config_dict

from pacodi_jax.configs import arguments as preset_arguments
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import FAMILIES
from pacodi_jax.settings import Config, flatten

ARGUMENTS = ("length", "variant", "model", "size", "preset")


def get_config(
    arguments: str = "",
    *,
    extra: Mapping[str, Sequence[str]] | None = None,
    better: Mapping[str, Any] | None = None,
    **data: Any,
) -> ConfigDict:
    """Returns the locked defaults with the data settings and the arguments of the flag applied.

    Args:
      arguments: what follows the colon of ``--config=FILE.py:…``.
      extra: the names of further arguments, and the values that each accepts.
      better: settings by full name that measure better on this data set than the defaults do. A
        family that lacks one goes without it; ``preset=paper`` overrides them.
      **data: settings of the ``data`` section that differ from the defaults.
    """
    given = parse(arguments, extra or {})
    model = given.get("model", "pacodi")
    config = Config.default(model, given.get("size"))
    changes = {f"data.{name}": value for name, value in data.items()}
    if "length" in given:
        changes["data.length"] = int(given["length"])
    changes |= _fitting(config, better or {})
    changes |= _of_source(config, data.get("source", ""), sized="size" in given)
    if "variant" in given:
        changes |= _variant(config, given["variant"])
    preset = given.get("preset", "default")
    if preset != "default":
        changes |= _PRESETS[preset](config, given.get("variant"))
    return to_config_dict(config.changed(changes))


def parse(arguments: str, extra: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Parses a preset's arguments, the common ones and those in ``extra``."""
    sizes = dict.fromkeys(size for family in FAMILIES.values() for size in family.sizes)
    choices = {
        **extra,
        "variant": ("sde", "ddpm"),
        "model": tuple(FAMILIES),
        "size": tuple(sizes),
        "preset": ("default", *_PRESETS),
    }
    return preset_arguments.parse(arguments, (*ARGUMENTS, *extra), choices)


def to_config_dict(config: Config) -> ConfigDict:
    """The settings as ml_collections has them, locked, for flags to override."""

    def with_placeholders(section: dict[str, Any]) -> dict[str, Any]:
        return {
            name: config_dict.placeholder(float) if value is None else value
            for name, value in section.items()
        }

    values = config.to_dict()
    sections = {name: with_placeholders(part) for name, part in values.items() if name != "seed"}
    return ConfigDict({"seed": values["seed"], **sections}).lock()


def _fitting(config: Config, better: Mapping[str, Any]) -> dict[str, Any]:
    """Of what is better on a data set, that which the chosen family has."""
    known = flatten(Config.default().to_dict())
    for name in better:
        if name not in known:
            raise KeyError(name)
    own = flatten(config.to_dict())
    settled = config.model.defaults
    chosen = {name: v for name, v in better.items() if name in own and name not in settled}
    if config.model.name == "temporal":  # time steps have no vacant slot for level and scale
        chosen.pop("diffusion.statistics", None)
    if config.model.calibration_hindrance(config.family, False):
        chosen.pop("train.calibration", None)
    return chosen


def _of_source(config: Config, source: str, sized: bool) -> dict[str, Any]:
    """What the family's authors change on this data set; a size that is asked for stays."""
    found = config.model.per_source.get(source, {})
    return {n: value for n, value in found.items() if not (sized and n.startswith("model."))}


def _variant(config: Config, variant: str) -> dict[str, Any]:
    if "diffusion.variant" not in flatten(config.to_dict()):
        raise PacodiError(
            f"config argument variant={variant!r} is not for model={config.model.name}."
        )
    return {"diffusion.variant": variant}


def _as_in_the_paper(config: Config, variant: str | None) -> dict[str, Any]:
    """The paper's model, and its released settings where the paper is silent."""
    if "diffusion.variant" not in flatten(config.to_dict()):
        raise PacodiError(f"config argument preset=paper is not for model={config.model.name}.")
    ddpm = variant == "ddpm"
    return {
        "data.protocol": "paper",
        "data.scaling": "min_max",
        "model.width": 128,
        "model.depth": 4,
        "model.heads": 4,
        "model.interaction": "paper",
        "diffusion.schedule": "cosine" if ddpm else "vp",
        "diffusion.ddpm_steps": 500,
        "diffusion.statistics": "oracle",
        "diffusion.parameterisation": "noise",
        "diffusion.loss": "noise",
        "diffusion.times": "uniform",
        "diffusion.stratified": False,
        "train.steps": 36_000,  # gradients; the release counts updates, of two gradients each
        "train.batch": 128,
        "train.learning_rate": 8e-4,
        "train.warmup": 1 / 36,  # 500 of 18,000 updates
        "train.decay": "plateau",
        "train.plateau_threshold": 0.1,
        "train.beta2": 0.96,
        "train.accumulate": 2,
        "train.ema": 0.99975,  # per gradient; the release: 0.995 every tenth update
        "train.calibration": 0,
        "sample.solver": "ancestral" if ddpm else "euler_maruyama",
        "sample.steps": 500,
        "sample.grid": "uniform",
    }


def _ddpm(config: Config, variant: str | None) -> dict[str, Any]:
    """DDPM in time: T = 1000 linear β, noise prediction, all steps ancestral (Ho et al., 2020)."""
    name = config.model.name
    if name != "temporal":
        raise PacodiError(
            f"config argument preset=ddpm is not for model={name}; it needs model=temporal."
        )
    if variant == "sde":
        raise PacodiError("config argument preset=ddpm excludes variant=sde; leave that out.")
    return {
        "diffusion.variant": "ddpm",
        "diffusion.schedule": "ddpm_linear",
        "diffusion.ddpm_steps": 1000,
        "diffusion.parameterisation": "noise",
        "diffusion.loss": "noise",
        "diffusion.times": "uniform",
        "train.calibration": 0,
        "sample.solver": "ancestral",
        "sample.steps": 1000,
        "sample.grid": "uniform",
    }


_PRESETS: dict[str, Callable[[Config, str | None], dict[str, Any]]] = {
    "paper": _as_in_the_paper,
    "ddpm": _ddpm,
}
