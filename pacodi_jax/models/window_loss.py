"""How well a model fits single windows: the loss by which membership is inferred."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.models.protocol import Arrays
from pacodi_jax.models.spectral_drawing import SpectralSampler
from pacodi_jax.types import Array, Key, Prediction

#: Times and draws of noise per window, and windows per compiled call.
TIMES, DRAWS, BLOCK = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 2, 100


def window_losses(
    model: SpectralSampler, weights: Arrays, windows: np.ndarray, *, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The training loss of each window, of the network and of a network whose output is zero.

    In Wiener coordinates the latter is the best linear denoiser of the training spectrum: it knows
    the law of train and no window of it, so the ratio of the two leaves out that some windows are
    harder than others. Conditional models are asked without a condition.

    Args:
      model: the generator.
      weights: of its network.
      windows: ``(N, L, C)`` in the model's scale.
      seed: of the noise, which is the same for both networks.

    Returns:
      Two arrays ``(N,)``.
    """
    params = jax.tree.map(jnp.asarray, weights)
    rest = -len(windows) % BLOCK
    rows = np.pad(windows, ((0, rest), (0, 0), (0, 0)), mode="wrap").reshape(
        -1, BLOCK, *windows.shape[1:]
    )
    keys = jax.random.split(jax.random.key(seed), len(rows))
    program = jax.jit(lambda key, block: _block(model, params, key, block))
    found = [np.asarray(program(key, block)) for key, block in zip(keys, rows, strict=True)]
    own, linear = np.concatenate(found, axis=1)[:, : len(windows)]
    return own, linear


def _block(model: SpectralSampler, params: Any, key: Key, windows: Array) -> Array:
    """Both losses ``(2, B)``, averaged over times and draws of noise."""
    clean = jax.vmap(model.coding.encode)(windows)
    times = jnp.repeat(jnp.asarray(TIMES, jnp.float32), DRAWS)

    def at(inputs: tuple[Key, Array]) -> Array:
        noise_key, time = inputs
        t = jnp.full(len(windows), time)
        keys = jax.random.split(noise_key, len(windows))
        noisy, noise = jax.vmap(model.process.perturb)(keys, clean, t)
        fed = jax.vmap(model.process.network_input)(noisy, t)
        output = model.view.apply(params, fed, t, None, None)
        truth, loss = Prediction(noise, clean), jax.vmap(model.process.loss)
        nothing = jax.tree.map(jnp.zeros_like, output)
        return jnp.stack([loss(output, fed, truth, t), loss(nothing, fed, truth, t)])

    return jax.lax.map(at, (jax.random.split(key, len(times)), times)).mean(axis=0)
