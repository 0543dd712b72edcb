"""From settings to a generator that diffuses spectra: PaCoDi, and its relatives by another view."""

from collections.abc import Callable

import optax

from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.models.fitted import Fitted, pass_over, prepare
from pacodi_jax.models.process import make_process
from pacodi_jax.models.protocol import Arrays, Family, Shape, Training
from pacodi_jax.models.settings import SIZES, SpectralSettings
from pacodi_jax.models.spectral import Learning, SpectralDiffusion
from pacodi_jax.models.views import View
from pacodi_jax.types import Quadratures


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
        reads_observed=True,
        pass_over=pass_over,
        calibration_hindrance=_calibration_hindrance,
    )


def _calibration_hindrance(settings: SpectralSettings, has_kinds: bool) -> str:
    if has_kinds:
        return "is for models without texts and labels, each of which has moments of its own"
    if settings.diffusion.statistics == "oracle":
        return "would change the level and scale that diffusion.statistics='oracle' borrows"
    return ""
