"""Windows that do not fit the device: ArrayRecord on disk, read ahead by grain.

The order is the one of :mod:`pacodi_jax.data.batches`, so a streamed run sees the same batches as a
resident one.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grain
import numpy as np
from array_record.python.array_record_module import ArrayRecordWriter
from grain.sources import ArrayRecordDataSource

from pacodi_jax import files
from pacodi_jax.data import batches
from pacodi_jax.data.windows import WindowSet
from pacodi_jax.errors import PacodiError

_RECORDS, _META = "windows.array_record", "meta.json"
_BLOCK = 4096
_STEPS = 2**31 - 1


def write(windows: WindowSet, folder: str | os.PathLike[str]) -> Path:
    """Writes a window set as ArrayRecord, one window with its condition per record.

    Args:
      windows: what to write, in order.
      folder: where to; it must not exist yet, and it exists only once it is complete.

    Returns:
      The folder.
    """
    target = Path(folder)
    with files.making(target) as made:
        _write_records(windows, made)
    return target


def _write_records(windows: WindowSet, folder: Path) -> None:
    condition = windows.condition()
    width = 0 if condition is None else condition.shape[1]
    writer = ArrayRecordWriter(str(folder / _RECORDS), "group_size:1")
    for begin in range(0, len(windows), _BLOCK):
        chosen = np.arange(begin, min(begin + _BLOCK, len(windows)))
        rows = windows.take(chosen).reshape(len(chosen), -1)
        if condition is not None:
            rows = np.concatenate([rows, condition[chosen]], axis=1)
        for row in rows:
            writer.write(row.tobytes())
    writer.close()
    shape = {"count": len(windows), "length": windows.length, "channels": windows.channels}
    (folder / _META).write_text(json.dumps({**shape, "condition": width}))


class Stream:
    """Batches from a folder that :func:`write` made, read ahead by grain's threads.

    ``next(stream)`` gives windows ``(B, L, C)`` and conditions ``(B, E)`` or ``None``.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        seed: int,
        batch: int,
        host: int = 0,
        hosts: int = 1,
        threads: int = 2,
        ahead: int = 8,
    ):
        """Opens a stream.

        Args:
          folder: what :func:`write` returned.
          seed: of the order.
          batch: windows per step on this host.
          host: this process's number; it reads only its own part.
          hosts: how many processes share the windows.
          threads: that read.
          ahead: batches kept ready.
        """
        self._meta = _meta(Path(folder))
        mine = batches.part(self._meta["count"], host, hosts)
        records = ArrayRecordDataSource(str(Path(folder) / _RECORDS))
        if len(records) != self._meta["count"]:
            raise PacodiError(f"{folder} holds {len(records)} windows, not {self._meta['count']}")

        def read(step: int) -> tuple[np.ndarray, np.ndarray | None]:
            chosen = mine[batches.host_indices(seed, step, batch, len(mine))]
            return self._decode(records.__getitems__(chosen.tolist()))

        options = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=ahead)
        dataset = grain.MapDataset.range(_STEPS).map(read).to_iter_dataset(options)
        self._iterator = iter(dataset)

    def _decode(self, records: list[bytes]) -> tuple[np.ndarray, np.ndarray | None]:
        rows = np.stack([np.frombuffer(record, np.float32) for record in records])
        length, channels = self._meta["length"], self._meta["channels"]
        windows = rows[:, : length * channels].reshape(-1, length, channels)
        return windows, rows[:, length * channels :] if self._meta["condition"] else None

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        return self

    def __next__(self) -> tuple[np.ndarray, np.ndarray | None]:
        return next(self._iterator)

    def state(self) -> bytes:
        """Returns grain's iterator state, which :meth:`restore` needs to go on from here."""
        return json.dumps(self._iterator.get_state()).encode()

    def restore(self, state: bytes) -> None:
        """Goes on from where :meth:`state` was taken."""
        self._iterator.set_state(json.loads(state))


def _meta(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / _META).read_text())
    except (OSError, ValueError) as error:
        raise PacodiError(f"{folder} is not a folder of streamed windows: {error}") from error
