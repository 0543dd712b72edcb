"""What a model that diffuses spectra learns from the training windows before the first step."""

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax.core import conditioning, level_coding, wiener, window_covariance
from pacodi_jax.core.calibration import Calibration
from pacodi_jax.core.level import Level
from pacodi_jax.core.level_coding import LevelCoding
from pacodi_jax.core.wiener import Moments
from pacodi_jax.core.window_covariance import Covariance
from pacodi_jax.models.protocol import Arrays
from pacodi_jax.models.settings import SpectralSettings
from pacodi_jax.types import Array, Quadratures

_BORROWED = 3000  # training windows, evenly spread, whose level and scale ``oracle`` keeps
#: Numbers to which the covariance of windows is fitted; of more, windows spread evenly over train.
_NUMBERS, _FEWEST = 1 << 26, 1024


class Fitted(NamedTuple):
    """Fitted to train; it travels with the weights, so that sampling needs no data.

    Attributes:
      moments: of the training spectra.
      level: the law of levels and scales; None under statistics ``none``.
      borrowed: mean and scale of real windows, ``(M, C)`` each; under ``oracle`` only.
      condition: mean ``(E,)`` and scale ``()`` of the conditions; None without any.
      calibration: what samples are corrected by; None until fitted, or if calibration is off.
      covariance: of training windows, by which observed values spread; None under ``oracle`` and
        in models of version 0.1.
    """

    moments: Moments
    level: Level | None
    borrowed: tuple[Array, Array] | None
    condition: tuple[Array, Array] | None = None
    calibration: Calibration | None = None
    covariance: Covariance | None = None

    def to_arrays(self) -> Arrays:
        """The arrays under their names; what is None is left out."""
        return _nested(self)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "Fitted":
        """Reads what :meth:`to_arrays` gave."""
        arrays = jax.tree.map(jnp.asarray, arrays)

        def quadratures(fields: dict[str, dict[str, Array]]) -> dict[str, Quadratures]:
            return {name: Quadratures(**parts) for name, parts in fields.items()}

        def pair(name: str) -> tuple[Array, Array] | None:
            return (arrays[name]["0"], arrays[name]["1"]) if name in arrays else None

        return cls(
            Moments(**quadratures(arrays["moments"])),
            Level(**arrays["level"]) if "level" in arrays else None,
            pair("borrowed"),
            pair("condition"),
            Calibration(**quadratures(arrays["calibration"])) if "calibration" in arrays else None,
            Covariance(**arrays["covariance"]) if "covariance" in arrays else None,
        )


def _nested(tree: Any) -> Any:
    """Named tuples and tuples as dictionaries, without what is None."""
    if not isinstance(tree, tuple):
        return np.asarray(tree)
    names = getattr(tree, "_fields", tuple(map(str, range(len(tree)))))
    return {name: _nested(part) for name, part in zip(names, tree, strict=True) if part is not None}


def fit(mode: str, windows: Any, condition: Any = None) -> tuple[LevelCoding, Fitted]:
    """Fits level statistics, spectral moments and the conditions' scale to training examples.

    Args:
      mode: of the level statistics.
      windows: ``(N, L, C)``.
      condition: ``(N, E)``, or None.
    """
    windows = jnp.asarray(windows)
    coding = level_coding.fit(mode, windows)
    spectra = jax.jit(jax.vmap(coding.encode))(windows)
    borrowed = (
        jax.vmap(coding.real)(windows[_spread(len(windows), _BORROWED)])
        if mode == "oracle"
        else None
    )
    scale = None
    if condition is not None:
        condition = jnp.asarray(condition)
        scale = (condition.mean(0), jnp.maximum(condition.std(), 1e-6))
    covariance = None if mode == "oracle" else _covariance(coding, spectra)
    return coding, Fitted(wiener.fit(spectra), coding.level, borrowed, scale, covariance=covariance)


def _covariance(coding: LevelCoding, spectra: Quadratures) -> Covariance:
    """The covariance of training windows, in rows where noise is white."""
    count, bins, channels = spectra.real.shape
    most = max(_FEWEST, _NUMBERS // (2 * bins * channels))
    some = jax.tree.map(lambda part: part[_spread(count, most)], spectra)
    rows = jax.jit(jax.vmap(partial(conditioning.to_rows, coding=coding)))(some)
    return window_covariance.fit(np.asarray(rows))


def prepare(
    settings: SpectralSettings, windows: np.ndarray, condition: np.ndarray | None
) -> Arrays:
    """Fits what the settings need; see :class:`pacodi_jax.models.protocol.Family`."""
    return fit(settings.diffusion.statistics, windows, condition)[1].to_arrays()


def pass_over(settings: SpectralSettings, arrays: Arrays, blocks: Iterable[np.ndarray]) -> Arrays:
    """The moments of all windows in blocks, joined in double; all else stays."""
    fitted, encode, sums = Fitted.from_arrays(arrays), None, wiener.Sums()
    for windows in blocks:
        if encode is None:
            mode = settings.diffusion.statistics
            coding = LevelCoding(mode, windows.shape[1], fitted.level)
            encode = jax.jit(jax.vmap(coding.encode))
        sums.add(encode(windows))
    return fitted._replace(moments=sums.moments()).to_arrays()


def _spread(count: int, most: int) -> np.ndarray:
    """At most ``most`` of ``count`` rows: all of them, or evenly spread over the whole."""
    kept = min(count, most)
    return np.arange(kept) * count // kept
