"""Judges any generator by two files: ``python -m pacodi_jax.judge REAL SYNTHETIC``.

Files are ``.npy`` or ``.npz`` with windows (N, L, C) or (N, L), or tables (``.csv``, ``.parquet``)
with one row a step: a ``window`` column says which rows belong together, or ``--length`` cuts.
"""

import argparse
import sys
from pathlib import Path
from typing import NoReturn

import numpy as np
import pandas as pd

from pacodi_jax import report
from pacodi_jax.cli.memory import reuse_memory
from pacodi_jax.data import files
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.cache import Cache, default_folder
from pacodi_jax.metrics.draws import prepare
from pacodi_jax.metrics.panel import score_panel
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.report.progress import progress_bar

WINDOW = "window"


def _from_table(path: Path, table: pd.DataFrame, length: int | None) -> np.ndarray:
    """Groups the rows of ``table``, channels only, into windows ``(N, L, C)``."""
    channels = [c for c in table.columns if c != WINDOW]
    values = table[channels].to_numpy(np.float64, na_value=np.nan)
    if WINDOW in table.columns:
        window, _ = pd.factorize(table[WINDOW])
        if (window < 0).any():
            raise PacodiError(
                f"{path}: the {WINDOW!r} column is empty in row {window.argmin() + 1}"
            )
        order, sizes = np.argsort(window, kind="stable"), np.bincount(window)
        if len(set(sizes)) != 1:
            raise PacodiError(
                f"{path}: windows differ in length (from {sizes.min()} to {sizes.max()} rows); "
                "all must have the same"
            )
        return values[order].reshape(len(sizes), sizes[0], -1)
    if length is None:
        raise PacodiError(
            f"{path} has no {WINDOW!r} column to say which rows belong together; "
            "add one, or give --length to cut windows of so many rows"
        )
    if not 2 <= length <= len(values):
        raise PacodiError(f"--length={length} does not fit {path}, which has {len(values)} rows")
    windows = np.lib.stride_tricks.sliding_window_view(values, length, axis=0)
    return windows.swapaxes(1, 2)


def read_windows(path: Path, length: int | None) -> tuple[np.ndarray, list[str] | None]:
    """Reads windows ``(N, L, C)`` and the channels' names, if the file has any.

    Columns of a table that are not numbers (time stamps, labels) are left out. Without a
    ``window`` column overlapping windows are cut, one a row.

    Raises:
      PacodiError: for a file that cannot be read or holds no windows.
    """
    if files.kind(path) in files.ARRAYS:
        array = files.read_array(path)
        if array.ndim not in (2, 3):
            raise PacodiError(
                f"{path} has shape {array.shape}; expected (windows, length, channels)"
            )
        return (array[..., None] if array.ndim == 2 else array), None
    table = files.read_table(path)
    rest = [c for c in table.columns if c != WINDOW]
    names = [c for c in rest if pd.api.types.is_numeric_dtype(table[c])]
    if not names:
        raise PacodiError(f"{path} has no column of numbers to score")
    ignored = [c for c in rest if c not in names]
    if ignored:
        print(f"{path.name}: not numbers, so not scored: {', '.join(ignored)}")
    kept = [c for c in table.columns if c == WINDOW or c in names]
    return _from_table(path, table[kept], length), names


def _same_names(first: list[str] | None, second: list[str] | None, path: Path) -> None:
    if first and second and first != second:
        raise PacodiError(
            f"{path} has channels {', '.join(second)} but the real file has {', '.join(first)}; "
            "name and order must agree"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pacodi_jax.judge", description=__doc__)
    parser.add_argument("real", type=Path, help="windows the generator was trained on")
    parser.add_argument("synthetic", type=Path, help="windows it made, in the same units")
    parser.add_argument("--held-out", type=Path, help="real windows it did not see")
    parser.add_argument("--out", type=Path, default=Path("judge"), help="folder of the report")
    parser.add_argument("--length", type=int, help="cut tables into windows of so many rows")
    parser.add_argument("--seeds", type=int, default=5, help="complete runs of every score")
    parser.add_argument("--windows", type=int, default=3000, help="at most so many a side")
    parser.add_argument("--protocol", default="judge", help="a label shown with every score")
    parser.add_argument("--cache", type=Path, default=None, help="encoders, floors, ceilings")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the training steps, labelled"
    )
    return parser


def _budget(arguments: argparse.Namespace) -> Budget:
    for flag, least in (("seeds", 1), ("windows", 20)):
        if getattr(arguments, flag) < least:
            raise PacodiError(f"--{flag}={getattr(arguments, flag)}; at least {least} is needed")
    budget = Budget(seeds=tuple(range(arguments.seeds)), windows=arguments.windows)
    if arguments.quick:
        return budget._replace(
            encoder_steps=60, discriminative_steps=200, predictive_steps=500, strong_steps=100
        )
    return budget


def run(arguments: argparse.Namespace) -> list[Path]:
    """Reads, scores and writes; returns the paths of what was written."""
    budget = _budget(arguments)
    real, names = read_windows(arguments.real, arguments.length)
    synthetic, others = read_windows(arguments.synthetic, arguments.length)
    _same_names(names, others, arguments.synthetic)
    held_out = None
    if arguments.held_out is not None:
        held_out, others = read_windows(arguments.held_out, arguments.length)
        _same_names(names, others, arguments.held_out)
    prepare(real, synthetic, held_out, names)
    for folder in filter(None, (arguments.out, arguments.cache)):
        report.check_folder(folder)  # now, not after minutes of scoring
    protocol = arguments.protocol + (" (quick)" if arguments.quick else "")
    with progress_bar() as progress:
        panel = score_panel(
            real,
            synthetic,
            held_out,
            budget=budget,
            cache=Cache(arguments.cache or default_folder()),
            protocol=protocol,
            names=names,
            progress=progress,
        )
    for line in panel["verdict"]:
        print(line)
    title = f"{arguments.synthetic.name} judged against {arguments.real.name}"
    return report.write(arguments.out, title, panel, np.asarray(real), np.asarray(synthetic))


def main(argv: list[str] | None = None) -> int:
    """The command; returns the exit code, 2 for a mistake in the input."""
    arguments = _parser().parse_args(argv)
    try:
        written = run(arguments)
    except PacodiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("wrote", *written)
    return 0


def command() -> NoReturn:
    """The command with its arguments read from ``sys.argv``."""
    reuse_memory()
    sys.exit(main())
