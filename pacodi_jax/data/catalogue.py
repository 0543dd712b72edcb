"""The catalogue of public data sets: where each lives, what it must hold, and who may use it."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from pacodi_jax.data import files
from pacodi_jax.errors import PacodiError

#: The environment variable that names a folder of data files.
VARIABLE = "PACODI_DATA_DIR"

_ETT = "https://raw.githubusercontent.com/zhouhaoyi/ETDataset/main/ETT-small/"
_GAN = "https://raw.githubusercontent.com/jsyoon0823/TimeGAN/master/data/"
_LAI = "https://raw.githubusercontent.com/laiguokun/multivariate-time-series-data/master/"
_UCI = "https://archive.ics.uci.edu/static/public/360/air+quality.zip"
_LOADS = ("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT")
_PRICES = ("Open", "High", "Low", "Close", "Adj_Close", "Volume")
_AIR = (
    "CO_GT,PT08_S1_CO,NMHC_GT,C6H6_GT,PT08_S2_NMHC,NOx_GT,PT08_S3_NOx,NO2_GT,PT08_S4_NO2,"
    "PT08_S5_O3,T,RH,AH"
)
_ENERGY = (
    "Appliances,lights,T1,RH_1,T2,RH_2,T3,RH_3,T4,RH_4,T5,RH_5,T6,RH_6,T7,RH_7,T8,RH_8,T9,RH_9,"
    "T_out,Press_mm_hg,RH_out,Windspeed,Visibility,Tdewpoint,rv1,rv2"
)


class Entry(NamedTuple):
    """A data set of the catalogue.

    Attributes:
      file: the file's name, in ``PACODI_DATA_DIR`` and in the cache.
      url: its public home.
      digest: ``sha256:…``, or ``git:…``, the SHA-1 under which git stores the file.
      licence: of the data.
      rows: how many rows it must have.
      channels: the columns that are numbers, in order.
      time: the columns that hold the time stamp.
      header: whether its first line names the columns.
      frequency: of its rows.
      missing: a number that means "no value".
      sparse: channels with too few values to model, left out unless they are asked for.
      original: how another published form of the file begins, whose digest is not known.
    """

    file: str
    url: str
    digest: str
    licence: str
    rows: int
    channels: tuple[str, ...]
    time: tuple[str, ...] = ()
    header: bool = True
    frequency: str = ""
    missing: float | None = None
    sparse: tuple[str, ...] = ()
    original: bytes = b""


def _ett(name: str, digest: str, rows: int, frequency: str) -> Entry:
    file = f"{name}.csv"
    return Entry(
        file, _ETT + file, digest, "CC BY-ND 4.0", rows, _LOADS, ("date",), frequency=frequency
    )


CATALOGUE: Mapping[str, Entry] = {
    "etth1": _ett(
        "ETTh1",
        "sha256:f18de3ad269cef59bb07b5438d79bb3042d3be49bdeecf01c1cd6d29695ee066",
        17420,
        "h",
    ),
    "etth2": _ett(
        "ETTh2",
        "sha256:a3dc2c597b9218c7ce1cd55eb77b283fd459a1d09d753063f944967dd6b9218b",
        17420,
        "h",
    ),
    "ettm1": _ett("ETTm1", "git:62c9f979e2dc5b05d9cc5b38891e60e6baf77417", 69680, "15min"),
    "ettm2": _ett("ETTm2", "git:f9d46027c987d442d2d8f81308d1d8c4d1d35db8", 69680, "15min"),
    "ecl": Entry(
        "electricity.txt.gz",
        _LAI + "electricity/electricity.txt.gz",
        "git:df158a9fff65428ece107200432a72c992d5e4e9",
        "CC BY 4.0 (UCI ElectricityLoadDiagrams20112014)",
        26304,
        tuple(f"c{i}" for i in range(321)),
        header=False,
        frequency="h",
    ),
    "exchange": Entry(
        "exchange_rate.txt.gz",
        _LAI + "exchange_rate/exchange_rate.txt.gz",
        "sha256:6a4fbb561dcdee43f071a83badbeec9223a335552278348656738b556f1c2e9d",
        "not stated",
        7588,
        tuple(f"c{i}" for i in range(8)),
        header=False,
        frequency="D",
    ),
    "air": Entry(
        "AirQualityUCI.csv",
        _UCI,
        "sha256:5d04e790353ece1e263ad4251c6c285c076cbc55aaa0cb70e06214e1a265ec15",
        "CC BY 4.0 (UCI Air Quality)",
        9357,
        tuple(_AIR.split(",")),
        ("Date", "Time"),
        frequency="h",
        missing=-200,
        sparse=("NMHC_GT",),
        original=b"Date;Time;",
    ),
    "stocks": Entry(
        "stock_data.csv",
        _GAN + "stock_data.csv",
        "sha256:134b8a00eb4eefa3242dd7ae85144082da80dedf75a1a656d5d08f97cd95277a",
        "not stated",
        3685,
        _PRICES,
        frequency="B",
    ),
    "energy": Entry(
        "energy_data.csv",
        _GAN + "energy_data.csv",
        "git:d2d29d1053b6a0f5ee44316e2aa3ab8e8ff6e7a0",
        "CC BY 4.0 (UCI Appliances Energy Prediction)",
        19735,
        tuple(_ENERGY.split(",")),
        frequency="10min",
    ),
}


def locate(name: str, path: str | os.PathLike[str] | None) -> Path | None:
    """Returns the file of a catalogue entry if it is on this machine, checked, else ``None``.

    Args:
      name: the entry.
      path: the file, or a folder that holds it; without it ``PACODI_DATA_DIR`` is looked in.

    Raises:
      PacodiError: if ``path`` leads nowhere or the file is not the published one.
    """
    entry = CATALOGUE[name]
    folder = path or os.environ.get(VARIABLE)
    if not folder:
        return None
    found = Path(folder).expanduser()
    if found.is_dir():
        found = found / entry.file
        if not path and not found.exists():
            return None
    elif not path:
        raise PacodiError(f"{VARIABLE}={folder} is not a folder; point it at one with {entry.file}")
    files.check(found)
    verify(found, entry)
    return found


def verify(path: Path, entry: Entry) -> None:
    """Refuses a file that is not, byte for byte, the published one."""
    data = path.read_bytes()
    if entry.original and data.startswith(entry.original):
        return
    method, expected = entry.digest.split(":")
    if method == "git":
        found = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    else:
        found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise PacodiError(
            f"{path} has the wrong checksum: {entry.digest.split(':')[0]} {found}, expected "
            f"{expected}. Fetch it again from {entry.url}, or load it as source='table'"
        )


def read(path: Path, entry: Entry) -> pd.DataFrame:
    """Reads an entry's file and makes sure that it has the rows and columns it must have."""
    frame = files.read_table(path, header=entry.header)
    frame.columns = pd.Index([re.sub(r"\W+", "_", str(c)).strip("_") for c in frame.columns])
    expected = [*entry.time, *entry.channels]
    if list(frame.columns) != expected or len(frame) != entry.rows:
        raise PacodiError(
            f"{path} has {len(frame)} rows and the columns {', '.join(frame.columns[:20])}; "
            f"expected {entry.rows} rows of {', '.join(expected[:20])}"
        )
    return frame
