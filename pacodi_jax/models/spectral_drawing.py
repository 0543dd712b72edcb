"""Windows drawn by diffusing spectra: freely, under a condition, or given observed values."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax import parallel
from pacodi_jax.core import calibration, conditioning, guidance
from pacodi_jax.core.conditioning import Gains, Observed
from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.core.solvers import draw
from pacodi_jax.core.spectrum import to_series, to_spectrum
from pacodi_jax.core.window_covariance import Covariance
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import conditions
from pacodi_jax.models import observed as given
from pacodi_jax.models.edges import check_draw
from pacodi_jax.models.fitted import Fitted
from pacodi_jax.models.per_window import keys_of
from pacodi_jax.models.process import Process
from pacodi_jax.models.protocol import Arrays, Facts
from pacodi_jax.models.sampler import Sampler, make_sampler
from pacodi_jax.models.settings import Sampling
from pacodi_jax.models.views import View
from pacodi_jax.types import Array, Denoiser, Guide, Key, Prediction, Quadratures

#: Bytes of gains that are kept for the next draws, of the last masks.
_KEPT = 2**29
_DONOR = 0xD0  # folded into a window's key for its donor; its draw splits the same key in two


@dataclass(frozen=True, eq=False)
class SpectralSampler:
    """What draws windows by diffusing spectra.

    Attributes:
      view: the network as a function of spectra.
      coding: how windows become spectra and back.
      fitted: what was fitted to the training windows.
      process: the forward process and the training target.
      sampling: how samples are drawn unless asked otherwise; what ``fitted.calibration`` is for.
    """

    view: View
    coding: LevelCoding
    fitted: Fitted
    process: Process
    sampling: Sampling

    def standard(self, condition: Array | None) -> Any:
        """Conditions ``(B, E)`` as the network is fed them."""
        if condition is None or self.fitted.condition is None:
            return condition
        return conditions.rescaled(condition, *self.fitted.condition)

    def denoiser(self, params: Any, condition: Array | None = None) -> Denoiser:
        """The network as a denoiser of one window, under one condition ``(E,)`` or none."""

        def denoise(state: Quadratures, t: Array) -> Prediction:
            inputs = self.process.network_input(state, t)
            one = jax.tree.map(lambda x: x[None], inputs)
            row = None if condition is None else self.standard(condition)[None]
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
        correct: conditioning.Correct | None = None,
    ) -> Array:
        """Draws one window, given observed values if ``correct`` spreads them."""
        process = self.process
        guides: list[Guide] = []
        if condition is not None:
            guides.append(guidance.classifier_free(self.denoiser(params), sampling.scale))
        if correct is not None:
            guides.append(conditioning.guide(correct, process.schedule, self.coding))
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
        corrected = correct is None and self._is_calibrated(sampling)
        return self._corrected(window) if corrected else window

    def _sampler(self, sampling: Sampling) -> Sampler:
        process = self.process
        return make_sampler(sampling, process.schedule, process.moments, process.variance)

    def _is_calibrated(self, sampling: Sampling) -> bool:
        return self.fitted.calibration is not None and sampling.path == self.sampling.path

    def _corrected(self, window: Array) -> Array:
        """A drawn window ``(L, C)`` after calibration."""
        assert self.fitted.calibration is not None
        spectrum = calibration.apply(self.fitted.calibration, to_spectrum(window))
        return to_series(spectrum, len(window))

    @functools.cached_property
    def _programs(self) -> dict[tuple[str, Sampling], Callable[..., Any]]:
        return {}

    def _program(self, kind: str, sampling: Sampling) -> Callable[..., Any]:
        """One compiled program per way to sample, for all blocks."""
        way = sampling.replace(count=1, batch=1)
        if (kind, way) not in self._programs:
            make = {
                "free": self._free_program,
                "linear": self._linear_program,
                "generated": self._generated_program,
            }[kind]
            self._programs[kind, way] = jax.jit(make(way))
        return self._programs[kind, way]

    def _free_program(self, way: Sampling) -> Callable[..., Array]:
        draw_one = partial(self._draw_one, way, self._sampler(way))
        return jax.vmap(draw_one, in_axes=(None, 0, 0, 0))

    @functools.cached_property
    def _tables(self) -> dict[tuple[Sampling, bytes], Gains]:
        return {}

    def _gains(self, sampling: Sampling, mask: np.ndarray, noise: np.ndarray) -> Gains:
        """The gains of a mask; those of the last masks are kept, since chains repeat theirs."""
        name = sampling.replace(count=1, batch=1), mask.tobytes() + noise.tobytes()
        if name not in self._tables:
            times = self._sampler(sampling).times
            made = conditioning.gains(self._covariance, self.process.schedule, times, mask, noise)
            while self._tables and (len(self._tables) + 1) * made.nbytes > _KEPT:
                del self._tables[next(iter(self._tables))]
            self._tables[name] = made
        return self._tables[name]

    def _linear_program(self, way: Sampling) -> Callable[..., Array]:
        draw_one = partial(self._draw_one, way, self._sampler(way))

        def one(params: Any, key: Key, condition: Any, values: Array, gains: Gains) -> Array:
            return draw_one(params, key, condition, None, conditioning.linear(gains, values))

        return jax.vmap(one, in_axes=(None, 0, 0, 0, None))

    def _generated_program(self, way: Sampling) -> Callable[..., Array]:
        draw_one = partial(self._draw_one, way, self._sampler(way))
        spread = partial(
            conditioning.gauss_newton, self._covariance, self.process.schedule, self.coding
        )

        def one(
            params: Any, key: Key, condition: Any, values: Array, mask: Array, noise: Array
        ) -> Array:
            return draw_one(params, key, condition, None, spread(Observed(values, mask, noise)))

        return jax.vmap(one, in_axes=(None, 0, 0, 0, None, None))

    @property
    def _covariance(self) -> Covariance:
        if self.fitted.covariance is not None:
            return self.fitted.covariance
        why = "was trained by version 0.1, which kept no covariance of windows; train it again"
        if self.coding.mode == "oracle":
            why = "borrows the level and scale of real windows (diffusion.statistics='oracle')"
        raise PacodiError(f"this model cannot be given observed values: it {why}.")

    def sample(
        self,
        key: Key,
        weights: Arrays,
        count: int,
        condition: Array | None = None,
        *,
        observed: Observed | None = None,
        borrowed: tuple[Array, Array] | None = None,
        progress: Callable[[int, int], None] | None = None,
        **how: Any,
    ) -> np.ndarray:
        """Draws windows; see :class:`~pacodi_jax.models.protocol.Generator`.

        Under ``oracle``, ``borrowed`` gives the mean and scale ``(count, C)`` of the windows; by
        default those of training windows drawn at random, with replacement.
        """
        check_draw(key, count, condition)
        sampling = self.sampling.replace(**how)
        if observed is not None:
            return self._given(key, weights, count, condition, observed, sampling, progress)
        program = self._program("free", sampling)

        def block(rows: Array) -> Array:
            keys = keys_of(key, rows)
            level = self._donated(keys) if borrowed is None else _rows(borrowed, rows)
            return program(weights, keys, _rows(condition, rows), level)

        return parallel.in_blocks(block, count, sampling.batch, progress)

    def _given(
        self,
        key: Key,
        weights: Arrays,
        count: int,
        condition: Array | None,
        observed: Observed,
        sampling: Sampling,
        progress: Callable[[int, int], None] | None,
    ) -> np.ndarray:
        """Draws windows given observed values; where nothing is observed, as without any."""
        known = given.check(observed, (count, *self._window_shape))
        kind = "generated" if self.coding.mode == "generated" else "linear"
        free, program = self._program("free", sampling), self._program(kind, sampling)

        def group(numbers: np.ndarray, own: given.Known, size: int, show: Any) -> np.ndarray:
            tables: tuple[Any, ...] = (own.mask[0], own.noise[0])
            if own.mask.any() and kind == "linear":
                tables = (self._gains(sampling, *tables),)

            def block(places: Array) -> Array:
                rows = jnp.asarray(numbers)[places]
                keys, told = keys_of(key, rows), _rows(condition, rows)
                if not own.mask.any():
                    return free(weights, keys, told, None)
                return program(weights, keys, told, _rows(own.values, places), *tables)

            return parallel.in_blocks(block, len(numbers), size, show)

        return given.in_groups(group, known, sampling.batch, progress)

    @property
    def _window_shape(self) -> tuple[int, int]:
        return self.coding.length, self.process.moments.mean.real.shape[1]

    def traceable(
        self, weights: Arrays, count: int, condition: Array | None = None, **how: Any
    ) -> Callable[[Key], Array]:
        """The sampler of ``count`` windows as one pure function of the key."""
        check_draw(jax.random.key(0), count, condition)
        program = self._program("free", self.sampling.replace(**how))

        def draw_all(key: Key) -> Array:
            keys = keys_of(key, jnp.arange(count))
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

    def facts(self, **how: Any) -> Facts:
        """What is true of samples drawn so."""
        sampling = self.sampling.replace(**how)
        twice = self.fitted.condition is not None and sampling.scale not in (0.0, 1.0)
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
