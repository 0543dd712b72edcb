"""A web service on loopback that answers as a test says, and small models that tests share."""

import contextlib
import csv
import io
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.configs import text as text_config
from pacodi_jax.text import captions, properties
from pacodi_jax.text.service import Service
from pacodi_jax.train.display import Terminal
from pacodi_jax.train.from_config import train
from tests.compiling import compiling_quickly
from tests.text.runs import LENGTH, made, service, settings, tiny


class Reply(NamedTuple):
    """One answer: a JSON value or raw bytes.

    ``hang`` says nothing until the test is over, ``close`` hangs up without a word, and ``drip``
    sends a byte every so many seconds.
    """

    body: Any = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    hang: bool = False
    cut: bool = False
    close: bool = False
    drip: float = 0.0


class Loopback:
    """Answers requests in turn from ``replies``; the last one, or a function, serves for ever."""

    def __init__(self):
        self.replies: list[Reply] = []
        self.answer: Callable[[str, dict], Reply] | None = None
        self.requests: list[tuple[str, dict, dict]] = []
        self.pauses: list[float] = []
        self.over = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def service(self, **options) -> Service:
        return Service(self.url, wait=self.pauses.append, **{"timeout": 20.0, **options})

    def _handler(self):
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.requests.append((self.path, dict(self.headers), body))
                if owner.answer is not None:
                    reply = owner.answer(self.path, body)
                else:
                    reply = owner.replies.pop(0) if len(owner.replies) > 1 else owner.replies[0]
                if reply.hang:
                    owner.over.wait(30)
                    return
                if reply.close:
                    return
                raw = (
                    reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                )
                self.send_response(reply.status)
                for name, value in reply.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                if reply.drip:
                    self._drip(raw, reply.drip)
                else:
                    self.wfile.write(raw[: len(raw) // 2] if reply.cut else raw)

            def _drip(self, raw, pause):
                with contextlib.suppress(OSError):  # whoever asked may have gone
                    for place in range(len(raw)):
                        time.sleep(pause)
                        self.wfile.write(raw[place : place + 1])

        return Handler


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    """Every test begins without kept vectors."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty_cache"))


@pytest.fixture
def loopback(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = Loopback()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.over.set()
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def waves(count: int, length: int = 24, seed: int = 0) -> np.ndarray:
    """Windows ``(count, length)`` of drifting noisy waves: every fact occurs among them."""
    draw = np.random.default_rng(seed)
    time = np.linspace(0.0, 1.0, length)
    cycles, phase = draw.uniform(0.3, 4.0, (count, 1)), draw.uniform(0.0, 7.0, (count, 1))
    wave = draw.gamma(2.0, 0.5, (count, 1)) * np.sin(2 * np.pi * cycles * time + phase)
    slope, level = draw.normal(0.0, 2.0, (count, 1)), draw.normal(0.0, 2.0, (count, 1))
    noise = draw.gamma(1.0, 0.1, (count, 1)) * draw.normal(size=(count, length))
    return level + slope * (time - 0.5) + wave + noise


@pytest.fixture(scope="session")
def windows() -> np.ndarray:
    return waves(400)


@pytest.fixture(scope="session")
def yardsticks(windows) -> properties.Yardsticks:
    return properties.fit(windows)


def write_fragments(path, count: int = 80) -> list[str]:
    """Writes captioned waves in TSFragment-600K's format; rows 3 and 7 are malformed."""
    windows = waves(count, LENGTH)
    known = properties.fit(windows)
    texts = [captions.caption(w, seed, yardsticks=known) for seed, w in enumerate(windows)]
    rows = [[text, service(text), w.tolist()] for text, w in zip(texts, windows, strict=True)]
    rows[2][2] = rows[2][2][:-1]
    rows[6][1] = [float("nan"), *rows[6][1][1:]]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["Text", "TextEmbedding", "OT"], *rows])
    return texts


@pytest.fixture(scope="session")
def fragments(tmp_path_factory):
    """A model trained on a file of TSFragment's kind: its folder and file, its texts."""
    folder = tmp_path_factory.mktemp("fragments")
    path = folder / f"embedding_cleaned_ETTh1_{LENGTH}.csv"
    texts = write_fragments(path)
    with contextlib.redirect_stdout(io.StringIO()) as said, compiling_quickly():
        train(tiny(settings(path), 30), folder / "run", display=Terminal())
    (folder / "said").write_text(said.getvalue())
    return folder / "run", path, texts


@pytest.fixture(scope="session")
def captioned(tmp_path_factory):
    """A model trained on captions that were written here, of one column of a user's table."""
    folder = tmp_path_factory.mktemp("captioned")
    frame = pd.DataFrame({"value": waves(1, 200)[0]})
    frame.to_csv(folder / "value.csv", index=False)
    source = {"data.source": "table", "data.path": str(folder / "value.csv")}
    changes = source | {"data.channels": ("value",), "text.width": 64}
    config = made(text_config.get_config("size=tiny,encoder=hashed"), changes)
    with compiling_quickly():
        train(tiny(config, 30), folder / "run")
    return folder / "run"
