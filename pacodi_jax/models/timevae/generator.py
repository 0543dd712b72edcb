"""TimeVAE behind the Generator protocol."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.config import Section, setting
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import conditions, min_max
from pacodi_jax.models.min_max import MinMax
from pacodi_jax.models.per_window import PerWindow
from pacodi_jax.models.protocol import Arrays, Drawing, Facts, Family, Shape, Training
from pacodi_jax.models.state import Batch, TrainState, advance
from pacodi_jax.models.timevae.networks import Autoencoder, Decoder, Encoder
from pacodi_jax.types import Array, Key

#: Adam on a tenth of the gradient with ε = 10⁻⁸ is Adam on all of it with Keras's ε = 10⁻⁷.
_KERAS = 0.1


@dataclass(frozen=True)
class Networks(Section, name="model"):
    """The encoder and the parts of the decoder."""

    name: str = setting("timevae", "the family of models")
    latent: int = setting(8, "numbers of the latent", least=1)
    filters: tuple[int, ...] = setting((50, 100, 200), "channels of each convolution of stride 2")
    trend_poly: int = setting(0, "degree of the trend; 0 for none", least=0)
    seasons: tuple[Any, ...] = setting(
        (), "pairs (seasons per cycle, steps per season), such as ((24, 1), (7, 24))"
    )
    residual: bool = setting(True, "whether there is a residual block")
    reconstruction: float = setting(
        3.0, "weight of the squared errors", accepted=("a positive number", lambda x: x > 0)
    )

    def check(self) -> None:
        """Filters and seasons are whole numbers from 1 up, and seasons come in pairs."""
        if not self.filters or not _counts(self.filters):
            raise PacodiError(f"model.filters={self.filters}; accepted: numbers above 0.")
        object.__setattr__(self, "seasons", _pairs(self.seasons))


def _counts(values: Any) -> bool:
    return all(type(value) is int and value > 0 for value in values)


def _pairs(seasons: tuple[Any, ...]) -> tuple[tuple[int, int], ...]:
    """Seasons as pairs, also if they came as lists or as one pair alone."""
    if len(seasons) == 2 and _counts(seasons):
        seasons = (seasons,)
    if not all(isinstance(p, tuple | list) and len(p) == 2 and _counts(p) for p in seasons):
        raise PacodiError(
            f"model.seasons={seasons}; accepted: pairs of whole numbers above 0, as in ((24, 1),)."
        )
    return tuple((count, steps) for count, steps in seasons)


@dataclass(frozen=True)
class TimeVAESettings:
    """All settings of the family."""

    model: Networks = field(default_factory=Networks)
    sample: Drawing = field(default_factory=Drawing)


@dataclass(frozen=True, eq=False)
class TimeVAE(PerWindow):
    """The generator.

    Attributes:
      network: encoder and decoder.
      sampling: the ``sample`` section.
      scale: per position and channel.
      standard: mean and scale of conditions, or None.
      weight: of the squared errors.
      training: None for a generator that only samples.
      optimiser: of the network; None with ``training``.
    """

    network: Autoencoder
    sampling: Drawing
    scale: MinMax
    standard: tuple[Array, Array] | None
    weight: float
    training: Training | None
    optimiser: optax.GradientTransformationExtraArgs | None

    def init(self, key: Key, batch: Batch) -> TrainState:
        """Returns the state before the first step; ``batch`` gives the shapes."""
        assert self.optimiser is not None, "built without training"
        network_key, training_key = jax.random.split(key)
        noise = jnp.zeros((1, self.network.encoder.latent))
        condition = None if batch.condition is None else batch.condition[:1]
        params = self.network.init(network_key, batch.windows[:1], noise, condition)["params"]
        zero = jnp.zeros((), jnp.int32)
        key_data = jax.random.key_data(training_key)
        return TrainState(zero, params, params, self.optimiser.init(params), zero, zero, key_data)

    def update(self, state: TrainState, batch: Batch) -> tuple[TrainState, dict[str, Array]]:
        """One step on this device's part of the global batch."""
        assert self.training is not None, "built without training"
        assert self.optimiser is not None, "built without training"
        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), state.step)
        shares = self.training.batch / len(batch.windows)  # a sum over all devices is wanted
        dropout = self.training.condition_dropout

        def total(params: Any) -> Array:
            return shares * self.loss(params, key, batch, dropout)

        loss, gradients = jax.value_and_grad(total)(state.params)
        gradients = jax.tree.map(lambda g: _KERAS * g, gradients)
        return advance(state, gradients, loss, self.optimiser, self.training.ema), {"loss": loss}

    def validate(self, state: TrainState, key: Key, batch: Batch) -> Array:
        """The loss of the averaged parameters."""
        return self.loss(state.ema, key, batch, 0.0)

    def loss(self, params: Any, key: Key, batch: Batch, dropout: float) -> Array:
        """The loss of a batch, as this package states it.

        Args:
          params: of the network.
          key: of the step.
          batch: some examples of the step.
          dropout: share of conditions that are dropped, never those of oversampled examples.
        """
        keys = jax.vmap(partial(jax.random.fold_in, key))(batch.slot)
        noise_keys, drop_keys = jax.vmap(jax.random.split)(keys).T
        latent = (self.network.encoder.latent,)
        noise = jax.vmap(lambda k: jax.random.normal(k, latent))(noise_keys)
        drop = jax.vmap(lambda k: jax.random.bernoulli(k, dropout))(drop_keys)
        drop = drop if batch.oversampled is None else drop & ~batch.oversampled
        x = self.scale.to_unit(batch.windows)
        condition = self._standard(batch.condition)
        out: Any = self.network.apply({"params": params}, x, noise, condition, drop)
        made, mean, log_variance = out
        error = x - made
        squares = jnp.sum(error**2) + jnp.sum(jnp.mean(error, axis=-1) ** 2)
        divergence = -0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance))
        return self.weight * squares + divergence

    def _standard(self, condition: Array | None) -> Array | None:
        if condition is None or self.standard is None:
            return condition
        return conditions.rescaled(condition, *self.standard)

    def weights(self, state: TrainState) -> Arrays:
        """The averaged parameters, those of the encoder too."""
        return state.ema

    def draw_one(
        self, sampling: Drawing, weights: Arrays, key: Key, condition: Array | None
    ) -> Array:
        """Decodes z ~ N(0, I); see :class:`~pacodi_jax.models.per_window.PerWindow`."""
        z = jax.random.normal(key, (1, self.network.encoder.latent))
        told = self._standard(condition)
        row = None if told is None else told[None]
        made: Any = self.network.apply({"params": weights}, z, row, method="decode")
        return self.scale.from_unit(made[0])

    def facts(self, **how: Any) -> Facts:
        """One pass of the decoder per sample."""
        return Facts(label="", evaluations=1)


def prepare(settings: TimeVAESettings, windows: np.ndarray, condition: np.ndarray | None) -> Arrays:
    """Fits the scalers; see :class:`~pacodi_jax.models.protocol.Family`."""
    return min_max.fit(windows, (0,)) | conditions.fit(condition)


def build(
    settings: TimeVAESettings, shape: Shape, arrays: Arrays, training: Training | None
) -> TimeVAE:
    """Builds the generator; see :class:`~pacodi_jax.models.protocol.Family`."""
    arrays, model = jax.tree.map(jnp.asarray, arrays), settings.model
    decoder = Decoder(
        shape.length,
        shape.channels,
        model.filters,
        model.trend_poly,
        model.seasons,
        model.residual,
    )
    found = arrays.get("condition")
    return TimeVAE(
        Autoencoder(Encoder(model.latent, model.filters), decoder, shape.condition_width),
        settings.sample,
        MinMax(arrays["low"], arrays["span"]),
        None if found is None else (found["mean"], found["scale"]),
        model.reconstruction,
        training,
        None if training is None else training.make_optimiser(),
    )


FAMILY = Family(
    "timevae",
    TimeVAESettings,
    prepare,
    build,
    sizes={
        "tiny": {"latent": 4, "filters": (8, 16)},
        "small": {"latent": 8, "filters": (50, 100, 200)},
    },
    defaults={
        "train.batch": 16,
        "train.learning_rate": 1e-3,
        "train.warmup": 0.0,
        "train.decay": "constant",
        "train.clip": 1e9,
        "train.ema": 0.0,
    },
)
