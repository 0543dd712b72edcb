"""The numbers of the page: rounded to what a screen can show, and bounded in size."""

import json
import math
from typing import Any

import numpy as np

from pacodi_jax.metrics.correlation import autocorrelation
from pacodi_jax.metrics.inputs import fit_scale
from pacodi_jax.metrics.neighbours import nearest
from pacodi_jax.metrics.spectra import POWER_FLOOR, power_spectrum
from pacodi_jax.report.viewer.content import Content, Fans, Line

#: Channels that are shown at most.
CHANNELS = 24
#: Numbers of windows, of a series and of forecasts that a page holds at most, about.
NUMBERS = 60_000
#: Windows, bins of a histogram and thin lines of a forecast that are shown at most.
WINDOWS, BINS, DRAWS = 40, 48, 8
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def payload(content: Content) -> dict[str, Any]:
    """What the script draws, as JSON values; arrays are ordered by channel first."""
    count = shown_channels(content)
    cut = [
        values[..., :count] for values in (content.synthetic, content.real) if values is not None
    ]
    places = decimals(cut)
    synthetic = cut[0][: shown_windows(content.synthetic.shape[1], count)]
    found: dict[str, Any] = {
        "channels": list(content.channels[:count]),
        "synthetic": by_channel(synthetic, places),
        "curves": [curves(cut, channel) for channel in range(count)],
        "whole": line(content.whole, places),
        "beside": line(content.beside, places),
        "fans": fans(content.fans, places),
    }
    if content.real is not None:
        rows = nearest_rows(content.real, content.synthetic[: len(synthetic)])
        spread = np.linspace(0, len(content.real) - 1, len(synthetic)).round().astype(int)
        found["real"] = by_channel(cut[1][spread], places)
        found["nearest"] = by_channel(cut[1][rows], places)
    return found


def shown_channels(content: Content) -> int:
    """How many channels fit: at least one."""
    length, channels = content.synthetic.shape[1:]
    return max(1, min(CHANNELS, channels, NUMBERS // (6 * length)))


def shown_windows(length: int, channels: int) -> int:
    """How many windows per side fit: at least two."""
    return max(2, min(WINDOWS, NUMBERS // (2 * length * channels)))


def shown_steps(channels: int) -> int:
    """How many steps of a whole series fit."""
    return min(10_000, NUMBERS // min(channels, CHANNELS))


def decimals(sides: list[np.ndarray]) -> list[int]:
    """Digits after the point for each channel: a ten-thousandth of its range is still told."""
    flat = np.concatenate([values.reshape(-1, values.shape[-1]) for values in sides])
    ranges = np.nanmax(flat, axis=0) - np.nanmin(flat, axis=0)
    return [4 - math.floor(math.log10(x)) if 0 < x < math.inf else 4 for x in ranges.tolist()]


def rounded(values: np.ndarray, places: int) -> list[Any]:
    """Nested lists; what is not finite is None, which JSON calls null."""
    if values.ndim > 1:
        return [rounded(row, places) for row in values]
    return [
        (round(x, places) if places > 0 else int(round(x, places))) if math.isfinite(x) else None
        for x in values.astype(np.float64).tolist()
    ]


def by_channel(values: np.ndarray, places: list[int]) -> list[Any]:
    """``(…, C)`` as one nested list per channel."""
    return [rounded(values[..., channel], digits) for channel, digits in enumerate(places)]


def nearest_rows(real: np.ndarray, synthetic: np.ndarray) -> np.ndarray:
    """The real window nearest to each synthetic one, channels scaled to [0, 1]."""
    scale = fit_scale(real)
    return nearest(scale.apply(synthetic), scale.apply(real))[1]


def curves(sides: list[np.ndarray], channel: int) -> dict[str, Any]:
    """Spectrum, autocorrelation and distribution of a channel: synthetic, then real."""
    values = [side[..., channel : channel + 1].astype(np.float64) for side in sides]
    powers = [power_spectrum(side)[:, 0] for side in values]
    least = POWER_FLOOR * powers[-1].sum() + np.finfo(np.float64).tiny
    low, high = np.quantile(np.concatenate([v.ravel() for v in values]), (0.001, 0.999)).tolist()
    bins = np.linspace(low, high if high > low else low + 1, BINS + 1)
    shares = [np.histogram(side, bins)[0] / side.size for side in values]
    return {
        "power": [rounded(10 * np.log10(np.maximum(power, least)), 2) for power in powers],
        "lags": [rounded(autocorrelation(side)[:, 0], 4) for side in values],
        "shares": [rounded(share, 5) for share in shares],
        "edges": [float(f"{x:.5g}") for x in ((bins[1:] + bins[:-1]) / 2).tolist()],
    }


def line(found: Line | None, places: list[int]) -> dict[str, Any] | None:
    """A whole series, no longer than fits."""
    if found is None:
        return None
    steps = shown_steps(len(places))
    stamps = None if found.stamps is None else found.stamps[:steps]
    return {"values": by_channel(found.values[:steps, : len(places)], places), "stamps": stamps}


def fans(found: Fans | None, places: list[int]) -> dict[str, Any] | None:
    """Forecasts: what was observed, quantiles, some draws."""
    if found is None:
        return None
    size = found.truth.shape[1] * len(places) * (len(QUANTILES) + DRAWS + 1)
    kept, count = max(1, min(len(found.truth), NUMBERS // size)), len(places)
    draws = found.draws[:kept, ..., :count]
    bands = np.quantile(draws, QUANTILES, axis=1, method="weibull").swapaxes(0, 1)
    return {
        "truth": by_channel(found.truth[:kept, :, :count], places),
        "bands": by_channel(bands, places),
        "draws": by_channel(draws[:, :DRAWS], places),
        "seen": found.seen,
        "starts": None if found.starts is None else found.starts[:kept],
        "part": found.part,
    }


def to_json(values: dict[str, Any]) -> str:
    """JSON that can stand inside a script element, whatever names are in it."""
    text = json.dumps(values, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
