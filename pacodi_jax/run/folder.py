"""The folder of a run: what its files are called, and how a model is loaded from it."""

import json
import logging
import os
from pathlib import Path
from typing import Any

import optax

from pacodi_jax import checkpoint, files, settings
from pacodi_jax.data import Recipe
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import edited, parts, sealed
from pacodi_jax.run.trained import Trained
from pacodi_jax.settings import Config, TrainSettings

#: The model itself; all other files of a run are for reading, or to resume it.
MODEL = "model.pacodi"
SETTINGS, RECIPE, FACTS, CARD = "config.json", "recipe.json", "model.json", "model.md"
#: Where version 0.1 kept the weights.
OLD_MODEL = "model.safetensors"
_LOG = logging.getLogger("pacodi_jax")


def load(path: str | os.PathLike[str]) -> Trained:
    """Loads a trained model from its file or from the folder of its run; no data are needed.

    Raises:
      PacodiError: if there is no finished model, or if it was damaged or edited.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        return _from_folder(place)
    if not place.exists():
        raise PacodiError(f"{place} is not there; give a model file or the folder of a run.")
    return _opened(place)


def _opened(path: Path) -> Trained:
    """A sealed model whose parts fit one another: a seal proves wholeness, not good faith."""
    found = sealed.read(path)
    _require_weights(found, path)
    return found


def _from_folder(folder: Path) -> Trained:
    if (folder / MODEL).is_file():
        found = _opened(folder / MODEL)
        edited.refuse_settings(folder / SETTINGS, found.config)
        edited.refuse_recipe(folder / RECIPE, found.recipe)
        edited.refuse_facts(folder / FACTS, found.facts)
        return found
    if (folder / OLD_MODEL).is_file():
        return _from_old_folder(folder)
    raise PacodiError(
        f"{folder} is not a trained run: {MODEL} is not there. Train first: pacodi train … "
        f"--out={folder}, or python -m pacodi_jax.main --config=… --workdir={folder} --mode=train"
    )


def _from_old_folder(folder: Path) -> Trained:
    """A run of version 0.1, whose settings and recipe are not under the seal of its weights."""
    missing = [name for name in (SETTINGS, RECIPE) if not (folder / name).is_file()]
    if missing:
        raise PacodiError(f"{folder} is not a trained run: {', '.join(missing)} is not there.")
    try:
        found = _of_old_files(folder)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, PacodiError):
            raise
        told = f"{type(error).__name__}: {error}"
        raise PacodiError(f"{folder / OLD_MODEL} is not a model: {told}") from error
    _require_weights(found, folder / OLD_MODEL)
    _LOG.warning(
        "note: %s is of version 0.1: its settings and recipe are not under the seal of its weights",
        folder,
    )
    return found


def _of_old_files(folder: Path) -> Trained:
    config = settings.read(folder / SETTINGS)
    stored = checkpoint.load(folder / OLD_MODEL)
    facts = dict(stored.header)
    calibration = facts.pop("calibration", None)
    if calibration is not None:  # samples are calibrated for the way they were drawn then
        chosen = {f"sample.{name}": value for name, value in calibration["sampler"].items()}
        config = config.changed(chosen)
    recipe = edited.read_recipe(folder / RECIPE)
    found = Trained(config, recipe, facts, stored.arrays["fitted"], stored.arrays["params"])
    sealed.require_whole(found)
    return found


def _require_weights(found: Trained, path: Path) -> None:
    """Refuses weights and fitted arrays that do not fit the settings they come with."""
    try:
        template = _template(found)
    except PacodiError:
        raise
    except Exception as error:  # whatever arrays of other shapes and names lead to
        told = " ".join(str(error).split())[:200]
        raise PacodiError(f"the parts of {path} do not fit one another: {told}") from error
    weights = checkpoint.seal(checkpoint.flatten(found.weights), {})
    checkpoint.require_same_shapes(template, weights, str(path))


def _template(found: Trained) -> Any:
    """The shapes of the weights that the settings ask for; nothing is computed."""
    generator = parts.build_generator(found.config, found.shape, found.arrays, _no_optimiser)
    return generator.weights(parts.state_shapes(generator, found.shape))


def _no_optimiser(settings: TrainSettings) -> optax.GradientTransformationExtraArgs:
    """For shapes only."""
    return optax.with_extra_args_support(optax.identity())


def write(folder: Path, model: Trained) -> Path:
    """Writes the sealed model, and what people read of it."""
    facts = model.facts
    files.write_text(folder / FACTS, json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    files.write_text(folder / CARD, _markdown(facts))
    files.write_text(folder / RECIPE, model.recipe.to_json())  # version 0.1 wrote less
    return sealed.write(model, folder / MODEL)


def describe(folder: Path, config: Config, recipe: Recipe) -> None:
    """Writes the settings and the recipe of a run that begins."""
    files.write_text(folder / SETTINGS, config.to_json())
    files.write_text(folder / RECIPE, recipe.to_json())


def _markdown(facts: dict[str, Any]) -> str:
    rows = [f"| {key} | {json.dumps(value, ensure_ascii=False)} |" for key, value in facts.items()]
    return "\n".join(["# Model card", "", "| what | value |", "|---|---|", *rows, ""])
