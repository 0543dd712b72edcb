"""Diffusion of spectra behind the Generator protocol: how it learns."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.core import calibration
from pacodi_jax.core.spectrum import to_spectrum
from pacodi_jax.core.training_times import TimeSampler
from pacodi_jax.models import conditions
from pacodi_jax.models.protocol import Arrays
from pacodi_jax.models.spectral_drawing import SpectralSampler
from pacodi_jax.models.state import Batch, TrainState, advance
from pacodi_jax.types import Array, Key, Prediction


@dataclass(frozen=True, eq=False)
class Learning:
    """How the network learns.

    Attributes:
      optimiser: an optax chain; averaging over devices, if any, is its first link.
      times: draws the times of a batch.
      ema: decay of the parameters' average, which sampling uses.
      condition_dropout: how often an example's condition is dropped, drawn per example.
    """

    optimiser: optax.GradientTransformationExtraArgs
    times: TimeSampler
    ema: float
    condition_dropout: float


@dataclass(frozen=True, eq=False)
class SpectralDiffusion(SpectralSampler):
    """A generator that diffuses spectra.

    Attributes:
      learning: None for a generator that only samples.
    """

    learning: Learning | None

    @property
    def _learning(self) -> Learning:
        assert self.learning is not None, "built without training"
        return self.learning

    def init(self, key: Key, batch: Batch) -> TrainState:
        """Returns the state before the first step; ``batch`` gives the shapes."""
        network_key, training_key = jax.random.split(key)
        params = self.view.init(network_key, jax.vmap(self.coding.encode)(batch.windows[:1]))
        return TrainState(
            step=jnp.zeros((), jnp.int32),
            params=params,
            ema=params,
            optimiser=self._learning.optimiser.init(params),
            skipped=jnp.zeros((), jnp.int32),
            consecutive_skips=jnp.zeros((), jnp.int32),
            key=jax.random.key_data(training_key),
        )

    def update(self, state: TrainState, batch: Batch) -> tuple[TrainState, dict[str, Array]]:
        """One step on this device's part of the global batch."""
        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), state.step)
        loss, gradients = jax.value_and_grad(self.loss)(state.params, key, batch)
        metrics = {"loss": loss, "gradient_norm": optax.tree.norm(gradients)}
        learning = self._learning
        return advance(state, gradients, loss, learning.optimiser, learning.ema), metrics

    def validate(self, state: TrainState, key: Key, batch: Batch) -> Array:
        """The loss of the averaged parameters."""
        return self.loss(state.ema, key, batch)

    def weights(self, state: TrainState) -> Arrays:
        """The averaged parameters."""
        return state.ema

    def loss(self, params: Any, key: Key, batch: Batch) -> Array:
        """The mean loss of a batch."""
        clock_key, example_key = jax.random.split(key)
        keys = jax.vmap(partial(jax.random.fold_in, example_key))(batch.slot)
        time_keys, noise_keys, drop_keys = jax.vmap(partial(jax.random.split, num=3))(keys).T
        t = self._learning.times(clock_key, time_keys, batch.slot)
        clean = jax.vmap(self.coding.encode)(batch.windows)
        noisy, noise = jax.vmap(self.process.perturb)(noise_keys, clean, t)
        inputs = jax.vmap(self.process.network_input)(noisy, t)
        drop = conditions.dropped(drop_keys, self._learning.condition_dropout, batch)
        output = self.view.apply(params, inputs, t, self.standard(batch.condition), drop)
        losses = jax.vmap(self.process.loss)(output, inputs, Prediction(noise, clean), t)
        return jnp.mean(losses)

    def finish(
        self,
        key: Key,
        weights: Arrays,
        windows: np.ndarray,
        draws: int,
        condition: np.ndarray | None = None,
    ) -> Arrays:
        """Fits the correction of samples to training windows and to fresh draws."""
        bare = replace(self, fitted=self.fitted._replace(calibration=None))
        spectra = jax.jit(jax.vmap(to_spectrum))
        given = None if condition is None else jnp.asarray(condition)
        drawn = bare.sample(key, weights, draws, given)
        found = calibration.fit(spectra(windows), spectra(drawn))
        return self.fitted._replace(calibration=found).to_arrays()
