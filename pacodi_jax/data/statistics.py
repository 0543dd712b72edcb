"""Three ways to treat a window's level and scale: not at all, generated, or borrowed.

- ``none``: the window's spectrum as it is.
- ``generated``: instance normalisation, with level and log-scale in the vacant DC slot, diffused
  and generated with the rest (:mod:`pacodi_jax.level`).
- ``oracle``: the paper's protocol, for comparison only. Generated shapes are given the level and
  scale of REAL training windows; whatever is made with it must say so (``label``).

A mode is a tree of arrays plus its length, so it travels with the weights.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from pacodi_jax import level, spectrum
from pacodi_jax.checks import check_rank
from pacodi_jax.errors import choose
from pacodi_jax.types import Array, Key, Quadratures

ORACLE_LABEL = "oracle: level and scale were borrowed from real windows"
_BANK = 3000


class Plain(NamedTuple):
    """``none``: no instance normalisation."""

    length: int
    arrays: None = None
    label: str = ""

    @property
    def variance(self) -> Quadratures:
        """The Hermitian noise law."""
        return spectrum.noise_variance(self.length)

    def encode(self, window: Array) -> Quadratures:
        """The window's half spectrum."""
        return spectrum.to_spectrum(window)

    def decode(self, key: Key, state: Quadratures) -> Array:
        """The window of a half spectrum; the key is not used."""
        return spectrum.to_series(state, self.length)


class Generated(NamedTuple):
    """``generated``: level and log-scale are part of the spectrum."""

    length: int
    arrays: level.Level
    label: str = ""

    @property
    def variance(self) -> Quadratures:
        """The noise law with imaginary DC alive."""
        return level.noise_variance(self.length)

    def encode(self, window: Array) -> Quadratures:
        """The normalised window's half spectrum, level and log-scale in its DC bin."""
        return level.encode(window, self.arrays)

    def decode(self, key: Key, state: Quadratures) -> Array:
        """The window with the level and scale that its own DC bin says; the key is not used."""
        return level.decode(state, self.arrays, self.length)


class Bank(NamedTuple):
    """Levels and scales of real training windows, ``(M, C)`` each, and the floor ``(C,)``."""

    mean: Array
    scale: Array
    floor: Array


class Oracle(NamedTuple):
    """``oracle``: a generated shape wears the level and scale of a real training window."""

    length: int
    arrays: Bank
    label: str = ORACLE_LABEL

    @property
    def variance(self) -> Quadratures:
        """The Hermitian noise law."""
        return spectrum.noise_variance(self.length)

    def encode(self, window: Array) -> Quadratures:
        """The normalised window's half spectrum."""
        return spectrum.to_spectrum(level.standardise(window, self.arrays.floor)[0])

    def decode(self, key: Key, state: Quadratures) -> Array:
        """The shape with the level and scale of a real window that the key picks."""
        row = jax.random.randint(key, (), 0, self.arrays.mean.shape[0])
        shape = spectrum.to_series(state, self.length)
        return shape * self.arrays.scale[row] + self.arrays.mean[row]


Statistics = Plain | Generated | Oracle


def _bank(windows: Array) -> Bank:
    floor = level.fit(windows).floor
    rows = jnp.linspace(0, windows.shape[0] - 1, min(_BANK, windows.shape[0])).astype(int)
    _, mean, scale = jax.vmap(lambda window: level.standardise(window, floor))(windows[rows])
    return Bank(mean, scale, floor)


_FIT: dict[str, Callable[[Array], Statistics]] = {
    "none": lambda windows: Plain(windows.shape[1]),
    "generated": lambda windows: Generated(windows.shape[1], level.fit(windows)),
    "oracle": lambda windows: Oracle(windows.shape[1], _bank(windows)),
}
STATISTICS = tuple(_FIT)


def fit(mode: str, windows: Array) -> Statistics:
    """Fits a mode to training windows ``(N, L, C)``.

    Args:
      mode: ``none``, ``generated`` or ``oracle``.
      windows: of the training part only.
    """
    check_rank("windows", windows, 3, "(N, L, C)")
    return choose("statistics", mode, _FIT)(windows)
