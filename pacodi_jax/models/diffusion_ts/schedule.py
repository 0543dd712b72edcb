"""The forward process of Diffusion-TS in T discrete steps, and its two samplers as one table."""

from typing import Any, NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError

_LARGEST_BETA = 0.999
_SMALLEST_VARIANCE = 1e-20


class Schedule(NamedTuple):
    """β_t and ᾱ_t for t = 0…T−1, float64 ``(T,)``."""

    beta: np.ndarray
    alpha_bar: np.ndarray

    @property
    def steps(self) -> int:
        """T."""
        return len(self.beta)

    @property
    def loss_weight(self) -> np.ndarray:
        """w_t = √α_t √(1−ᾱ_t) / (100 β_t), ``(T,)``.

        The paper prints 0.01 α_t (1−ᾱ_t)/β_t², of which this is the root but for the factor.
        """
        return np.sqrt((1 - self.beta) * (1 - self.alpha_bar)) / (100 * self.beta)


def cosine(steps: int, offset: float = 0.008) -> Schedule:
    """ᾱ_t = cos²((t/T + s)/(1 + s)·π/2) over its first value, β_t at most 0.999."""
    angle = (np.arange(steps + 1) / steps + offset) / (1 + offset) * np.pi / 2
    alpha_bar = np.cos(angle) ** 2
    beta = np.clip(1 - alpha_bar[1:] / alpha_bar[:-1], 0, _LARGEST_BETA)
    return Schedule(beta, np.cumprod(1 - beta))


class Path(NamedTuple):
    """x ← a x̂₀ + b x + s ξ at each of S falling times; all arrays ``(S,)``, of NumPy or JAX.

    Attributes:
      time: t, at which the network is asked.
      from_clean: a.
      from_state: b.
      spread: s.
      alpha_bar: ᾱ_t.
    """

    time: Any
    from_clean: Any
    from_state: Any
    spread: Any
    alpha_bar: Any


def path(schedule: Schedule, steps: int) -> Path:
    """All T steps by ancestral sampling, or fewer by DDIM without noise.

    Args:
      schedule: of the forward process.
      steps: S; 0 is T.

    Raises:
      PacodiError: for more steps than the process has.
    """
    if steps > schedule.steps:
        raise PacodiError(
            f"sample.steps={steps} is more than the diffusion.steps={schedule.steps} of the model."
        )
    return _ancestral(schedule) if steps in (0, schedule.steps) else _ddim(schedule, steps)


def _ancestral(schedule: Schedule) -> Path:
    """The posterior q(x_{t−1} | x_t, x̂₀), variance β̃_t; no noise at t = 0."""
    beta, after = schedule
    before = np.append(1.0, after[:-1])
    variance = np.maximum(beta * (1 - before) / (1 - after), _SMALLEST_VARIANCE)
    spread = np.append(0.0, np.sqrt(variance[1:]))
    clean = beta * np.sqrt(before) / (1 - after)
    state = (1 - before) * np.sqrt(1 - beta) / (1 - after)
    rising = Path(np.arange(schedule.steps), clean, state, spread, after)
    return Path(*(column[::-1] for column in rising))


def _ddim(schedule: Schedule, steps: int) -> Path:
    """√ᾱ' x̂₀ + √(1−ᾱ') ε̂ with ε̂ = (x − √ᾱ x̂₀)/√(1−ᾱ); the last step returns x̂₀."""
    times = np.linspace(-1, schedule.steps - 1, steps + 1).astype(int)[::-1]
    known = np.append(schedule.alpha_bar, 1.0)  # at t = −1, the last entry
    now, then = known[times[:-1]], known[times[1:]]
    state = np.sqrt((1 - then) / (1 - now))
    clean = np.sqrt(then) - state * np.sqrt(now)
    return Path(times[:-1], clean, state, np.zeros(steps), now)
