"""Headless Chromium, driven over the WebDriver protocol by the standard library alone."""

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Where they are not installed: ``apt-get install chromium chromium-driver``.
DRIVER = shutil.which("chromedriver")
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None
)
_ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--mute-audio",
]


class Browser:
    """One window of a browser."""

    def __init__(self, port: int) -> None:
        self._root = f"http://127.0.0.1:{port}"
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": BROWSER, "args": _ARGUMENTS},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._root += f"/session/{made['sessionId']}"

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._root + path, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def open(self, page: Path) -> None:
        """Loads a file, without any network."""
        self.protocol(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )
        self._ask("POST", "/url", {"url": page.resolve().as_uri()})

    def protocol(self, command: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script of the test returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def log(self) -> list[str]:
        """Everything in the console since the last call."""
        return [line["message"] for line in self._ask("POST", "/se/log", {"type": "browser"})]

    def _element(self, selector: str) -> str:
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        return f"/element/{next(iter(found.values()))}"

    def click(self, selector: str) -> None:
        """Clicks as a person does: refused if something lies over it."""
        self._ask("POST", self._element(selector) + "/click", {})

    def type(self, selector: str, keys: str) -> None:
        """Presses keys with the focus on an element."""
        self._ask("POST", self._element(selector) + "/value", {"text": keys})

    def drag(self, selector: str, begin: float, end: float) -> None:
        """Drags the mouse over an element, from one share of its width to another."""
        box = self.run(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'});"
            "const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]",
            selector,
        )
        places = [
            (int(box[0] + share * box[2]), int(box[1] + box[3] / 2)) for share in (begin, end)
        ]
        moves = [{"type": "pointerMove", "x": x, "y": y, "duration": 20} for x, y in places]
        steps = [
            moves[0],
            {"type": "pointerDown", "button": 0},
            moves[1],
            {"type": "pointerUp", "button": 0},
        ]
        mouse = {
            "type": "pointer",
            "id": "mouse",
            "parameters": {"pointerType": "mouse"},
            "actions": steps,
        }
        self._ask("POST", "/actions", {"actions": [mouse]})

    def size(self, width: int, height: int = 900) -> None:
        """The size of the screen."""
        self.protocol(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def dark(self, wanted: bool) -> None:
        """Whether the reader prefers dark pages; nothing moves slowly in either."""
        wishes = {
            "prefers-color-scheme": "dark" if wanted else "light",
            "prefers-reduced-motion": "reduce",
        }
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.protocol("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path) -> Path:
        """A picture of the whole page."""
        shot = self.protocol("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def close(self) -> None:
        """Ends the browser."""
        self._ask("DELETE", "")


@contextlib.contextmanager
def browsing() -> Iterator[Browser]:
    """A browser for the time of some tests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([str(DRIVER), f"--port={port}"], stdout=subprocess.DEVNULL) as driver:
        try:
            _wait(port)
            browser = Browser(port)
            try:
                yield browser
            finally:
                browser.close()
        finally:
            driver.terminate()


def _wait(port: int) -> None:
    """Waits until the driver answers."""
    for _ in range(300):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("chromedriver does not answer")
