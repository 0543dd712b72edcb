"""Files of every kind that may come from strangers, damaged by chance, for ``fuzz_readers.py``.

Case ``n`` of a reader is always the same file.
"""

import contextlib
import io
import json
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pacodi_jax import checkpoint, data
from pacodi_jax.cli import show
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.results import Method
from pacodi_jax.report import intake, pictures
from pacodi_jax.run import folder, sealed
from pacodi_jax.text.replies import Replies

OLD = Path(__file__).parents[1] / "tests/fixtures/version_0_1/run_plain"
TOKENS = [b'"', b"\r", b"\n", b",", b";", b"\t", b"\0", b"nan", b"inf", b"1e999", b"-0", b"9" * 400]
TOKENS += [b"\xff\xfe", b"\xe2\x80\xae", b"=1+1", b"2024-13-45", b"1_000", b"0001-01-01", b"\x1b["]
TOKENS += [(2**n - 1).to_bytes(8, "little") for n in (7, 8, 15, 16, 31, 32, 62, 63, 64)]
TOKENS += [b"[" * 5000, b"{" * 5000, b"true", b"null", b"1" * 5000 + b"."]
VALUES = [None, True, -1, 0, 1, 2**31, 10**30, -1e308, 1e308, float("nan"), float("inf"), "", "x"]
VALUES += ["../../x", "/etc/passwd", "\x1b[2J", "y" * 10_000, [], {}, [[[[1]]]], {"a": {}}, [None]]
VALUES += ["UTC", "Mars/Olympus", "fortnight", "1min", "%Y", "datetime64[ns]", "category", "object"]


class Reader(NamedTuple):
    """A kind of file.

    Attributes:
      ending: of its name.
      whole: files that are read, as bytes.
      read: what the program does with it.
      spoil: makes another file of a whole one.
    """

    ending: str
    whole: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    spoil: Callable[[random.Random, bytes], bytes]


def damaged(rng: random.Random, raw: bytes) -> bytes:
    """Bytes with one to four of them, or of their runs, changed."""
    for _ in range(rng.randint(1, 4)):
        at, to = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
        to = min(to, at + rng.choice((1, 8, 100, len(raw))))
        put = rng.choice((b"", rng.randbytes(to - at), rng.choice(TOKENS), raw[at:to] * 2))
        raw = raw[:at] + put + raw[to if rng.random() < 0.7 else at :]
        raw = raw[: rng.randrange(len(raw) + 1)] if rng.random() < 0.05 else raw
    return raw


def edited(rng: random.Random, tree: Any) -> Any:
    """A JSON value with one to three places changed."""
    for _ in range(rng.randint(1, 3)):
        at = rng.choice(list(_places(tree)))
        container, key = at
        if rng.random() < 0.2:
            del container[key]
        elif rng.random() < 0.2 and isinstance(container, list):
            container.append(container[key])
        else:
            container[key] = rng.choice(VALUES)
        if not tree:
            return tree
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key in tree if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _places(tree[key])


def _of_json(rng: random.Random, raw: bytes) -> bytes:
    if rng.random() < 0.2:
        return damaged(rng, raw)
    return json.dumps(edited(rng, json.loads(raw))).encode()


def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    stamps = pd.date_range("2024-03-01", periods=60, freq="h", tz="Europe/Paris")
    frame = pd.DataFrame({"t": stamps, "x": rng.normal(size=60).round(3)})
    return frame.assign(n=rng.integers(0, 9, 60), on=rng.random(60) < 0.5, grade="high")


def _tables(ending: str) -> Callable[[], list[bytes]]:
    frames = [_frame(), _frame()[["x", "n"]], _frame().assign(x=_frame().x.where(_frame().n > 0))]

    def whole() -> list[bytes]:
        with tempfile.TemporaryDirectory() as place:
            return [
                data.writing.write_table(f, Path(place, f"t{ending}")).read_bytes() for f in frames
            ]

    return whole


def _arrays(save: Callable[..., None]) -> Callable[[], list[bytes]]:
    def whole() -> list[bytes]:
        files = []
        for array in (np.arange(80.0).reshape(40, 2), np.ones((9, 8, 2), np.float32)):
            save(file := io.BytesIO(), array)
            files.append(file.getvalue())
        return files

    return whole


def _read_table(path: Path) -> None:
    """Both ways to read windows: to train, with stamps and without, and to judge."""
    errors, whole = [], {"length": 4, "fractions": (1, 0, 0)}
    for settings in ({}, {"time": "t"}, {"time": "t", "static": ["grade"]}):
        try:
            found = data.load(data.DataSettings(source="table", path=path, **whole, **settings))
            found.train.take([0])
        except PacodiError as error:
            errors.append(error)
    try:
        intake.read_windows(path, "real", 4)
    except PacodiError as error:
        errors.append(error)
    if len(errors) == 4:
        raise errors[0]


def _sealed() -> list[bytes]:
    with tempfile.TemporaryDirectory() as place:
        return [sealed.write(folder.load(OLD), Path(place, "m.pacodi")).read_bytes()]


def _resealed(rng: random.Random, raw: bytes) -> bytes:
    """A model whose header or arrays were edited under an intact seal."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "m.pacodi")
        path.write_bytes(raw)
        stored = checkpoint.load(path)
        edited(rng, stored.header)
        if rng.random() < 0.3:
            container, key = rng.choice(list(_places(stored.arrays)))
            if isinstance(container[key], np.ndarray):
                container[key] = rng.choice((np.zeros(3, np.float32), container[key] * np.nan))
        return checkpoint.save(path, stored).read_bytes()


def _read_beside(name: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        with tempfile.TemporaryDirectory() as place:
            run = shutil.copytree(OLD, Path(place, "run"))
            shutil.copy(path, run / name)
            return folder.load(run)

    return read


def _file_of_run(name: str) -> Callable[[], list[bytes]]:
    return lambda: [(OLD / name).read_bytes()]


_LINES = [b'{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.4, "validation": 1.0}\n' * 3]
_BOUND = {"value": 0.1, "interval": [0.0, 0.2], "values": [0.1], "windows": 9}
_SCORE = {"name": "fid", "title": "FID", "about": "x", "group": "paper", "better": "lower"}
_SCORE |= {"split": "train", **_BOUND, "seeds": [0], "floor": _BOUND, "ceiling": _BOUND}
_SCORE |= {"position": 0.5, "above_floor": True, "word": "good"}
_METHOD = dict.fromkeys(list(Method.__dataclass_fields__), 1) | {"seeds": [0]}
_SIDE = {"windows": 9, "length": 4, "channels": 1, "fingerprint": "x"}
_SIDES = {"real": _SIDE, "synthetic": _SIDE, "held_out": None, "channels": ["a"]}
_PANEL = {"schema": 1, "protocol": "honest", "verdict": ["a"], "data": _SIDES, "settings": _METHOD}
_PANEL |= {"scores": [_SCORE, _SCORE | {"split": "held_out"}], "seconds": 1.0, "model": {}}
_REPLIES = [b'{"key": "a", "reply": "b"}\n{"key": "c", "reply": "d"}\n']
READERS = {
    kind: Reader(f".{kind}", _tables(f".{kind}"), _read_table, damaged)
    for kind in ("csv", "tsv", "csv.gz", "parquet")
}
READERS |= {
    "npy": Reader(".npy", _arrays(np.save), _read_table, damaged),
    "npz": Reader(".npz", _arrays(np.savez), _read_table, damaged),
    "pacodi": Reader(".pacodi", _sealed, folder.load, damaged),
    "resealed": Reader(".pacodi", _sealed, folder.load, _resealed),
    "config": Reader(".json", _file_of_run("config.json"), _read_beside("config.json"), _of_json),
    "recipe": Reader(".json", _file_of_run("recipe.json"), _read_beside("recipe.json"), _of_json),
    "scores": Reader(".json", lambda: [json.dumps(_PANEL).encode()], show.read_scores, _of_json),
    "metrics": Reader(
        ".jsonl", lambda: _LINES, lambda p: pictures.loss_curve(p, p.with_suffix(".png")), damaged
    ),
    "replies": Reader(".jsonl", lambda: _REPLIES, Replies, damaged),
}


def case(reader: Reader, name: str, number: int, whole: list[bytes]) -> bytes:
    """File ``number`` of a reader."""
    rng = random.Random(f"{name} {number}")
    return reader.spoil(rng, rng.choice(whole))


def outcome(reader: Reader, path: Path) -> str:
    """``read``, ``refused``, or what else came of a file."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            reader.read(path)
            return "read"
        except PacodiError as error:
            return (
                "refused" if len(str(error)) <= PacodiError.LONGEST else f"long: {str(error)[:100]}"
            )
        except BaseException as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
