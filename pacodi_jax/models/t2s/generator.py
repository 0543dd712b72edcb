"""T2S behind the Generator protocol."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.config import Section, setting
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import min_max, phased
from pacodi_jax.models.min_max import MinMax
from pacodi_jax.models.per_window import PerWindow
from pacodi_jax.models.phased import Goal, Named, PhasedState
from pacodi_jax.models.protocol import Arrays, Drawing, Facts, Family, Shape, Training
from pacodi_jax.models.state import Batch
from pacodi_jax.models.t2s.networks import (
    FEATURES,
    POSITIONS,
    Decoder,
    Encoder,
    Flow,
    resampled,
)
from pacodi_jax.types import Array, Key


@dataclass(frozen=True)
class Networks(Section, name="model"):
    """The autoencoder, the flow's network and the phases."""

    name: str = setting("t2s", "the family of models")
    filters: int = setting(128, "of the autoencoder's widest layers; an even number", least=2)
    width: int = setting(128, "of a token of the flow; four divides it", least=4)
    depth: int = setting(4, "blocks of the flow", least=1)
    heads: int = setting(4, "attention heads; must divide the width", least=1)
    autoencoding: float = phased.share_setting(0.25, "phase 1, the autoencoder")
    autoencoder_rate: float = setting(
        1e-3, "learning rate of phase 1", accepted=("a positive number", lambda x: x > 0)
    )

    def check(self) -> None:
        """Halves and quarters are whole, and heads share the width evenly."""
        if self.filters % 2 or self.width % 4:
            raise PacodiError(
                f"model.filters={self.filters} must be even and model.width={self.width} a "
                "multiple of 4."
            )
        if self.width % self.heads:
            raise PacodiError(f"model.heads={self.heads} must divide model.width={self.width}.")


@dataclass(frozen=True)
class Sampling(Drawing):
    """How the flow is followed."""

    steps: int = setting(10, "Euler steps", least=1)
    guidance: float = setting(
        9.0,
        "strength of the text; 0 is a draw without it",
        accepted=("a finite number", lambda x: abs(x) < float("inf")),
    )


@dataclass(frozen=True)
class T2SSettings:
    """All settings of the family."""

    model: Networks = field(default_factory=Networks)
    sample: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True, eq=False)
class T2S(PerWindow):
    """The generator.

    Attributes:
      networks: ``encoder``, ``decoder`` and ``flow``.
      shape: of windows.
      sampling: the ``sample`` section.
      scale: per position.
      training: None for a generator that only samples.
      model: the ``model`` section.
    """

    networks: dict[str, Any]
    shape: Shape
    sampling: Sampling
    scale: MinMax
    training: Training | None
    model: Networks

    @property
    def _training(self) -> Training:
        assert self.training is not None, "built without training"
        return self.training

    @property
    def _steps(self) -> list[int]:
        return phased.lengths((self.model.autoencoding,), self._training.steps)

    def _goals(self) -> dict[str, Goal]:
        make, (first, second) = self._training.make_optimiser, self._steps
        plain = {"learning_rate": self.model.autoencoder_rate, "warmup": 0.0, "decay": "constant"}
        return {
            "autoencoder": Goal(
                ("encoder", "decoder"), make(steps=max(first, 1), **plain), self.rebuilding
            ),
            "flow": Goal(("flow",), make(steps=max(second, 1)), self.flowing),
        }

    def _run(self, params: Named, name: str, *inputs: Any) -> Any:
        return self.networks[name].apply({"params": params[name]}, *inputs)

    def init(self, key: Key, batch: Batch) -> PhasedState:
        """Returns the state before the first step; ``batch`` gives the shapes."""
        training_key, *keys = jax.random.split(key, 4)
        latent = jnp.zeros((1, POSITIONS, FEATURES))
        inputs: dict[str, tuple[Array, ...]] = {
            "encoder": (batch.windows[:1],),
            "decoder": (jnp.zeros((1, self.shape.length // 4, FEATURES)),),
            "flow": (latent, jnp.zeros(1)),
        }
        params = {
            name: self.networks[name].init(own, *inputs[name])["params"]
            for name, own in zip(inputs, keys, strict=True)
        }
        return phased.begin(training_key, params, self._goals())

    def update(self, state: PhasedState, batch: Batch) -> tuple[PhasedState, dict[str, Array]]:
        """One step of the phase that it falls in, on this device's part of the global batch."""
        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), state.step)
        phase = phased.phase_at(state, self._steps)
        phases = [
            lambda s, name=name, goal=goal: phased.pursue(s, name, goal, key, batch)
            for name, goal in self._goals().items()
        ]
        after, loss = jax.lax.switch(phase, phases, state)
        return phased.settle(state, after, phase, self._training.ema), {
            "loss": loss,
            "phase": phase + 1.0,
        }

    def rebuilding(self, params: Named, key: Key, batch: Batch) -> Array:
        """The loss of phase 1."""
        x = self.scale.to_unit(batch.windows)
        before = self._run(params, "encoder", x)
        after = resampled(resampled(before, POSITIONS), before.shape[1])
        made = self._run(params, "decoder", after)
        return jnp.mean((made - x) ** 2) + jnp.mean((before - after) ** 2)

    def flowing(self, params: Named, key: Key, batch: Batch) -> Array:
        """The loss of phase 2; one draw of ``key`` says whether all texts are dropped."""
        drop_key, example_key = jax.random.split(key)
        keys = jax.vmap(partial(jax.random.fold_in, example_key))(batch.slot)
        time_keys, noise_keys = jax.vmap(jax.random.split)(keys).T
        t = jnp.round(100 * jax.vmap(jax.random.uniform)(time_keys)) / 100
        size = (POSITIONS, FEATURES)
        noise = jax.vmap(lambda k: jax.random.normal(k, size))(noise_keys)
        x = self.scale.to_unit(batch.windows)
        clean = resampled(self._run(params, "encoder", x), POSITIONS)
        latent = t[:, None, None] * clean + (1 - t[:, None, None]) * noise
        condition = batch.condition
        if condition is not None:
            dropped = jax.random.bernoulli(drop_key, self._training.condition_dropout)
            kept = ~dropped if batch.oversampled is None else ~dropped | batch.oversampled
            condition = condition * jnp.broadcast_to(kept, (len(x),))[:, None]
        velocity = self._run(params, "flow", latent, t, condition)
        return jnp.mean((velocity - (clean - noise)) ** 2)

    def validate(self, state: PhasedState, key: Key, batch: Batch) -> Array:
        """Both losses of the averaged parameters."""
        return self.rebuilding(state.ema, key, batch) + self.flowing(state.ema, key, batch)

    def weights(self, state: PhasedState) -> Arrays:
        """The averaged parameters, those of the encoder too."""
        return state.ema

    def draw_one(
        self, sampling: Sampling, weights: Arrays, key: Key, condition: Array | None
    ) -> Array:
        """Follows the flow and decodes; see :class:`~pacodi_jax.models.per_window.PerWindow`."""
        text = None if condition is None else condition[None]

        def velocity(latent: Array, t: Array) -> Array:
            free = self._run(weights, "flow", latent, t[None])
            return free + sampling.guidance * (
                self._run(weights, "flow", latent, t[None], text) - free
            )

        def alone(latent: Array, t: Array) -> Array:
            given = text if sampling.guidance else None
            return self._run(weights, "flow", latent, t[None], given)

        chosen = velocity if self._is_guided(sampling) and text is not None else alone

        def step(latent: Array, t: Array) -> tuple[Array, None]:
            return latent + chosen(latent, t) / sampling.steps, None

        times = jnp.arange(sampling.steps) / sampling.steps
        start = jax.random.normal(key, (1, POSITIONS, FEATURES))
        latent, _ = jax.lax.scan(step, start, times)
        made = self._run(weights, "decoder", resampled(latent, self.shape.length // 4))
        return self.scale.from_unit(made[0])

    def _is_guided(self, sampling: Sampling) -> bool:
        return self.shape.condition_width > 0 and sampling.guidance not in (0.0, 1.0)

    def facts(self, **how: Any) -> Facts:
        """Two evaluations per step with guidance."""
        sampling = self.sampling.replace(**how)
        return Facts(label="", evaluations=sampling.steps * (2 if self._is_guided(sampling) else 1))


def prepare(settings: T2SSettings, windows: np.ndarray, condition: np.ndarray | None) -> Arrays:
    """Fits the scaler; see :class:`~pacodi_jax.models.protocol.Family`.

    Raises:
      PacodiError: for windows or conditions that T2S does not read.
    """
    _, length, channels = windows.shape
    if channels != 1:
        raise PacodiError(
            f"model.name='t2s' reads one channel, the data have {channels}; name one in "
            "data.channels."
        )
    if length % 4:
        raise PacodiError(f"data.length={length}: model.name='t2s' needs a multiple of 4.")
    if condition is not None and condition.shape[1] > settings.model.width:
        raise PacodiError(
            f"conditions have {condition.shape[1]} numbers; model.name='t2s' adds them to the "
            f"model.width={settings.model.width} of its time's code. Set text.width to that."
        )
    return min_max.fit(windows, (0,))


def build(settings: T2SSettings, shape: Shape, arrays: Arrays, training: Training | None) -> T2S:
    """Builds the generator; see :class:`~pacodi_jax.models.protocol.Family`."""
    model = settings.model
    networks = {
        "encoder": Encoder(model.filters),
        "decoder": Decoder(model.filters),
        "flow": Flow(model.width, model.depth, model.heads),
    }
    scale = MinMax(jnp.asarray(arrays["low"]), jnp.asarray(arrays["span"]))
    return T2S(networks, shape, settings.sample, scale, training, model)


FAMILY = Family(
    "t2s",
    T2SSettings,
    prepare,
    build,
    sizes={
        "tiny": {"filters": 16, "width": 32, "depth": 1, "heads": 2},
        "small": {"filters": 128, "width": 128, "depth": 4, "heads": 4},
    },
    defaults={
        "train.batch": 256,
        "train.learning_rate": 1e-4,
        "train.warmup": 0.3,
        "train.decay": "cosine",
        "train.final_rate": 4e-6,
        "train.clip": 1e9,
        "train.ema": 0.0,
        "text.dropout": 0.3,
        "text.width": 128,
    },
)
