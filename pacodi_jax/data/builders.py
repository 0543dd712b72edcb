"""TFDS builders: a catalogue file is fetched once, checked, and kept as ArrayRecord in a cache.

No TensorFlow is needed: ``file_format='array_record'`` and ``as_data_source`` do without.
"""

import io
import os
import re
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tensorflow_datasets as tfds

from pacodi_jax import files
from pacodi_jax.data import catalogue
from pacodi_jax.errors import PacodiError

_LIMIT = 1 << 30
_ROWS = 4096
_TIMEOUT = 20.0


def prepared(name: str) -> pd.DataFrame:
    """Returns a catalogue entry's table from the cache, downloading and preparing it if needed.

    Raises:
      PacodiError: if the file can neither be found nor downloaded, naming its URL, the file, the
        folder and the environment variable; or if what was downloaded is not the published file.
    """
    folder = files.cache_folder()
    builder = PacodiCatalogue(config=name, data_dir=folder, file_format="array_record")
    if not builder.is_prepared():
        file = download(name, folder / "files")
        tfds.disable_progress_bar()
        settings = tfds.download.DownloadConfig(manual_dir=file.parent)
        builder.download_and_prepare(download_dir=folder / "tfds", download_config=settings)
    entry = catalogue.CATALOGUE[name]
    blocks: list[dict[str, Any]] = list(builder.as_data_source(split="rows"))
    values = np.concatenate([block["values"] for block in blocks])
    columns: dict[str, Any] = {}
    if entry.time:
        stamps = io.BytesIO(b"".join(block["time"] for block in blocks))
        texts = pd.read_csv(stamps, header=None, names=list(entry.time), dtype=str)
        columns |= {name: texts[name] for name in entry.time}
    dtypes = builder.info.metadata["dtypes"]
    for i, (column, dtype) in enumerate(zip(entry.channels, dtypes, strict=True)):
        columns[column] = values[:, i].astype(dtype)
    return pd.DataFrame(columns)


class PacodiCatalogue(tfds.core.GeneratorBasedBuilder):
    """Rows of a catalogue entry in order, ``_ROWS`` to an example; one config for each entry."""

    VERSION = tfds.core.Version("1.0.0")
    MANUAL_DOWNLOAD_INSTRUCTIONS = "pacodi_jax.data.builders.download puts the file there."
    code_path = None  # finding it needs importlib_resources, which TFDS does not declare
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in catalogue.CATALOGUE]  # noqa: RUF012

    def _info(self) -> tfds.core.DatasetInfo:
        entry = catalogue.CATALOGUE[self.builder_config.name]
        shape = (None, len(entry.channels))
        values = tfds.features.Tensor(shape=shape, dtype=np.float64, encoding="bytes")
        features: dict[str, Any] = {"values": values}  # as bytes: records hold only float32
        if entry.time:
            features["time"] = tfds.features.Text()
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict(features),
            description=f"{entry.file}, licence: {entry.licence}",
            homepage=entry.url,
            metadata=tfds.core.MetadataDict(),
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager: Any) -> dict[str, Any]:
        entry = catalogue.CATALOGUE[self.builder_config.name]
        frame = catalogue.read(Path(dl_manager.manual_dir) / entry.file, entry)
        self.info.metadata["dtypes"] = [str(frame[c].dtype) for c in entry.channels]
        return {"rows": self._generate_examples(frame, entry)}

    def _generate_examples(
        self, frame: pd.DataFrame, entry: catalogue.Entry
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for begin in range(0, len(frame), _ROWS):
            rows = frame.iloc[begin : begin + _ROWS]
            example: dict[str, Any] = {"values": rows[list(entry.channels)].to_numpy(np.float64)}
            if entry.time:
                example["time"] = rows[list(entry.time)].to_csv(index=False, header=False)
            yield begin, example


def download(name: str, folder: Path) -> Path:
    """Fetches an entry's file into ``folder`` unless a good copy is there; returns its path."""
    entry = catalogue.CATALOGUE[name]
    target = folder / entry.file
    if not target.exists():
        data = _fetch(entry)
        data = _unzip(data, entry) if entry.url.endswith(".zip") else data
        files.write(target, lambda name: name.write_bytes(data))
    try:
        catalogue.verify(target, entry)
    except PacodiError:
        target.unlink()
        raise
    return target


def _fetch(entry: catalogue.Entry) -> bytes:
    try:
        with urllib.request.urlopen(entry.url, timeout=_TIMEOUT) as reply:
            data = reply.read(_LIMIT + 1)
    except (urllib.error.URLError, OSError) as error:
        looked = os.environ.get(catalogue.VARIABLE)
        where = f"the folder {looked} has no such file" if looked else "it is not set"
        reason = re.sub(r"^<urlopen error (.*)>$", r"\1", str(error))
        raise PacodiError(
            f"{entry.file} is not on this machine and cannot be downloaded ({reason}). Fetch "
            f"{entry.url} elsewhere, put {entry.file} into a folder and set {catalogue.VARIABLE} "
            f"to that folder ({where}), or into {files.cache_folder('files')}"
        ) from error
    if len(data) > _LIMIT:
        raise PacodiError(f"{entry.url} sends more than {_LIMIT:,} bytes; refused")
    return data


def _unzip(data: bytes, entry: catalogue.Entry) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            member = archive.getinfo(entry.file)
            if member.file_size > _LIMIT:
                raise PacodiError(f"{entry.url} claims to unpack to {member.file_size:,} bytes")
            return archive.read(member)
    except (zipfile.BadZipFile, KeyError, RuntimeError) as error:
        raise PacodiError(
            f"{entry.url} sent no archive with {entry.file} in it: {error}"
        ) from error
