"""The sealed file of a trained model: written, read, and refused if its parts disagree."""

import json
from pathlib import Path

from pacodi_jax import checkpoint, settings
from pacodi_jax.checkpoint import Stored
from pacodi_jax.data import Recipe
from pacodi_jax.errors import PacodiError
from pacodi_jax.run.conditions import TextLaw
from pacodi_jax.run.trained import Trained


def write(trained: Trained, path: Path) -> Path:
    """Writes a model as one sealed file."""
    arrays = {"weights": trained.weights, "arrays": trained.arrays}
    header = {
        "settings": trained.config.to_dict(),
        "recipe": json.loads(trained.recipe.to_json()),
        "facts": trained.facts,
    }
    if trained.texts is not None:
        arrays["texts"] = {"vectors": trained.texts.vectors}
        if trained.texts.static is not None:
            arrays["texts"]["static"] = trained.texts.static
        header["texts"] = list(trained.texts.texts)
    return checkpoint.save(path, Stored(arrays, header))


def read(path: Path) -> Trained:
    """Reads what :func:`write` wrote.

    Raises:
      PacodiError: if the file is missing, damaged or edited.
    """
    stored = checkpoint.load(path)
    header = stored.header
    try:
        texts = None
        if "texts" in header:
            texts = TextLaw(tuple(header["texts"]), **stored.arrays["texts"])
        found = Trained(
            settings.stored(header["settings"]),
            Recipe.from_json(json.dumps(header["recipe"])),
            header["facts"],
            stored.arrays["arrays"],
            stored.arrays["weights"],
            texts,
        )
        require_whole(found)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        told = f"{type(error).__name__}: {error}"
        raise PacodiError(f"{path} is not a model of this package: {told}") from error
    return found


def require_whole(trained: Trained) -> None:
    """Refuses facts that are not those of the recipe and the settings beside them.

    Raises:
      PacodiError: naming the first that is not.
    """
    config, recipe, facts = trained.config, trained.recipe, trained.facts
    wanted = {"channels": list(recipe.live_channels), "length": config.data.length}
    for name, value in wanted.items():
        if facts[name] != value:
            raise PacodiError(f"this model is not whole: {name}={facts[name]!r}")
    if recipe.length != config.data.length:
        raise PacodiError(f"this model is not whole: its recipe has {recipe.length} steps")
    width = facts["condition_width"]
    if isinstance(width, bool) or not isinstance(width, int) or width < 0:
        raise PacodiError(f"this model is not whole: condition_width={width!r}")
