"""A browser opens a report and the pictures in it, and nothing that a name brought along runs."""

import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from pacodi_jax import report
from pacodi_jax.report import sections
from tests.metrics.windows import waves
from tests.report.test_page import panel

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def canary():
    """A server on loopback and what was asked of it."""
    asked = []

    class Canary(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Canary)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def _names(address):
    """Names that call the server and change the title, each in its own way."""
    owned = "document.title='owned'"
    return [
        f"<script>{owned};fetch('{address}/script')</script>",
        f'"><img src={address}/image onerror={owned}>',
        f"</style></svg></title><svg onload={owned}><image href='{address}/svg'/></svg>",
        f"<iframe srcdoc='<script>parent.{owned}</script>' src='{address}/frame'></iframe>",
        f"]]>--><link rel=stylesheet href='{address}/style'>",
        f"<meta http-equiv=refresh content='0;url={address}/refresh'>",
        f'\'><a href="javascript:{owned}" autofocus onfocus={owned}>x</a>',
    ]


def _shown(page, tmp_path):
    """The page's elements after a browser has opened it, as text."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000"]
    flags += ["--disable-dev-shm-usage", f"--user-data-dir={tmp_path / 'browser'}", "--dump-dom"]
    command = [CHROMIUM, *flags, page.absolute().as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: no browser here")
def test_nothing_of_a_hostile_name_runs_in_a_browser(tmp_path, canary):
    address, asked = canary
    names = _names(address)
    bare = tmp_path / "bare.html"
    bare.write_text(f"<title>report</title>{''.join(names)}")
    _shown(bare, tmp_path)
    assert {"/script", "/image", "/svg", "/style", "/refresh"} <= set(asked)  # where they may run
    asked.clear()
    windows = waves(30, channels=len(names))
    shown = [
        sections.examples(windows, windows, names, 0),
        sections.correlations(windows, windows, names),
    ]
    title, closed = "".join(names), tmp_path / "closed.html"
    closed.write_text(report.page.page(title, panel(title), shown))
    text = _shown(closed, tmp_path)
    text = text[text.index("<title") :]
    assert "&lt;script&gt;document.title" in text
    assert "<title>owned" not in text
    assert not [tag for tag in ("script", "img", "iframe", "link", "meta") if f"<{tag}" in text]
    # Were a name not escaped, the page's policy alone would stop it.
    opened = tmp_path / "opened.html"
    opened.write_text(closed.read_text().replace("</header>", f"</header>{''.join(names[:5])}"))
    assert "<title>owned" not in _shown(opened, tmp_path)
    assert not asked
