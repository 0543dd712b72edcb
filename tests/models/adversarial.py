"""A family of another kind: an autoencoder, then a game of two networks with two optimisers.

It is small, and it learns nothing worth having; it shows that the engine asks nothing of a model
that a diffusion alone could give. One compiled step serves its three phases.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.config import Section, setting
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Drawing, Facts, Family
from pacodi_jax.models.per_window import PerWindow

LATENT = 4


@dataclass(frozen=True)
class Networks(Section, name="model"):
    name: str = setting("game", "the family")
    hidden: int = setting(8, "units", least=1)
    phase_steps: int = setting(2, "steps per phase before the last", least=1)


@dataclass(frozen=True)
class Settings:
    model: Networks = field(default_factory=Networks)
    sample: Drawing = field(default_factory=Drawing)


class State(NamedTuple):
    step: Any
    skipped: Any
    consecutive_skips: Any
    makers: Any
    critic: Any
    makers_optimiser: Any
    critic_optimiser: Any
    key: Any


def _dense(key, inside, outside):
    return jax.random.normal(key, (inside, outside)) / np.sqrt(inside)


class Game(PerWindow):
    def __init__(self, settings, shape, arrays, training):
        self.settings, self.shape, self.scale = settings, shape, jnp.asarray(arrays["scale"])
        self.sampling = settings.sample
        if training is not None:
            self.makers_optimiser = training.make_optimiser(learning_rate=1e-2)
            self.critic_optimiser = training.make_optimiser(learning_rate=3e-3, clip=0.5)

    def init(self, key, batch):
        size, hidden = self.shape.length * self.shape.channels, self.settings.model.hidden
        keys = jax.random.split(key, 5)
        makers = {
            "embed": _dense(keys[0], size, LATENT),
            "hidden": _dense(keys[1], LATENT, hidden),
            "make": _dense(keys[2], hidden, size),
        }
        critic = {"judge": _dense(keys[3], size, 1)}
        zero = jnp.zeros((), jnp.int32)
        return State(
            zero,
            zero,
            zero,
            makers,
            critic,
            self.makers_optimiser.init(makers),
            self.critic_optimiser.init(critic),
            jax.random.key_data(keys[4]),
        )

    def _make(self, makers, latent):
        return jnp.tanh(latent @ makers["hidden"]) @ makers["make"]

    def _rebuild(self, makers, critic, real, latent):
        return jnp.mean((self._make(makers, real @ makers["embed"]) - real) ** 2)

    def _deceive(self, makers, critic, real, latent):
        return jnp.mean(jax.nn.softplus(-self._make(makers, latent) @ critic["judge"]))

    def _tell(self, makers, critic, real, latent):
        made = self._make(makers, latent) @ critic["judge"]
        return jnp.mean(jax.nn.softplus(made)) + jnp.mean(jax.nn.softplus(-real @ critic["judge"]))

    def update(self, state, batch):
        key = jax.random.fold_in(jax.random.wrap_key_data(state.key), state.step)
        keys = jax.vmap(partial(jax.random.fold_in, key))(batch.slot)
        latent = jax.vmap(lambda k: jax.random.normal(k, (LATENT,)))(keys)
        real = self._flat(batch.windows)

        def move_makers(loss):
            value, grads = jax.value_and_grad(loss)(state.makers, state.critic, real, latent)
            updates, kept = self.makers_optimiser.update(
                grads, state.makers_optimiser, state.makers, value=value
            )
            moved = optax.apply_updates(state.makers, updates)
            return value, state._replace(makers=moved, makers_optimiser=kept)

        def move_critic():
            value, grads = jax.value_and_grad(self._tell, argnums=1)(
                state.makers, state.critic, real, latent
            )
            updates, kept = self.critic_optimiser.update(
                grads, state.critic_optimiser, state.critic, value=value
            )
            moved = optax.apply_updates(state.critic, updates)
            return value, state._replace(critic=moved, critic_optimiser=kept)

        phase = jnp.minimum(state.step // self.settings.model.phase_steps, 2)
        loss, moved = jax.lax.switch(
            phase,
            [partial(move_makers, self._rebuild), move_critic, partial(move_makers, self._deceive)],
        )
        return moved._replace(step=state.step + 1), {"loss": loss, "phase": phase.astype(float)}

    def _flat(self, windows):
        return windows.reshape(len(windows), -1) / self.scale

    def validate(self, state, key, batch):
        return self._rebuild(state.makers, state.critic, self._flat(batch.windows), None)

    def weights(self, state):
        return {name: state.makers[name] for name in ("hidden", "make")}

    def finish(self, key, weights, windows, draws, condition=None):
        raise PacodiError("there is nothing to calibrate.")

    def draw_one(self, sampling, weights, key, condition):
        made = self.scale * self._make(weights, jax.random.normal(key, (LATENT,)))
        return made.reshape(self.shape.length, self.shape.channels)

    def facts(self, **how):
        return Facts(label="", evaluations=1)


FAMILY = Family(
    "game",
    Settings,
    lambda settings, windows, condition: {"scale": np.float32(windows.std())},
    Game,
    sizes={"tiny": {"hidden": 4}, "small": {"hidden": 8}},
    reads_conditions=False,
)
