"""Training for generators with one network, one loss and one optimiser."""

import abc
import functools
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from pacodi_jax.models.per_window import PerWindow
from pacodi_jax.models.protocol import Arrays, Shape, Training
from pacodi_jax.models.state import Batch, TrainState, advance
from pacodi_jax.types import Array, Key


class OneNetwork(PerWindow):
    """A :class:`~pacodi_jax.models.protocol.Generator` but for its loss, its draws and its facts.

    Args:
      settings: of the family.
      shape: of the windows.
      arrays: what the family fitted to the training windows.
      training: None for a generator that only samples.
    """

    def __init__(
        self, settings: Any, shape: Shape, arrays: Arrays, training: Training | None
    ) -> None:
        self.settings, self.shape, self.sampling = settings, shape, settings.sample
        self.arrays: Arrays = jax.tree.map(jnp.asarray, arrays)
        self.network = self.make_network()
        self._training = training

    @property
    def training(self) -> Training:
        """What it trains with."""
        assert self._training is not None, "built without training"
        return self._training

    @functools.cached_property
    def _optimiser(self) -> optax.GradientTransformationExtraArgs:
        return optax.with_extra_args_support(self.training.make_optimiser())

    @abc.abstractmethod
    def make_network(self) -> nn.Module:
        """Returns the network that the settings ask for."""

    @abc.abstractmethod
    def first_params(self, key: Key) -> Any:
        """Returns the network's parameters before the first step."""

    @abc.abstractmethod
    def losses(self, params: Any, keys: Array, batch: Batch, learns: bool) -> Array:
        """Returns the loss of each example ``(B,)``.

        Args:
          params: the network's parameters.
          keys: of the examples; each depends on (seed, step, slot) alone.
          batch: the examples.
          learns: whether this is a training step, with dropout.
        """

    def ema_decay(self, step: Array) -> Array:
        """The decay of the parameters' average at a step; it warms up."""
        return jnp.minimum(self.training.ema, (1 + step) / (10 + step))

    def init(self, key: Key, batch: Batch) -> TrainState:
        """Returns the state before the first step."""
        network_key, training_key = jax.random.split(key)
        params = self.first_params(network_key)
        zero = jnp.zeros((), jnp.int32)
        state = self._optimiser.init(params)
        return TrainState(
            zero, params, params, state, zero, zero, jax.random.key_data(training_key)
        )

    def update(self, state: TrainState, batch: Batch) -> tuple[TrainState, dict[str, Array]]:
        """One step on this device's part of the global batch."""
        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), state.step)
        mean = partial(self._mean_loss, key=key, batch=batch, learns=True)
        loss, gradients = jax.value_and_grad(mean)(state.params)
        metrics = {"loss": loss, "gradient_norm": optax.tree.norm(gradients)}
        return advance(state, gradients, loss, self._optimiser, self.ema_decay), metrics

    def _mean_loss(self, params: Any, key: Key, batch: Batch, learns: bool) -> Array:
        keys = jax.vmap(partial(jax.random.fold_in, key))(batch.slot)
        return jnp.mean(self.losses(params, keys, batch, learns))

    def validate(self, state: TrainState, key: Key, batch: Batch) -> Array:
        """The loss of the averaged parameters."""
        return self._mean_loss(state.ema, key, batch, learns=False)

    def weights(self, state: TrainState) -> Arrays:
        """The averaged parameters."""
        return state.ema
