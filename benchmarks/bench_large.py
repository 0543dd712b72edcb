"""A table larger than memory: made on disk, described, trained on; peak memory by wait4.

    python benchmarks/bench_large.py [--gigabytes 20] [--channels 40] [--kind parquet] [--steps 300]

The table has a stamp per second and channels of float64, some with holes, and lies in a temporary
folder of --folder. Every command is a process of its own, and what it took of memory at most is
what the system says of it (ru_maxrss), files that it mapped included. All is removed at the end.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import scipy.signal

_ROWS = 1 << 16


def chunks(rows: int, channels: int) -> Iterator[pa.Table]:
    """An AR(1) process per channel around a wave, a hole in some rows, block by block."""
    rng, state = np.random.default_rng(0), np.zeros((1, channels))
    for begin in range(0, rows, _ROWS):
        count = min(_ROWS, rows - begin)
        seconds = np.arange(begin, begin + count)
        noise = rng.standard_normal((count, channels))
        values, state = scipy.signal.lfilter([0.3], [1, -0.95], noise, axis=0, zi=state)
        values += np.sin(2 * np.pi * seconds / 24)[:, None]
        values[:: _ROWS // 4, 0] = np.nan
        columns = {"when": seconds.astype("datetime64[s]")}
        columns |= {f"x{i}": values[:, i] for i in range(channels)}
        yield pa.table(columns)


def make(path: Path, gigabytes: float, channels: int) -> int:
    """Writes a table whose numbers take so many bytes; returns its rows."""
    rows = int(gigabytes * 1e9 / (8 * (channels + 1)))
    with contextlib.ExitStack() as stack:
        writer = None
        for chunk in chunks(rows, channels):
            if writer is None:
                writer = stack.enter_context(_writer(path, chunk.schema))
            writer.write_table(chunk)
    return rows


def _writer(path: Path, schema: pa.Schema) -> pyarrow.csv.CSVWriter | pyarrow.parquet.ParquetWriter:
    if path.suffix == ".csv":
        return pyarrow.csv.CSVWriter(path, schema)
    return pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False)


def command(*arguments: str) -> None:
    """Runs ``pacodi`` and tells its peak memory, processor time and time by the clock."""
    begun = time.perf_counter()
    door = "from pacodi_jax.cli.pacodi import script; script()"
    process = subprocess.Popen([sys.executable, "-c", door, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"pacodi {arguments[0]} ended with status {status}")
    busy = usage.ru_utime + usage.ru_stime
    print(
        f"== pacodi {arguments[0]}: peak {usage.ru_maxrss / 1e6:.2f} GB, {busy:.0f} s of processor "
        f"time, {time.perf_counter() - begun:.0f} s by the clock",
        flush=True,
    )


def timed(what: str, call: Callable[[], int]) -> None:
    """Calls, and tells how long it took."""
    begun, busy = time.perf_counter(), time.process_time()
    rows = call()
    print(
        f"== {what}: {rows:,} rows, {time.process_time() - busy:.0f} s of processor time, "
        f"{time.perf_counter() - begun:.0f} s by the clock",
        flush=True,
    )


def main() -> None:
    """Parses the command line, makes the table and uses it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=20.0)
    parser.add_argument("--channels", type=int, default=40)
    parser.add_argument("--kind", choices=("csv", "parquet"), default="parquet")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--folder", type=Path, default=Path.home())
    parser.add_argument("--describe", action="store_true", help="describe it as well")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        place = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        table = place / f"table.{given.kind}"
        timed("written", lambda: make(table, given.gigabytes, given.channels))
        print(f"== {table.stat().st_size / 1e9:.1f} GB on disk", flush=True)
        roles = ("--time=when", "--length=24", "--stream=on")
        if given.describe:
            command("describe", str(table), *roles, f"--png={place / 'picture.png'}")
        settings = (f"--set=train.steps={given.steps}", "--set=data.stream=on")
        command("train", str(table), "--time=when", "--length=24", f"--out={place}/run", *settings)


if __name__ == "__main__":
    main()
