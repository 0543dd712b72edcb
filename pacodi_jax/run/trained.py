"""From a run's folder back to a generator that speaks the user's units."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from ml_collections import ConfigDict

from pacodi_jax import models
from pacodi_jax.checkpoint import load_weights
from pacodi_jax.core import calibration, statistics
from pacodi_jax.data import Dataset, Recipe
from pacodi_jax.data.captioned import Captioned
from pacodi_jax.errors import PacodiError
from pacodi_jax.run.parts import build_encoder, build_generator
from pacodi_jax.text.encoders import Encoder, check_vectors, require_identity
from pacodi_jax.text.encoders.interface import as_numbers
from pacodi_jax.text.encoders.vocabulary import encode_request
from pacodi_jax.train import config as configuration
from pacodi_jax.types import Array, Key

WEIGHTS, RECIPE, SETTINGS = "model.safetensors", "recipe.json", "config.json"
_DRAWN_BY = ("solver", "steps", "grid", "eta", "posterior_variance")


def sampler(config: ConfigDict) -> dict[str, Any]:
    """What decides how samples are drawn, and so which calibration fits them."""
    return {name: config.sample[name] for name in _DRAWN_BY}


def _calibrated_for(card: dict[str, Any]) -> dict[str, Any] | None:
    """How the samples are drawn that a model's calibration corrects; None if it has none."""
    found = card.get("calibration")  # models of earlier versions do not speak of it
    return None if found is None else found["sampler"]


def weights(fitted: models.Fitted, params: Any) -> dict[str, Any]:
    """What ``model.safetensors`` holds: the averaged parameters and what was fitted to train."""
    return {"params": params, "fitted": fitted}


def card(config: ConfigDict, dataset: Dataset, step: int) -> dict[str, Any]:
    """The plain facts of a trained model, which :func:`load` and a reader need."""
    return {
        "model": config.model.name,
        "data": dataset.recipe.label,
        "licence": dataset.recipe.licence,
        "fingerprint": dataset.fingerprint,
        "protocol": config.data.protocol,
        "statistics": config.diffusion.statistics,
        "length": config.data.length,
        "channels": list(dataset.recipe.live_channels),
        "train_windows": len(np.unique(dataset.train.starts)),
        "encoder": dataset.train.encoder if isinstance(dataset.train, Captioned) else "",
        "condition_width": sum(_width(dataset.train.condition())),
        "steps": step,
    }


def _width(condition: np.ndarray | None) -> tuple[int, ...]:
    return () if condition is None else condition.shape[1:]


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained generator that speaks the user's units.

    Attributes:
      generator: the model.
      params: its averaged parameters.
      recipe: the way back to the user's table.
      config: the settings of its run.
      card: plain facts of the model.
    """

    generator: models.SpectralDiffusion
    params: Any
    recipe: Recipe
    config: ConfigDict
    card: dict[str, Any]

    @property
    def label(self) -> str:
        """What every file made with this model must say; empty for an honest one."""
        parts = [self.recipe.label] if self.recipe.protocol == "paper" else []
        oracle = self.config.diffusion.statistics == "oracle"
        parts += [self.generator.statistics.label] if oracle else []
        return "; ".join(parts)

    @property
    def calibrated(self) -> bool:
        """Whether samples are corrected."""
        return self.generator.calibration is not None

    @property
    def note(self) -> str:
        """What a user should know of how samples are drawn; empty if there is nothing."""
        wanted = _calibrated_for(self.card)
        if wanted is None or self.calibrated:
            return ""
        told = ", ".join(f"{name}={value}" for name, value in wanted.items())
        return f"samples are not calibrated: the run's calibration is for {told}"

    def encoder(self) -> Encoder:
        """The text encoder, refused by name if the model was trained with another one."""
        if not self.card["encoder"]:
            raise PacodiError(
                "this model was trained without texts; train one with configs/text.py, or sample "
                "without --text."
            )
        encoder = build_encoder(self.config, self.recipe.words)
        require_identity(encoder, self.card["encoder"])
        return encoder

    def encode(self, text: str) -> np.ndarray:
        """The condition ``(E,)`` of a text, by the encoder that the model was trained with.

        Raises:
          PacodiError: for a text that it does not read, or has no word of those it was trained on.
        """
        return encode_request(self.encoder(), text)

    def sample_scaled(self, key: Key, count: int, condition: Any = None) -> np.ndarray:
        """Draws ``count`` windows ``(count, L, C_live)`` in the model's scale.

        Raises:
          PacodiError: for a condition of another width, or one that is not finite.
        """
        if condition is not None:
            condition = self._checked(condition, count)
        return np.asarray(self.generator.sample(key, self.params, count, condition))

    def _checked(self, condition: Any, count: int) -> Array:
        """The condition as ``(count, E)``, a single row ``(E,)`` for every window."""
        width = self.card["condition_width"]
        if not width:
            raise PacodiError("this model was trained without conditions; sample it without one.")
        rows = as_numbers(condition, width, "condition")
        rows = check_vectors(np.atleast_2d(rows), width, "condition")
        if len(rows) not in (1, count):
            raise PacodiError(f"{len(rows)} conditions for {count} windows; give one, or {count}.")
        return jnp.broadcast_to(jnp.asarray(rows), (count, width))

    def sample(self, key: Key, count: int, condition: Any = None) -> np.ndarray:
        """Draws ``count`` windows in the user's units, ``(count, L, C)`` float64.

        Args:
          key: random key; window i depends only on (key, i).
          count: how many.
          condition: ``(count, E)``, or one row ``(E,)`` for all; only for a conditional model.
        """
        if count < 1:
            raise PacodiError(f"count={count}; accepted: 1, 2, 3, …")
        return self.recipe.unscale(self.sample_scaled(key, count, condition))


def load(workdir: str | Path, config: ConfigDict | None = None) -> Trained:
    """Loads a trained generator from its run folder; the data are not needed.

    Args:
      workdir: the folder that training wrote.
      config: settings to sample with instead of the run's own: how samples are drawn, where the
        data lie, and how texts are encoded; the model's stay as trained.

    Raises:
      PacodiError: if the folder is not a finished run, or is damaged.

    Example:
      >>> windows = pacodi_jax.load("runs/etth1").sample(jax.random.key(0), 100)
    """
    folder = Path(workdir)
    missing = [n for n in (SETTINGS, RECIPE, WEIGHTS) if not (folder / n).is_file()]
    if missing:
        raise PacodiError(
            f"{folder} is not a trained run: {', '.join(missing)} is not there. "
            "Train first: python -m pacodi_jax.main --config=… --workdir=… --mode=train"
        )
    stored = configuration.from_json((folder / SETTINGS).read_text())
    if config is not None:
        stored = _overridden(stored, config)
    facts = json.loads((folder / "model.json").read_text())
    recipe = Recipe.from_json((folder / RECIPE).read_text())
    template = _template(stored, facts)
    found, facts = load_weights(folder / WEIGHTS, template)
    mode, length = stored.diffusion.statistics, stored.data.length
    fitted = jax.tree.map(jnp.asarray, found["fitted"])
    coding = statistics.Statistics(mode, length, fitted.level)
    if _calibrated_for(facts) != sampler(stored):
        fitted = fitted._replace(calibration=None)
    generator = build_generator(stored, coding, fitted, condition_width=facts["condition_width"])
    params = jax.tree.map(jnp.asarray, found["params"])
    return Trained(generator, params, recipe, stored, facts)


def _overridden(stored: ConfigDict, given: ConfigDict) -> ConfigDict:
    """A run's settings with what sampling may choose anew; unset choices stay as they were."""
    settings = {**stored.to_dict(), "sample": given.sample.to_dict()}
    if given.text.encoder:
        settings["text"] = given.text.to_dict()
    if given.data.path:
        settings["data"]["path"] = given.data.path
    return ConfigDict(settings).lock()


def _template(config: ConfigDict, facts: dict[str, Any]) -> dict[str, Any]:
    """The shapes of what ``model.safetensors`` must hold, by tracing alone."""
    mode, width = config.diffusion.statistics, facts["condition_width"]
    shape = (config.data.length, len(facts["channels"]))
    windows = jax.random.normal(jax.random.key(0), (2, *shape))  # any that vary
    condition = jnp.zeros((2, width)) if width else None
    coding, fitted = models.fit(mode, windows, condition)
    many = jax.ShapeDtypeStruct((facts["train_windows"], *shape), jnp.float32)
    fitted_shapes = jax.eval_shape(lambda w: models.fit(mode, w, condition)[1], many)
    if _calibrated_for(facts) is not None:
        bins = fitted_shapes.moments.mean.real.shape
        fitted_shapes = fitted_shapes._replace(calibration=calibration.identity(*bins))
    generator = build_generator(config, coding, fitted, condition_width=width)
    batch = models.Batch(windows, jnp.arange(2), condition)
    state = jax.eval_shape(generator.init, jax.random.key(0), batch)
    return weights(fitted_shapes, state.params)
