"""Times the data layer: windows of a ten-million-row series.

python benchmarks/bench_data.py [--rows=10000000] [--out=FILE.json]
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from pacodi_jax import data

CHANNELS, LENGTH = 8, 24


def peak() -> int:
    """The process's peak memory so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def make(path: Path, rows: int, dtype: str) -> int:
    """Writes a random walk block by block, so that making it does not set the peak."""
    generator, last = np.random.default_rng(0), np.zeros(CHANNELS)
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (rows, CHANNELS)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for begin in range(0, rows, 100_000):
            block = generator.normal(size=(min(100_000, rows - begin), CHANNELS)).cumsum(0) + last
            file.write(block.astype(dtype).tobytes())
            last = block[-1]
    return rows * CHANNELS * np.dtype(dtype).itemsize


def windows(rows: int, dtype: str, folder: Path) -> dict:
    """Loads a series of ``rows`` rows as stride-1 windows: seconds, and peak over raw memory."""
    path = folder / f"{dtype}.npy"
    raw = make(path, rows, dtype)
    data.load(data.DataSettings(length=LENGTH))
    before, start, busy = peak(), time.perf_counter(), time.process_time()
    found = data.load(data.DataSettings(source="table", path=path, length=LENGTH))
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    path.unlink()
    return {
        "dtype": dtype,
        "windows": len(found.train),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(busy, 2),
        "raw_megabytes": raw // 2**20,
        "peak_over_raw": round((peak() - before) / raw, 2),
    }


def main() -> None:
    """Measures and prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = windows(options.rows, options.dtype, Path(name))
    text = json.dumps(found, indent=1)
    if options.out:
        options.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
