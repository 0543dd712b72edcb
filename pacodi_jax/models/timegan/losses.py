"""TimeGAN's losses; :mod:`~pacodi_jax.models.timegan` has them as equations, with their stages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from pacodi_jax import parallel
from pacodi_jax.models.phased import Named
from pacodi_jax.models.timegan.networks import Recurrent
from pacodi_jax.types import Array


def _everywhere(x: Array, axis: int | None = None) -> Array:
    """The mean over the global batch."""
    return parallel.average(jnp.mean(x, axis))


@dataclass(frozen=True, eq=False)
class Losses:
    """Each is a function of all networks, windows X and noise Z.

    Attributes:
      networks: by name.
      mean: over the batch, of this device or of all.
    """

    networks: dict[str, Recurrent]
    mean: Callable[..., Array] = _everywhere

    def _run(self, params: Named, name: str, x: Array) -> Any:
        return self.networks[name].apply({"params": params[name]}, x)

    def latents(self, params: Named, noise: Array) -> tuple[Array, Array]:
        """Ê and Ĥ."""
        bare = self._run(params, "generator", noise)
        return bare, self._run(params, "supervisor", bare)

    def make(self, params: Named, noise: Array) -> Array:
        """X̂ of Z."""
        return self._run(params, "recovery", self.latents(params, noise)[1])

    def errors(self, params: Named, real: Array) -> tuple[Array, Array]:
        """R and S."""
        hidden = self._run(params, "embedder", real)
        rebuilt = self.mean((real - self._run(params, "recovery", hidden)) ** 2)
        return rebuilt, self._ahead(hidden, self._run(params, "supervisor", hidden))

    def _ahead(self, hidden: Array, guessed: Array) -> Array:
        return self.mean((hidden[:, 1:] - guessed[:, :-1]) ** 2)

    def moments(self, real: Array, made: Array) -> Array:
        """V."""

        def of(x: Array) -> tuple[Array, Array]:
            centre = self.mean(x, 0)
            return centre, jnp.sqrt(self.mean((x - centre) ** 2, 0) + 1e-6)

        pairs = zip(of(made), of(real), strict=True)
        return sum((jnp.mean(jnp.abs(a - b)) for a, b in pairs), start=jnp.zeros(()))

    def embedding(self, params: Named, real: Array, noise: Array) -> Array:
        """10 √R; S is not needed, and not computed."""
        return 10 * jnp.sqrt(self.errors(params, real)[0])

    def supervision(self, params: Named, real: Array, noise: Array) -> Array:
        """S; R is not needed, and not computed."""
        return self.errors(params, real)[1]

    def generator(self, params: Named, real: Array, noise: Array) -> Array:
        """G. The supervisor runs once, on Ê and H together."""
        bare = self._run(params, "generator", noise)
        hidden = self._run(params, "embedder", real)
        states = self._run(params, "supervisor", jnp.concatenate([bare, hidden]))
        latent, guessed = jnp.split(states, 2)
        logits = self._run(params, "discriminator", jnp.concatenate([bare, latent]))
        deceived = 2 * self.mean(jax.nn.softplus(-logits))  # both halves are of one size
        moments = self.moments(real, self._run(params, "recovery", latent))
        return deceived + 100 * jnp.sqrt(self._ahead(hidden, guessed)) + 100 * moments

    def embedder(self, params: Named, real: Array, noise: Array) -> Array:
        """E."""
        rebuilt, ahead = self.errors(params, real)
        return 10 * jnp.sqrt(rebuilt) + 0.1 * ahead

    def discriminator(self, params: Named, real: Array, noise: Array) -> Array:
        """The loss of D."""
        hidden = self._run(params, "embedder", real)
        states = jnp.concatenate([hidden, *self.latents(params, noise)])
        of_real, of_made = jnp.split(self._run(params, "discriminator", states), [len(real)])
        true = self.mean(jax.nn.softplus(-of_real))
        return true + 2 * self.mean(jax.nn.softplus(of_made))
