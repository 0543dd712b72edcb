"""How a window becomes the spectrum that is diffused, and back: what is done with level and scale.

``none`` takes the spectrum of the window as it is. ``generated`` normalises each window and
carries its level and log-scale in the vacant DC bin (:mod:`pacodi_jax.core.level`). ``oracle``
normalises each window and needs the mean and scale of real windows to decode. That is the paper's
protocol; it leaks them and is for comparison only. Everything made with it says so:
:attr:`LevelCoding.label`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.core import level, spectrum
from pacodi_jax.errors import PacodiError, choose
from pacodi_jax.types import Array, Quadratures

MODES = ("none", "generated", "oracle")

#: The floor of a window's scale under ``oracle``: almost none, as in the paper.
_ORACLE_FLOOR = 1e-4


class LevelCoding(NamedTuple):
    """How windows become spectra and back. All methods are for one window and jit.

    Attributes:
      mode: ``none``, ``generated`` or ``oracle``.
      length: L, steps per window.
      level: the law of levels and scales in train; ``None`` under ``none``.
    """

    mode: str
    length: int
    level: level.Level | None

    @property
    def label(self) -> str:
        """One line for samples and reports."""
        if self.mode == "oracle":
            return "statistics=oracle: level and scale of REAL windows, not generated"
        return f"statistics={self.mode}"

    @property
    def variance(self) -> Quadratures:
        """The noise law ``(K, 1)`` per part; ``generated`` opens the imaginary DC slot."""
        module = level if self.mode == "generated" else spectrum
        return module.noise_variance(self.length)

    def encode(self, window: Array) -> Quadratures:
        """Takes a window ``(L, C)`` to the spectrum ``(K, C)`` that is diffused."""
        if self.level is None:
            return spectrum.to_spectrum(window)
        if self.mode == "generated":
            return level.encode(window, self.level)
        return spectrum.to_spectrum(level.standardise(window, self.level.floor)[0])

    def decode(
        self, clean: Quadratures, mean: Array | None = None, scale: Array | None = None
    ) -> Array:
        """Takes a spectrum ``(K, C)`` back to a window ``(L, C)``.

        Args:
          clean: the spectrum.
          mean: ``(C,)``, the mean of a real window; needed by ``oracle``, refused otherwise.
          scale: ``(C,)``, the scale of a real window; likewise.
        """
        if (self.mode == "oracle") != (mean is not None and scale is not None):
            raise PacodiError(
                "statistics='oracle' needs the mean and scale of real windows to decode; "
                "the other modes take none"
            )
        if self.mode == "generated" and self.level is not None:
            return level.decode(clean, self.level, self.length)
        series = spectrum.to_series(clean, self.length)
        return series if mean is None or scale is None else series * scale + mean

    def real(self, window: Array) -> tuple[Array, Array]:
        """The mean and scale ``(C,)`` of a real window, which ``oracle`` borrows."""
        if self.level is None:
            raise PacodiError("statistics='none' has no mean and scale")
        _, mean, scale = level.standardise(window, self.level.floor)
        return mean, scale


def fit(mode: str, windows: Array | np.ndarray) -> LevelCoding:
    """Fits the coding of ``mode`` to scaled training windows ``(N, L, C)``.

    Args:
      mode: one of :data:`MODES`, the setting ``diffusion.statistics``.
      windows: ``(N, L, C)``.
    """
    choose("statistics", mode, dict.fromkeys(MODES))
    length = windows.shape[1]
    if mode == "none":
        return LevelCoding(mode, length, None)
    floor = _ORACLE_FLOOR if mode == "oracle" else level.FLOOR
    fit_level = jax.jit(level.fit, static_argnames="floor")
    return LevelCoding(mode, length, fit_level(jnp.asarray(windows), floor=floor))
