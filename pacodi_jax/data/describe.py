"""What a data set holds, on one screen and in one picture."""

import itertools
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.signal
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pacodi_jax import files
from pacodi_jax.data import bounds as links
from pacodi_jax.data import mapped
from pacodi_jax.data.dataset import Dataset
from pacodi_jax.data.windows import WindowSet

_CHANNELS = 12
_NAMED = 8
_SEGMENT = 1024
_WINDOWS = 2000
_FINE = 16
_LONGEST = 1 << 20


def text(data: Dataset) -> str:
    """Describes a data set: rows, gaps, ranges, windows and dominant periods, on one screen."""
    recipe, report = data.recipe, data.report
    clock = recipe.clock
    time = f", every {clock.frequency} from {clock.start}" if clock else ", no time column"
    zone = f" ({clock.zone})" if clock and clock.zone else ""
    lines = [
        ("source", f"{recipe.label}  [licence: {recipe.licence or 'yours'}]  {recipe.home}"),
        ("rows", f"{report.rows:,} in {report.series:,} series{time}{zone}"),
        ("missing", _missing(data)),
        ("split", _split(data)),
        ("windows", _windows(data)),
        ("scaling", f"{recipe.scaling}, fitted on {_fitted(data)}"),
        ("bounds", _bounds(data)),
        ("calendar", ", ".join(recipe.calendar.names) if recipe.calendar else "off"),
        ("fingerprint", f"sha256 {data.fingerprint}"),
    ]
    if report.left_out:
        lines.append(("left out", f"{', '.join(report.left_out)}: too few values; name it to keep"))
    if report.outside:
        lines.append(("beyond", report.beyond))
    if report.rejected:
        lines.append(("malformed", report.malformed))
    if report.constant:
        lines.append(("constant", f"{', '.join(report.constant)}: put back into what is written"))
    head = "\n".join(f"{name:11s} {value}" for name, value in lines)
    return f"{head}\n\n{_table(data)}"


def _missing(data: Dataset) -> str:
    r = data.report
    if not r.missing:
        return "none"
    return (
        f"{r.missing:,} cells ({r.added_rows:,} rows skipped by the clock); {r.filled:,} filled "
        f"in, {r.cut_rows:,} rows cut out; {r.touched:,} windows hold a filled cell"
    )


def _split(data: Dataset) -> str:
    if data.recipe.protocol == "paper":
        return "PAPER PROTOCOL: the last tenth of overlapping windows, leaking; scored on train"
    if data.recipe.split == "series":
        return "whole series to each part"
    if data.recipe.split == "blocks":
        return (
            f"every k-th block of rows to validation and held-out; gaps of {data.recipe.length} "
            "rows between parts"
        )
    return f"in time: train | gap of {data.recipe.length} rows | validation | held-out"


def _windows(data: Dataset) -> str:
    return (
        f"{len(data.train):,} train, {len(data.validation):,} validation, "
        f"{len(data.held_out):,} held-out, each {data.recipe.length} steps of "
        f"{data.train.channels} channels"
    )


def _fitted(data: Dataset) -> str:
    return "ALL windows" if data.recipe.protocol == "paper" else "train only"


def _bounds(data: Dataset) -> str:
    """Which channels have which bounds, and why."""
    scaler, report = data.recipe.scaler, data.report
    values = data.recipe.deliver(_some(data.train))[..., scaler.live]
    groups: dict[str, list[str]] = {}
    for i, found in scaler.links():
        name = data.recipe.live_channels[i]
        near = (links.to_line(values[..., i], found) != values[..., i]).any()
        why = "given" if name in report.given else "train comes near" if near else "train keeps off"
        groups.setdefault(f"{found.words} ({why})", []).append(name)
    told = [f"{words}: {_listed(names)}" for words, names in groups.items()]
    return "; ".join(told) or "none"


def _listed(names: list[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _table(data: Dataset) -> str:
    """One line per channel: type, range and mean in train, scaled held-out range, periods."""
    values = data.recipe.deliver(_some(data.train))
    scaled = _some(data.held_out if len(data.held_out) else data.train)
    live = {name: i for i, name in enumerate(data.recipe.live_channels)}
    width = max(map(len, ("channel", *data.recipe.channels[:_CHANNELS])))
    lines = [f"{'channel':{width}s}  type     {'train min':>11s} {'mean':>11s} {'max':>11s}"]
    lines[0] += "  held-out, scaled  dominant periods (steps)"
    for i, (name, dtype) in enumerate(zip(data.recipe.channels, data.recipe.dtypes, strict=True)):
        if i == _CHANNELS:
            lines.append(f"… and {len(data.recipe.channels) - _CHANNELS} more channels")
            break
        column = values[..., i]
        line = f"{name:{width}s}  {dtype:8s} {column.min():11.5g} {column.mean():11.5g} "
        line += f"{column.max():11.5g}"
        if name in live:
            other = scaled[..., live[name]]
            line += f"  {other.min():7.2f} … {other.max():<6.2f}  {periods(data, live[name])}"
        lines.append(line)
    return "\n".join(lines)


def _some(part: WindowSet) -> np.ndarray:
    """At most ``_WINDOWS`` windows, spread evenly over a part."""
    return part.take(np.linspace(0, len(part) - 1, min(len(part), _WINDOWS)).astype(int))


def periods(data: Dataset, channel: int, count: int = 3) -> str:
    """The strongest periods of a channel in the longest unbroken stretch of train, in steps."""
    rows = _stretch(data.train)
    series = data.train.series[rows, channel].astype(np.float64)
    mapped.release(data.train.series)
    segment = min(len(series), _SEGMENT)
    rate, power = scipy.signal.welch(series - series.mean(), nperseg=segment, nfft=_FINE * segment)
    peaks, _ = scipy.signal.find_peaks(power, height=power.max() / 50, distance=2 * _FINE)
    inside = peaks[rate[peaks] > 2 / segment]
    strongest = inside[np.argsort(-power[inside])][:count]
    return ", ".join(f"{1 / rate[p]:.3g}" for p in strongest) or "none"


def _stretch(part: WindowSet) -> slice:
    """The rows of the longest chain of touching windows of one series; a million at most."""
    starts, length = part.starts, part.length
    series = np.searchsorted(part.table.bounds, starts, side="right")
    breaks = np.flatnonzero((np.diff(starts) > length) | (np.diff(series) > 0)) + 1
    edges = [0, *breaks.tolist(), len(starts)]
    runs = [(int(starts[a]), int(starts[b - 1]) + length) for a, b in itertools.pairwise(edges)]
    begin, end = max(runs, key=lambda run: run[1] - run[0])
    return slice(begin, min(end, begin + _LONGEST))


def picture(data: Dataset, path: str | os.PathLike[str], seed: int = 0) -> Path:
    """Draws a few training windows of up to four channels, and the mean spectrum of each."""
    names = data.recipe.live_channels[:4]
    chosen = np.random.default_rng(seed).choice(len(data.train), min(6, len(data.train)), False)
    windows = data.recipe.deliver(data.train.take(np.sort(chosen)))
    figure = Figure(figsize=(11, 2.3 * len(names) + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(names), 2, squeeze=False)
    for row, name in zip(axes, names, strict=True):
        row[0].plot(windows[..., data.recipe.channels.index(name)].T, lw=1)
        row[0].set_ylabel(name, parse_math=False)
        _spectra(row[1], data, data.recipe.live_channels.index(name))
    axes[0][0].set_title(f"{len(chosen)} training windows, original units")
    axes[0][1].set_title("mean power spectrum, scaled")
    axes[-1][0].set_xlabel("step")
    axes[-1][1].set_xlabel("cycles per window")
    axes[0][1].legend(frameon=False)
    figure.suptitle(data.recipe.label, parse_math=False)
    with warnings.catch_warnings():  # a name in a script that the font lacks is drawn as boxes
        warnings.filterwarnings("ignore", "Glyph")
        return files.write(Path(path), lambda name: figure.savefig(name, dpi=110, format="png"))


def _spectra(axis: Any, data: Dataset, channel: int) -> None:
    for label, part in (("train", data.train), ("held-out", data.held_out)):
        if len(part):
            windows = _some(part)[..., channel].astype(np.float64)
            power = (np.abs(np.fft.rfft(windows, norm="ortho", axis=1)) ** 2).mean(0)
            axis.semilogy(np.maximum(power, 1e-12), label=label)
