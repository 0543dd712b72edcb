"""The estimator's arguments and the settings of a run: each made from the other."""

from collections.abc import Mapping
from typing import Any

from pacodi_jax.errors import PacodiError
from pacodi_jax.settings import Config, flatten

#: Arguments of the estimator and the settings that they stand for.
SHORT = {
    "length": "data.length",
    "time": "data.time",
    "id": "data.id",
    "static": "data.static",
    "channels": "data.channels",
    "seed": "seed",
}


def settings(
    params: Mapping[str, Any], defaults: Mapping[str, Any], data: Mapping[str, Any]
) -> Config:
    """All settings that the estimator's arguments ask for, checked.

    Args:
      params: the arguments.
      defaults: those of an estimator without any: arguments that are as here say nothing.
      data: where the data are; this goes before the arguments, but for a file that the settings
        say is one of TSFragment.

    Raises:
      PacodiError: for a setting that is unknown or cannot work, or an argument and a setting that
        disagree.
    """
    own = params["settings"] or {}
    if own.get("model.name", params["model"]) != params["model"]:
        raise PacodiError(
            f"model={params['model']!r} and settings={{'model.name': {own['model.name']!r}}} "
            "disagree; name the family by model= alone."
        )
    asked = {}
    for name, full in SHORT.items():
        value = params[name]
        if value == defaults[name]:
            continue
        if own.get(full, value) != value:
            raise PacodiError(
                f"{name}={value!r} and settings={{{full!r}: {own[full]!r}}} disagree; "
                "give one of them."
            )
        asked[full] = value
    base = Config.default(params["model"], params["size"])
    if data.get("data.path") and own.get("data.source") == "tsfragment":
        data = {"data.path": data["data.path"]}
    return base.changed({**asked, **own, **data})


def params(config: Config) -> dict[str, Any]:
    """The arguments of an estimator with these settings."""
    default = flatten(Config.default(config.model.name).to_dict())
    own = {n: v for n, v in flatten(config.to_dict()).items() if default.get(n) != v}
    short = {name: own.pop(full) for name, full in SHORT.items() if full in own}
    own.pop("model.name", None)
    return {**short, "model": config.model.name, "settings": own or None}
