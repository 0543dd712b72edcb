"""A web service on loopback whose answers a test writes down beforehand."""

import contextlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import numpy as np
import pytest

from pacodi_jax.text import properties
from pacodi_jax.text.service import Service


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
def statistics(windows) -> properties.Statistics:
    return properties.fit(windows)
