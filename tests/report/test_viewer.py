"""The page of ``pacodi show`` as text: self-contained, escaped, rounded and bounded."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from pacodi_jax.report import viewer
from pacodi_jax.report.viewer import Content, Fans, Line, payload
from tests.metrics.windows import waves

HOSTILE = (
    '"><script>alert(1)</script>',
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "&lt;b&gt;\u2028'",
)


def content(names=("load", "wind"), windows=60, length=24, **changes):
    """Everything a page can show, of waves."""
    real = waves(windows, length=length, channels=len(names))
    made = waves(windows, length=length, channels=len(names), seed=1)
    whole = real.reshape(-1, len(names))
    fans = Fans(real[:3], np.stack([made[:5, length // 2 :]] * 3), ["a", "b", "c"], "held-out")
    given = {
        "real": real,
        "whole": Line(whole, [f"2027-01-01 {i:05}" for i in range(len(whole))]),
        "beside": Line(whole, None),
        "fans": fans,
        "evaluate": "pacodi …",
        "facts": {"steps": 30, "channels": list(names), "encoder": ""},
    }
    return Content("of waves", "", tuple(names), made, **(given | changes))


class Seen(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.policy = [], [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        given = dict(attributes)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]

    def handle_data(self, data):
        if self.lasttag == "script":
            self.scripts.append(data)


def test_names_that_are_code_are_only_text():
    page = viewer.page(content(HOSTILE)._replace(title=HOSTILE[0], label=HOSTILE[1]))
    seen = Seen(page)
    assert seen.tags.count("script") == 2
    assert "img" not in seen.tags
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert tuple(json.loads(seen.scripts[0])["channels"]) == HOSTILE


def test_only_the_packaged_script_may_run_and_nothing_is_fetched():
    seen = Seen(viewer.page(content()))
    script = seen.scripts[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in seen.policy
    assert "default-src 'none'" in seen.policy
    assert "connect-src" not in seen.policy
    assert not [value for _, value in seen.attributes if value and re.match(r"(https?:)?//", value)]


@pytest.mark.parametrize(("length", "channels"), [(24, 3), (4000, 2), (16, 300), (9000, 40)])
def test_a_page_stays_small_however_much_there_is(length, channels):
    names = [f"channel {i}" for i in range(channels)]
    page = viewer.page(content(names, windows=8 if length > 100 else 200, length=length))
    assert len(page) < 4_000_000


def test_numbers_are_rounded_to_a_ten_thousandth_of_the_range():
    values = np.stack([np.linspace(0, 1e-6, 50), np.linspace(1e9, 1e9 + 7, 50)], -1)
    places = payload.decimals([values])
    for channel in range(2):
        told = payload.rounded(values[:, channel], places[channel])
        reach = np.ptp(values[:, channel])
        assert np.abs(np.array(told) - values[:, channel]).max() <= reach / 10_000
        assert len(str(told[7])) < 18


def test_missing_values_are_null():
    assert payload.rounded(np.array([1.25, np.nan, -np.inf]), 1) == [1.2, None, None]
    gap = np.array([[np.nan], [1.0]])
    assert payload.line(Line(gap, None), [2])["values"] == [[None, 1.0]]


def test_the_nearest_real_window_is_the_one_that_was_copied():
    given = content()
    copied = given.real[[17, 3, 40]]
    assert payload.nearest_rows(given.real, copied + 1e-4).tolist() == [17, 3, 40]


def test_bands_are_quantiles_of_the_draws():
    draws = np.arange(1.0, 20.0)[None, :, None, None]
    truth = np.zeros((1, 2, 1))
    found = payload.fans(Fans(truth, draws, None, "training"), [3])
    assert [band[0] for band in found["bands"][0][0]] == [2, 5, 10, 15, 18]


def test_what_is_missing_is_left_out_and_said():
    page = viewer.page(
        content(real=None, whole=None, beside=None, fans=None, notes=("no data are at hand",))
    )
    assert "no data are at hand" in page
    for place in ("real-window", "series-charts", "fan"):
        assert f'id="{place}"' not in page
    assert "No evaluation is kept" in page
    assert "pacodi …" in page
