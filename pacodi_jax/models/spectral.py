"""Diffusion of spectra behind the Generator protocol: PaCoDi, and its relatives by another view."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax import parallel
from pacodi_jax.core import calibration, guidance
from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.core.solvers import draw
from pacodi_jax.core.spectrum import to_series, to_spectrum
from pacodi_jax.core.training_times import TimeSampler
from pacodi_jax.models.fitted import Fitted, prepare
from pacodi_jax.models.process import Process, make_process
from pacodi_jax.models.protocol import Arrays, Facts, Family, Shape, Training
from pacodi_jax.models.sampler import Sampler, make_sampler
from pacodi_jax.models.settings import SIZES, Sampling, SpectralSettings
from pacodi_jax.models.state import Batch, TrainState, advance
from pacodi_jax.models.views import View
from pacodi_jax.types import Array, Denoiser, Guide, Key, Prediction, Quadratures

_DONOR = 0xD0  # folded into a window's key for its donor; its draw splits the same key in two


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
class SpectralDiffusion:
    """A generator that diffuses spectra.

    Attributes:
      view: the network as a function of spectra.
      coding: how windows become spectra and back.
      fitted: what was fitted to the training windows.
      process: the forward process and the training target.
      sampling: how samples are drawn unless asked otherwise; what ``fitted.calibration`` is for.
      learning: None for a generator that only samples.
    """

    view: View
    coding: LevelCoding
    fitted: Fitted
    process: Process
    sampling: Sampling
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
        drop = self._dropped(drop_keys, batch)
        output = self.view.apply(params, inputs, t, self._standard(batch.condition), drop)
        losses = jax.vmap(self.process.loss)(output, inputs, Prediction(noise, clean), t)
        return jnp.mean(losses)

    def _dropped(self, keys: Array, batch: Batch) -> Array | None:
        """Whose condition is dropped: some at random, never that of an oversampled example."""
        if batch.condition is None:
            return None
        share = self._learning.condition_dropout
        drop = jax.vmap(lambda key: jax.random.bernoulli(key, share))(keys)
        return drop if batch.oversampled is None else drop & ~batch.oversampled

    def _standard(self, condition: Array | None) -> Any:
        if condition is None or self.fitted.condition is None:
            return condition
        mean, scale = self.fitted.condition
        return (condition - mean) / scale

    def denoiser(self, params: Any, condition: Array | None = None) -> Denoiser:
        """The network as a denoiser of one window, under one condition ``(E,)`` or none."""

        def denoise(state: Quadratures, t: Array) -> Prediction:
            inputs = self.process.network_input(state, t)
            one = jax.tree.map(lambda x: x[None], inputs)
            row = None if condition is None else self._standard(condition)[None]
            output = self.view.apply(params, one, t[None], row, None)
            return self.process.prediction(jax.tree.map(lambda x: x[0], output), inputs, t)

        return denoise

    def _draw_one(
        self,
        sampling: Sampling,
        sampler: Sampler,
        params: Any,
        key: Key,
        condition: Array | None,
        borrowed: tuple[Array, Array] | None,
    ) -> Array:
        process = self.process
        guides: tuple[Guide, ...] = ()
        if condition is not None:
            guides = (guidance.classifier_free(self.denoiser(params), sampling.guidance),)
        denoiser = guidance.fold(self.denoiser(params, condition), guides)
        start_key, step_key = jax.random.split(key)
        spectrum = draw(
            sampler.rule,
            denoiser,
            process.schedule,
            process.variance,
            step_key,
            process.start(start_key, sampler.times[0]),
            sampler.times,
        )
        window = self.coding.decode(spectrum, *(borrowed or ()))
        return self._corrected(window) if self._is_calibrated(sampling) else window

    def _is_calibrated(self, sampling: Sampling) -> bool:
        return self.fitted.calibration is not None and sampling.path == self.sampling.path

    def _corrected(self, window: Array) -> Array:
        """A drawn window ``(L, C)`` after calibration."""
        assert self.fitted.calibration is not None
        spectrum = calibration.apply(self.fitted.calibration, to_spectrum(window))
        return to_series(spectrum, len(window))

    @functools.cached_property
    def _programs(self) -> dict[Sampling, Callable[..., Array]]:
        return {}

    def _program(self, sampling: Sampling) -> Callable[..., Array]:
        """Draws a block of windows: one compiled program per way to sample, for all blocks."""
        way = sampling.replace(count=1, batch=1)
        if way not in self._programs:
            process = self.process
            sampler = make_sampler(way, process.schedule, process.moments, process.variance)
            draw_one = partial(self._draw_one, way, sampler)
            self._programs[way] = jax.jit(jax.vmap(draw_one, in_axes=(None, 0, 0, 0)))
        return self._programs[way]

    def sample(
        self,
        key: Key,
        weights: Arrays,
        count: int,
        condition: Array | None = None,
        *,
        borrowed: tuple[Array, Array] | None = None,
        progress: Callable[[int, int], None] | None = None,
        **how: Any,
    ) -> np.ndarray:
        """Draws windows; see :class:`~pacodi_jax.models.protocol.Generator`.

        Under ``oracle``, ``borrowed`` gives the mean and scale ``(count, C)`` that the windows
        shall have; by default those of training windows drawn at random, with replacement.
        """
        sampling = self.sampling.replace(**how)
        program = self._program(sampling)

        def block(rows: Array) -> Array:
            keys = jax.vmap(partial(jax.random.fold_in, key))(rows)
            level = self._donated(keys) if borrowed is None else _rows(borrowed, rows)
            return program(weights, keys, _rows(condition, rows), level)

        return parallel.in_blocks(block, count, sampling.batch, progress)

    def traceable(
        self, weights: Arrays, count: int, condition: Array | None = None, **how: Any
    ) -> Callable[[Key], Array]:
        """The sampler of ``count`` windows as one pure function of the key."""
        program = self._program(self.sampling.replace(**how))

        def draw_all(key: Key) -> Array:
            keys = jax.vmap(partial(jax.random.fold_in, key))(jnp.arange(count))
            return program(weights, keys, condition, self._donated(keys))

        return draw_all

    def _donated(self, keys: Array) -> tuple[Array, Array] | None:
        """Mean and scale of a random training window per key."""
        if self.fitted.borrowed is None:
            return None
        mean, scale = self.fitted.borrowed
        donors = jax.vmap(
            lambda key: jax.random.randint(jax.random.fold_in(key, _DONOR), (), 0, len(mean))
        )(keys)
        return mean[donors], scale[donors]

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

    def facts(self, **how: Any) -> Facts:
        """What is true of samples drawn so."""
        sampling = self.sampling.replace(**how)
        twice = self.fitted.condition is not None and sampling.guidance not in (0.0, 1.0)
        calibrated, note = self._is_calibrated(sampling), ""
        if self.fitted.calibration is not None and not calibrated:
            wanted = ", ".join(f"{name}={value}" for name, value in self.sampling.path.items())
            note = f"samples are not calibrated: the model's calibration is for {wanted}"
        oracle = self.coding.mode == "oracle"
        return Facts(
            label=self.coding.label if oracle else "",
            evaluations=sampling.evaluations * (2 if twice else 1),
            calibrated=calibrated,
            note=note,
        )


def _rows(tree: Any, rows: Array) -> Any:
    return jax.tree.map(lambda part: jnp.asarray(part)[rows], tree)


def family(name: str, make_view: Callable[[SpectralSettings, Shape, Quadratures], View]) -> Family:
    """A family of models that differ in the view of their network alone."""

    def build(
        settings: SpectralSettings, shape: Shape, arrays: Arrays, training: Training | None
    ) -> SpectralDiffusion:
        fitted = Fitted.from_arrays(arrays)
        coding = LevelCoding(settings.diffusion.statistics, shape.length, fitted.level)
        process = make_process(settings.diffusion, coding, fitted.moments)
        learning = None
        if training is not None:
            learning = Learning(
                optax.with_extra_args_support(training.make_optimiser()),
                process.training_times(training.batch),
                training.ema,
                training.condition_dropout,
            )
        view = make_view(settings, shape, coding.variance)
        return SpectralDiffusion(view, coding, fitted, process, settings.sample, learning)

    return Family(
        name,
        SpectralSettings,
        prepare,
        build,
        SIZES,
        calibration_hindrance=_calibration_hindrance,
    )


def _calibration_hindrance(settings: SpectralSettings, has_kinds: bool) -> str:
    if has_kinds:
        return "is for models without texts and labels, each of which has moments of its own"
    if settings.diffusion.statistics == "oracle":
        return "would change the level and scale that diffusion.statistics='oracle' borrows"
    return ""
