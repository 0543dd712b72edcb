"""The forward process and what follows from it: scores, posteriors, the reverse drift, losses.

The forward marginal of each quadrature is x_t = α x₀ + σ ε with ε ~ N(0, V) (paper, section 3.1).
Functions take one window's state, a scalar time and the noise law V; lift with ``jax.vmap``.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax.core.checks import check_alike, check_rank, check_spectrum, check_times
from pacodi_jax.core.spectrum import live, mahalanobis, precision, sample_noise
from pacodi_jax.types import Array, Key, Quadratures, Schedule


def perturb(
    key: Key, schedule: Schedule, clean: Quadratures, t: Array, variance: Quadratures
) -> tuple[Quadratures, Quadratures]:
    """Draws from the forward marginal: R_t = α R₀ + σ ε_r, I_t = α I₀ + σ ε_i (section 3.1).

    Args:
      key: random key.
      schedule: gives α(t) and σ(t).
      clean: the clean half spectrum, ``(K, C)`` per part.
      t: scalar time.
      variance: the noise law, ``(K, 1)`` or ``(K, C)`` per part.

    Returns:
      ``(noisy, noise)``, each shaped like ``clean``.
    """
    check_spectrum("clean", clean, variance.real.shape[0])
    check_rank("t", t, 0, "one time, ()")
    noise = sample_noise(key, variance, clean.real.shape[1])
    return marginal(clean, noise, schedule.alpha(t), schedule.sigma(t)), noise


def marginal(clean: Quadratures, noise: Quadratures, alpha: Array, sigma: Array) -> Quadratures:
    """x_t = α x₀ + σ ε, the same for both quadratures (section 3.1)."""
    return jax.tree.map(lambda x, e: alpha * x + sigma * e, clean, noise)


def transition(key: Key, state: Quadratures, beta: Array, variance: Quadratures) -> Quadratures:
    """One step of the discrete chain: X_t = √(1−β_t) X_{t−1} + √β_t E (section 3.1)."""
    noise = sample_noise(key, variance, state.real.shape[1])
    return marginal(state, noise, jnp.sqrt(1 - beta), jnp.sqrt(beta))


def wiener_increments(key: Key, times: Array, variance: Quadratures, channels: int) -> Quadratures:
    """Increments of the spectral Wiener process over a grid: N(0, V |Δt|) (definition 4.1).

    Returns:
      ``(steps, K, C)`` per part, where ``steps = len(times) − 1``.
    """
    check_rank("times", times, 1, "(steps + 1,)")
    widths = jnp.abs(jnp.diff(times))
    keys = jax.random.split(key, widths.shape[0])
    noise = jax.vmap(lambda key: sample_noise(key, variance, channels))(keys)
    return jax.tree.map(lambda e: jnp.sqrt(widths)[:, None, None] * e, noise)


def simulate_forward(
    key: Key, schedule: Schedule, clean: Quadratures, times: Array, variance: Quadratures
) -> Quadratures:
    """Simulates the forward SDE dX = −½β X dt + √β dW by Euler–Maruyama (section 4.1).

    Args:
      key: random key.
      schedule: gives β(t).
      clean: the state at ``times[0]``, ``(K, C)`` per part.
      times: rising within [0, 1], ``(steps + 1,)``.
      variance: the noise law.

    Returns:
      The state at ``times[-1]``; its law tends to that of :func:`perturb` as the grid refines.
    """
    check_times(times, rising=True)
    check_spectrum("clean", clean, variance.real.shape[0])
    increments = wiener_increments(key, times, variance, clean.real.shape[1])

    def step(
        state: Quadratures, inputs: tuple[Array, Array, Quadratures]
    ) -> tuple[Quadratures, None]:
        time, width, increment = inputs
        beta = schedule.beta(time)
        moved = jax.tree.map(
            lambda x, dw: x - 0.5 * beta * x * width + jnp.sqrt(beta) * dw, state, increment
        )
        return moved, None

    return jax.lax.scan(step, clean, (times[:-1], jnp.diff(times), increments))[0]


def score_from_noise(noise: Quadratures, sigma: Array, variance: Quadratures) -> Quadratures:
    """The score–noise identity ∇ log p(x_t | x₀) = −Σ⁻¹ ε / σ (appendix D), 0 where V = 0."""
    return jax.tree.map(lambda e, w: -w * e / sigma, noise, precision(variance))


def noise_from_score(score: Quadratures, sigma: Array, variance: Quadratures) -> Quadratures:
    """The inverse of :func:`score_from_noise`: ε = −σ Σ ∇ log p."""
    return jax.tree.map(lambda s, v: -sigma * v * s, score, variance)


def clean_from_noise(
    state: Quadratures, noise: Quadratures, alpha: Array, sigma: Array
) -> Quadratures:
    """x̂₀ = (x_t − σ ε) / α, the forward marginal solved for x₀ (appendix C)."""
    return jax.tree.map(lambda x, e: (x - sigma * e) / alpha, state, noise)


def wirtinger_score(score: Quadratures) -> Array:
    """The complex score ∇_X̄ log p = ½ (∇_R + j ∇_I) log p (paper, section 4.2).

    For a real function f of complex X, JAX's gradient is ``∂f/∂R − j ∂f/∂I``, so that
    ∇_X̄ f = ½·conj(jax.grad(f)(X)).
    """
    return 0.5 * jax.lax.complex(*score)


def reverse_drift(
    state: Quadratures, score: Quadratures, beta: Array, variance: Quadratures
) -> Quadratures:
    """The drift of the reverse SDE, −½β x − β V ∇ log p, the same for both quadratures.

    This is Anderson's theorem in real coordinates, *without* the ½ before the score in theorem 4.2
    of the paper. In complex form the drift is β[(Σ_r+Σ_i) ∂_X̄ + (Σ_r−Σ_i) ∂_X] log p:
    on a paired bin the complex covariance is twice Σ_r and cancels the ½ of Wirtinger's gradient;
    on DC and Nyquist the second term supplies the other half. See docs/explanation/divergences.md.
    """
    return jax.tree.map(lambda x, s, v: -0.5 * beta * x - beta * v * s, state, score, variance)


def step_beta(schedule: Schedule, t: Array, s: Array) -> Array:
    """1 − α_t²/α_s², the variance of the noise that one step from s to t > s adds.

    Computed as σ_t² − (α_t/α_s)² σ_s²: near t = 0 the ratio is 1 to the last digit of float32.
    """
    ratio = schedule.alpha(t) / schedule.alpha(s)
    return schedule.sigma(t) ** 2 - ratio**2 * schedule.sigma(s) ** 2


class Posterior(NamedTuple):
    """q(x_s | x_t, x₀) = N(from_state·x_t + from_clean·x₀, variance·V) for s < t."""

    from_state: Array
    from_clean: Array
    variance: Array


def posterior(schedule: Schedule, t: Array, s: Array) -> Posterior:
    """The reverse posterior's coefficients (appendix C), the same for both quadratures.

    With a = α_t/α_s and b = 1 − a²: mean (a σ_s²/σ_t²) x_t + (α_s b/σ_t²) x₀, variance
    b σ_s²/σ_t² · V. By proposition 3.2 it factorises over the quadratures.
    """
    ratio = schedule.alpha(t) / schedule.alpha(s)
    beta = step_beta(schedule, t, s)
    kept = (schedule.sigma(s) / schedule.sigma(t)) ** 2
    return Posterior(ratio * kept, schedule.alpha(s) * beta / schedule.sigma(t) ** 2, beta * kept)


def noise_loss(predicted: Quadratures, noise: Quadratures, variance: Quadratures) -> Array:
    """The Mahalanobis error per live slot, ‖ε̂ − ε‖²_{Σ⁻¹} / #{V > 0} (section 3.2), as an ε-MSE.

    The sum equals the temporal squared error (Parseval). There are L·C live slots under the plain
    noise law and (L+1)·C if the imaginary DC slot carries the log-scale.
    """
    check_alike(predicted=predicted, noise=noise)
    error = jax.tree.map(jnp.subtract, predicted, noise)
    return mahalanobis(error, variance) / _live_slots(variance, noise.real.shape[1])


def slot_loss(predicted: Quadratures, target: Quadratures, variance: Quadratures) -> Array:
    """Σ (p − y)² / #{V > 0} over live slots, for targets of unit variance such as velocities."""
    check_alike(predicted=predicted, target=target)
    masked = jax.tree.map(
        lambda p, y, m: jnp.sum(m * (p - y) ** 2), predicted, target, live(variance)
    )
    return (masked.real + masked.imag) / _live_slots(variance, target.real.shape[1])


def _live_slots(variance: Quadratures, channels: int) -> Array:
    counts = jax.tree.map(
        lambda m: jnp.sum(jnp.broadcast_to(m, (m.shape[0], channels))), live(variance)
    )
    return counts.real + counts.imag


def elbo_weight(schedule: Schedule, t: Array, s: Array | None = None) -> Array:
    """The paper's weight λ_t before the noise loss (sections 3.2 and 4.2).

    Discrete, from step s to t: (1−a²) / (2 a² σ_t²) with a² = ᾱ_t/ᾱ_s. This is the KL with the
    choice σ_t² = β_t for the reverse variance; the exact posterior variance would have σ_s² in
    place of σ_t². Without ``s``, its continuous limit per unit time, β / (2σ²).
    """
    if s is None:
        return schedule.beta(t) / (2 * schedule.sigma(t) ** 2)
    ratio = (schedule.alpha(t) / schedule.alpha(s)) ** 2
    return step_beta(schedule, t, s) / (2 * ratio * schedule.sigma(t) ** 2)
