"""From plain settings to a generator, and the registry of models."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.core import statistics, wiener
from pacodi_jax.core.calibration import Calibration
from pacodi_jax.core.level import Level
from pacodi_jax.core.schedule import SCHEDULES
from pacodi_jax.core.solvers import SOLVERS, StepRule, time_grid
from pacodi_jax.core.statistics import Statistics
from pacodi_jax.core.training_times import time_sampler
from pacodi_jax.core.wiener import Moments
from pacodi_jax.errors import choose
from pacodi_jax.models import views
from pacodi_jax.models.spectral import Process, Sampler, SpectralDiffusion
from pacodi_jax.models.views import View
from pacodi_jax.networks import DualBranch, SingleBranch
from pacodi_jax.types import Array, Quadratures, Schedule

_BORROWED = 3000  # training windows, evenly spread, whose level and scale ``oracle`` keeps


class Architecture(NamedTuple):
    """The network: which one, and how large."""

    name: str = "pacodi"
    width: int = 64
    depth: int = 3
    heads: int = 4
    patch_size: int = 1
    interaction: str = "time"
    dtype: str = "float32"
    remat: bool = False


class Settings(NamedTuple):
    """What defines a model besides its network; the fields are those of ``configs/common.py``."""

    variant: str = "sde"
    schedule: str = "vp"
    ddpm_steps: int = 1000
    statistics: str = "none"
    parameterisation: str = "wiener"
    loss: str = "velocity"
    weighting: str = "simple"
    times: str = "angle"
    stratified: bool = True


class Fitted(NamedTuple):
    """What a model learns from the training windows before the first step.

    It travels with the weights, so that sampling needs no data.

    Attributes:
      moments: of the training spectra.
      level: the law of levels and scales; None under statistics ``none``.
      borrowed: mean and scale of real windows, ``(M, C)`` each; under ``oracle`` only.
      condition: mean ``(E,)`` and scale ``()`` of the conditions; None without any.
      calibration: what samples are corrected by; None before the end of training, and for ever
        if they are not.
    """

    moments: Moments
    level: Level | None
    borrowed: tuple[Array, Array] | None
    condition: tuple[Array, Array] | None = None
    calibration: Calibration | None = None


def fit(mode: str, windows: Array, condition: Array | None = None) -> tuple[Statistics, Fitted]:
    """Fits level statistics, spectral moments and the conditions' scale to training examples.

    Args:
      mode: of the level statistics.
      windows: ``(N, L, C)``.
      condition: ``(N, E)``, or None.
    """
    coding = statistics.encoder(mode, windows)
    spectra = jax.jit(jax.vmap(coding.encode))(windows)
    borrowed = jax.vmap(coding.real)(windows[_donors(len(windows))]) if mode == "oracle" else None
    scale = None if condition is None else (condition.mean(0), jnp.maximum(condition.std(), 1e-6))
    return coding, Fitted(wiener.fit(spectra), coding.level, borrowed, scale)


def _donors(count: int) -> np.ndarray:
    """At most ``_BORROWED`` of ``count`` rows: all of them, or evenly spread over the whole."""
    kept = min(count, _BORROWED)
    return np.arange(kept) * count // kept


def make_schedule(settings: Settings) -> Schedule:
    """The noise schedule; under DDPM it ends at the first grid time t = 1/T."""
    if settings.schedule == "ddpm_linear":
        return SCHEDULES["ddpm_linear"](settings.ddpm_steps)
    schedule = choose("schedule", settings.schedule, SCHEDULES)()
    if settings.variant == "ddpm":
        return schedule._replace(t_min=1.0 / settings.ddpm_steps)
    return schedule


def make_rule(
    solver: str, moments: Moments, *, eta: float = 0.0, posterior_variance: str = "small"
) -> StepRule:
    """The step rule of a solver by name; each option goes to the solver that has it."""
    options: dict[str, dict[str, Any]] = {
        "ancestral": {"posterior_variance": posterior_variance},
        "ddim": {"eta": eta},
        "wiener_ab2": {"moments": moments},
    }
    return choose("solver", solver, SOLVERS)(**options.get(solver, {}))


def make_sampler(
    settings: Settings,
    fitted: Fitted,
    variance: Quadratures,
    *,
    solver: str = "wiener_ab2",
    steps: int = 20,
    grid: str = "log_snr",
    guidance: float = 1.0,
    block: int = 500,
    eta: float = 0.0,
    posterior_variance: str = "small",
) -> Sampler:
    """How samples are drawn; any solver works for either variant."""
    rule = make_rule(solver, fitted.moments, eta=eta, posterior_variance=posterior_variance)
    times = time_grid(
        grid, make_schedule(settings), steps, moments=fitted.moments, variance=variance
    )
    return Sampler(rule, jnp.asarray(times), guidance, block)


def _network_options(architecture: Architecture, condition_width: int) -> dict[str, Any]:
    return {
        "width": architecture.width,
        "depth": architecture.depth,
        "heads": architecture.heads,
        "patch_size": architecture.patch_size,
        "condition_width": condition_width,
        "dtype": architecture.dtype,
        "remat": architecture.remat,
    }


def _pacodi(architecture: Architecture, coding: Statistics, channels: int, width: int) -> View:
    options = _network_options(architecture, width)
    network = DualBranch(
        channels, interaction=architecture.interaction, length=coding.length, **options
    )
    return views.dual_branch(network, coding.variance)


def _monolithic(architecture: Architecture, coding: Statistics, channels: int, width: int) -> View:
    network = SingleBranch(2 * channels, **_network_options(architecture, width))
    return views.monolithic(network, coding.variance)


def _temporal(architecture: Architecture, coding: Statistics, channels: int, width: int) -> View:
    network = SingleBranch(channels, **_network_options(architecture, width))
    return views.temporal(network, coding.length)


#: Each builds the view of a network: ``(architecture, statistics, channels, condition_width)``.
MODELS = {"pacodi": _pacodi, "temporal": _temporal, "monolithic": _monolithic}


def build(
    architecture: Architecture,
    settings: Settings,
    coding: Statistics,
    fitted: Fitted,
    *,
    sampler: Sampler,
    optimiser: optax.GradientTransformation,
    batch: int,
    ema_decay: float = 0.999,
    condition_width: int = 0,
    condition_dropout: float = 0.1,
) -> SpectralDiffusion:
    """Builds a generator.

    Args:
      architecture: the network.
      settings: the diffusion.
      coding: the fitted statistics mode.
      fitted: moments and level arrays, from :func:`fit`.
      sampler: from :func:`make_sampler`.
      optimiser: an optax chain.
      batch: the global batch size, for stratified times.
      ema_decay: of the parameters that sampling uses.
      condition_width: E, or 0 for an unconditional model.
      condition_dropout: how often a condition gives way to the null.
    """
    schedule = make_schedule(settings)
    discrete = settings.ddpm_steps if settings.variant == "ddpm" else None
    times = time_sampler(
        settings.times,
        schedule,
        fitted.moments,
        coding.variance,
        strata=batch if settings.stratified else None,
        discrete_steps=discrete,
    )
    channels = fitted.moments.mean.real.shape[1]
    view = choose("model", architecture.name, MODELS)(
        architecture, coding, channels, condition_width
    )
    process = Process(
        schedule,
        fitted.moments,
        settings.parameterisation,
        settings.loss,
        settings.weighting,
        times,
        discrete,
    )
    return SpectralDiffusion(
        view,
        coding,
        fitted.borrowed,
        fitted.condition,
        fitted.calibration,
        process,
        sampler,
        optax.with_extra_args_support(optimiser),
        ema_decay,
        condition_dropout,
    )
