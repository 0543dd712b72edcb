"""The noise of observations: from the user's units to the model's scale."""

from collections.abc import Mapping

import numpy as np

from pacodi_jax.data.recipe import Recipe
from pacodi_jax.errors import PacodiError, nearest


def scaled_noise(recipe: Recipe, noise: float | Mapping[str, float] | None) -> np.ndarray:
    """The standard deviation of the observations of every channel that the model sees, ``(C,)``.

    Where a channel has bounds or a curve, the scale away from them is meant.

    Args:
      recipe: of the model.
      noise: one number for all channels, or one per channel; channels left out are exact.

    Raises:
      PacodiError: for an unknown channel, or a number that is negative or not finite.
    """
    given = dict.fromkeys(recipe.channels, 0.0)
    if isinstance(noise, Mapping):
        for name in noise:
            if name not in given:
                raise PacodiError(
                    f"noise names the channel {name!r}; the model has {', '.join(given)}."
                    f"{nearest(str(name), given)}"
                )
        given |= noise
    elif noise is not None:
        given = dict.fromkeys(given, noise)
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise PacodiError(f"noise of {name!r} is {value!r}; a number is needed.")
        if not 0 <= value < float("inf"):
            raise PacodiError(f"noise of {name!r} is {value!r}; accepted: 0 or more.")
    live = recipe.scaler.live
    return np.array(list(given.values()), np.float64)[live] / recipe.scaler.factor[live]
