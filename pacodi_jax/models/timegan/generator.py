"""TimeGAN behind the Generator protocol."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.config import Section, setting
from pacodi_jax.models import min_max, phased
from pacodi_jax.models.min_max import MinMax
from pacodi_jax.models.per_window import PerWindow
from pacodi_jax.models.phased import Goal, PhasedState
from pacodi_jax.models.protocol import Arrays, Drawing, Facts, Family, Shape, Training
from pacodi_jax.models.state import Batch
from pacodi_jax.models.timegan.losses import Losses
from pacodi_jax.models.timegan.networks import five
from pacodi_jax.types import Array, Key

#: The critic rests while its loss is no more than this.
THRESHOLD = 0.15
#: Updates of generator and embedder per update of the critic.
TURNS = 2


@dataclass(frozen=True)
class Networks(Section, name="model"):
    """The five networks and the stages."""

    name: str = setting("timegan", "the family of models")
    hidden: int = setting(24, "units per layer, and numbers per step of the latent", least=1)
    layers: int = setting(3, "of each network; the supervisor has one fewer", least=2)
    embedding: float = phased.share_setting(1 / 3, "stage 1, the autoencoder")
    supervision: float = phased.share_setting(1 / 3, "stage 2, the supervisor")
    backwards: bool = setting(False, "generate from the last step to the first")


@dataclass(frozen=True)
class TimeGANSettings:
    """All settings of the family."""

    model: Networks = field(default_factory=Networks)
    sample: Drawing = field(default_factory=Drawing)


@dataclass(frozen=True, eq=False)
class TimeGAN(PerWindow):
    """The generator.

    Attributes:
      losses: and the networks.
      shape: of windows.
      sampling: the ``sample`` section.
      scale: per channel.
      backwards: whether windows are turned round in time.
      goals: what each optimiser is for; empty for a generator that only samples.
      steps: of each stage.
      ema: decay of the average of the parameters.
    """

    losses: Losses
    shape: Shape
    sampling: Drawing
    scale: MinMax
    backwards: bool
    goals: dict[str, Goal]
    steps: list[int]
    ema: float

    def init(self, key: Key, batch: Batch) -> PhasedState:
        """Returns the state before the first step; ``batch`` gives the shapes."""
        training_key, *keys = jax.random.split(key, 1 + len(self.losses.networks))
        hidden = self.losses.networks["embedder"].hidden
        params = {
            name: network.init(own, jnp.zeros((1, 1, width)))["params"]
            for (name, network), own in zip(self.losses.networks.items(), keys, strict=True)
            for width in (self.shape.channels if name in ("embedder", "generator") else hidden,)
        }
        return phased.begin(training_key, params, self.goals)

    def update(self, state: PhasedState, batch: Batch) -> tuple[PhasedState, dict[str, Array]]:
        """One step of the stage that it falls in, on this device's part of the global batch."""
        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), state.step)
        real, noise = self._turned(batch.windows), self._noise(key, batch, TURNS + 1)
        phase = phased.phase_at(state, self.steps)
        stages: list[Callable[..., Any]] = [
            partial(self._one, "embedding"),
            partial(self._one, "supervision"),
            self._game,
        ]
        after, loss = jax.lax.switch(phase, stages, state, real, noise)
        metrics = {"loss": loss, "stage": phase + 1.0}
        return phased.settle(state, after, phase, self.ema), metrics

    def _one(
        self, name: str, state: PhasedState, real: Array, noise: Array
    ) -> tuple[PhasedState, Array]:
        """A step of stage 1 or 2."""
        return phased.pursue(state, name, self.goals[name], real, noise[0])

    def _game(self, state: PhasedState, real: Array, noise: Array) -> tuple[PhasedState, Array]:
        """A step of stage 3."""

        def turn(state: PhasedState, noise: Array) -> tuple[PhasedState, Array]:
            state, loss = phased.pursue(state, "generator", self.goals["generator"], real, noise)
            state, _ = phased.pursue(state, "embedder", self.goals["embedder"], real, noise)
            return state, loss

        state, losses = jax.lax.scan(turn, state, noise[:TURNS])
        state, _ = phased.pursue(
            state,
            "discriminator",
            self.goals["discriminator"],
            real,
            noise[TURNS],
            above=THRESHOLD,
        )
        return state, jnp.mean(losses)

    def _noise(self, key: Key, batch: Batch, count: int) -> Array:
        """Z ``(count, B, L, C)``, by (key, slot) alone."""
        keys = jax.vmap(partial(jax.random.fold_in, key))(batch.slot)
        shape = (count, self.shape.length, self.shape.channels)
        return jnp.swapaxes(jax.vmap(lambda k: jax.random.uniform(k, shape))(keys), 0, 1)

    def _turned(self, windows: Array) -> Array:
        unit = self.scale.to_unit(windows)
        return unit[:, ::-1] if self.backwards else unit

    def validate(self, state: PhasedState, key: Key, batch: Batch) -> Array:
        """√R + √S + V of the averaged parameters: the losses that need no critic."""
        here = Losses(self.losses.networks, jnp.mean)
        real, noise = self._turned(batch.windows), self._noise(key, batch, 1)[0]
        rebuilt, ahead = here.errors(state.ema, real)
        moments = here.moments(real, here.make(state.ema, noise))
        return jnp.sqrt(rebuilt) + jnp.sqrt(ahead) + moments

    def weights(self, state: PhasedState) -> Arrays:
        """The averaged parameters, those of the embedder and the critic too."""
        return state.ema

    def draw_one(
        self, sampling: Drawing, weights: Arrays, key: Key, condition: Array | None
    ) -> Array:
        """Draws r(s(g(Z))); see :class:`~pacodi_jax.models.per_window.PerWindow`."""
        noise = jax.random.uniform(key, (1, self.shape.length, self.shape.channels))
        made = self.losses.make(weights, noise)[0]
        return self.scale.from_unit(made[::-1] if self.backwards else made)

    def facts(self, **how: Any) -> Facts:
        """One pass of generator, supervisor and recovery per sample."""
        return Facts(label="", evaluations=1)


def _goals(losses: Losses, steps: list[int], make: Callable[..., Any]) -> dict[str, Goal]:
    """What the five optimisers are for; each has the rate's schedule over its own updates."""
    turns = TURNS * steps[2]
    wanted: dict[str, tuple[tuple[str, ...], int]] = {
        "embedding": (("embedder", "recovery"), steps[0]),
        "supervision": (("supervisor",), steps[1]),
        "generator": (("generator", "supervisor"), turns),
        "embedder": (("embedder", "recovery"), turns),
        "discriminator": (("discriminator",), steps[2]),
    }
    return {
        name: Goal(
            moved,
            optax.with_extra_args_support(make(steps=max(count, 1))),
            getattr(losses, name),
        )
        for name, (moved, count) in wanted.items()
    }


def prepare(settings: TimeGANSettings, windows: np.ndarray, condition: np.ndarray | None) -> Arrays:
    """Fits the scaler; see :class:`~pacodi_jax.models.protocol.Family`."""
    return min_max.fit(windows, (0, 1))


def build(
    settings: TimeGANSettings, shape: Shape, arrays: Arrays, training: Training | None
) -> TimeGAN:
    """Builds the generator; see :class:`~pacodi_jax.models.protocol.Family`."""
    arrays, model = jax.tree.map(jnp.asarray, arrays), settings.model
    losses = Losses(five(shape.channels, model.hidden, model.layers))
    goals, steps, ema = {}, [0, 0, 0], 0.0
    if training is not None:
        steps = phased.lengths((model.embedding, model.supervision), training.steps)
        goals, ema = _goals(losses, steps, training.make_optimiser), training.ema
    scale = MinMax(arrays["low"], arrays["span"])
    return TimeGAN(losses, shape, settings.sample, scale, model.backwards, goals, steps, ema)


FAMILY = Family(
    "timegan",
    TimeGANSettings,
    prepare,
    build,
    sizes={"tiny": {"hidden": 8, "layers": 2}, "small": {"hidden": 24, "layers": 3}},
    defaults={
        "train.steps": 30_000,
        "train.batch": 128,
        "train.learning_rate": 1e-3,
        "train.warmup": 0.0,
        "train.decay": "constant",
        "train.clip": 1e9,
        "train.ema": 0.0,
    },
    reads_conditions=False,
)
