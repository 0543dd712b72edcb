"""Reads damaged files of every kind that may come from strangers (fuzz_files.py).

    python benchmarks/fuzz_readers.py --out DIR [--minutes 10] [--only csv,npy] [--first 0]

Each must be read, or refused by a PacodiError, within 10 seconds and 500 MB plus twice the file.
What is not is kept in DIR/failed; DIR/fuzz.json has the counts.
"""

import argparse
import gc
import json
import multiprocessing
import os
import signal
import sys
import time
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import fuzz_files
from absl import logging

SECONDS, BYTES = 10, 500 * 10**6
KEYS = ("cases", "read", "refused", "failed")


def memory(field: str) -> int:
    """Bytes of this process, as ``/proc/self/status`` calls them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def work(name: str, first: int, end: float, place: Path, told: Connection) -> None:
    """Reads cases and tells ``(number, outcome, seconds, bytes)`` of each; dies of a hang."""
    reader, whole = fuzz_files.READERS[name], fuzz_files.READERS[name].whole()
    logging.set_verbosity(logging.FATAL)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    path = place / f"case{reader.ending}"
    gc.freeze()
    for number in count(first):
        if time.monotonic() > end:
            return
        path.write_bytes(fuzz_files.case(reader, name, number, whole))
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
        before, start = memory("VmRSS"), time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        found = fuzz_files.outcome(reader, path)
        signal.setitimer(signal.ITIMER_PROF, 0)
        seconds, taken = time.process_time() - start, memory("VmHWM") - before
        if taken > BYTES + 2 * path.stat().st_size:
            found = f"memory: {taken / 1e6:.0f} MB"
        told.send((number, found, seconds, taken))


def run(name: str, first: int, seconds: float, out: Path) -> dict[str, object]:
    """Reads cases of one kind for so many seconds, in children that may die."""
    end, number = time.monotonic() + seconds, first
    total = {**dict.fromkeys(KEYS, 0), "slowest_s": 0.0, "most_MB": 0.0, "faults": []}
    fork = multiprocessing.get_context("fork")
    while time.monotonic() < end:
        here, there = fork.Pipe(duplex=False)
        child = fork.Process(target=work, args=(name, number, end, out, there))
        child.start()
        there.close()
        try:
            while True:
                number, found, took, taken = here.recv()
                _count(total, name, number, found, took, taken, out)
                number += 1
        except EOFError:
            child.join()
        if child.exitcode:
            _count(total, name, number, f"died: {child.exitcode}", SECONDS, 0, out)
            number += 1
    return {"first": first, "last": number - 1, **total}


def _count(total, name, number, found, took, taken, out) -> None:
    kind = found if found in KEYS else "failed"
    total["cases"] += 1
    total[kind] += 1
    total["slowest_s"] = round(max(total["slowest_s"], took), 2)
    total["most_MB"] = round(max(total["most_MB"], taken / 1e6), 1)
    if kind == "failed":
        total["faults"].append({"number": number, "outcome": found})
        reader = fuzz_files.READERS[name]
        kept = out / "failed" / f"{name}-{number}{reader.ending}"
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(fuzz_files.case(reader, name, number, reader.whole()))
        print(f"{kept}: {found}", flush=True)


def main() -> None:
    """Reads the flags and fuzzes each kind in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", default=",".join(fuzz_files.READERS))
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    names, results = options.only.split(","), {}
    for name in names:
        results[name] = run(name, options.first, options.minutes * 60 / len(names), options.out)
        print(
            name, json.dumps({k: v for k, v in results[name].items() if k != "faults"}), flush=True
        )
        (options.out / "fuzz.json").write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(any(result["failed"] for result in results.values()))


if __name__ == "__main__":
    main()
