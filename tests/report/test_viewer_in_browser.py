"""The page of ``pacodi show`` in headless Chromium: it loads without a word in the console, and
every control does what it says. Skipped where ``chromium`` and ``chromedriver`` are not installed.
"""

import pytest

from pacodi_jax.report import viewer
from tests.browser import BROWSER, DRIVER, browsing
from tests.report.test_viewer import HOSTILE, content

pytestmark = pytest.mark.skipif(
    not (DRIVER and BROWSER), reason="chromium and chromedriver are not installed"
)
NAMES = ("load", *HOSTILE)
WIDTHS = (320, 380, 768, 1280, 1920)


@pytest.fixture(scope="module")
def browser():
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("viewer") / "show.html"
    place.write_text(viewer.page(content(NAMES)), encoding="utf-8")
    return place


@pytest.fixture
def page(browser, path):
    """The page as it is when it was just opened; nothing may be in the console at the end."""
    browser.size(1280)
    browser.dark(False)
    browser.open(path)
    assert browser.run("return document.documentElement.dataset.ready") == "yes"
    yield browser
    assert browser.log() == []


def words(page, place):
    return page.run(f"return document.getElementById('{place}').textContent")


def drawn(page, place, selector=".line"):
    """The pictures in a place, as paths."""
    return page.run(
        f"return [...document.querySelectorAll('#{place} {selector}')]"
        ".map(x => x.getAttribute('d'))"
    )


def test_every_picture_is_drawn(page):
    for place in ("real-window", "synthetic-window", "synthetic-series", "real-series", "fan"):
        assert all(path and "NaN" not in path for path in drawn(page, place)), place
        assert drawn(page, place)
    for place in ("power", "lags", "shares"):
        assert len(drawn(page, place)) == 2


def test_previous_next_and_the_slider_leaf_through_windows(page):
    assert "Window 1 of 40" in words(page, "window-words")
    first = drawn(page, "synthetic-window", ".bold")
    page.click("#next")
    assert "Window 2 of 40" in words(page, "window-words")
    assert drawn(page, "synthetic-window", ".bold") != first
    page.click("#previous")
    page.click("#previous")
    assert "Window 40 of 40" in words(page, "window-words")
    page.type("#window", "\ue011")  # Home
    assert drawn(page, "synthetic-window", ".bold") == first
    page.type("#window", "\ue014")  # the right arrow
    assert "Window 2 of 40" in words(page, "window-words")


def test_the_nearest_real_window_is_shown_on_request(page):
    before = drawn(page, "real-window", ".bold")
    page.click("#pair-nearest")
    assert "nearest real" in words(page, "window-words")
    assert drawn(page, "real-window", ".bold") != before
    page.click("#pair-any")
    assert drawn(page, "real-window", ".bold") == before


@pytest.mark.parametrize("number", range(1, len(NAMES)))
def test_the_channel_changes_every_picture_and_its_name_is_text(page, number):
    places = ("real-window", "synthetic-window", "synthetic-series", "real-series", "fan", "power")
    before = [drawn(page, place) for place in places]
    page.run(
        "const box = document.getElementById('channel'); box.value = arguments[0];"
        "box.dispatchEvent(new Event('change'))",
        number,
    )
    assert all(drawn(page, place) != old for place, old in zip(places, before, strict=True))
    assert NAMES[number].replace("\u2028", "") in words(page, "series-words").replace("\u2028", "")
    assert page.run("return document.images.length") == 0


def test_buttons_zoom_and_move_the_whole_series(page):
    total = "1440 of 1440 steps"
    assert total in words(page, "series-words")
    assert page.run("return document.getElementById('zoom-out').disabled")
    page.click("#zoom-in")
    assert "720 of 1440 steps, from 2027-01-01 00360" in words(page, "series-words")
    page.click("#later")
    assert "from 2027-01-01 00720" in words(page, "series-words")
    page.click("#earlier")
    page.click("#earlier")
    assert "from 2027-01-01 00000" in words(page, "series-words")
    assert page.run("return document.getElementById('earlier').disabled")
    page.type("#place", "\ue010")  # End
    assert "to 2027-01-01 01439" in words(page, "series-words")
    page.click("#zoom-out")
    assert total in words(page, "series-words")
    page.click("#zoom-in")
    page.click("#whole")
    assert total in words(page, "series-words")
    for _ in range(12):
        page.run("document.getElementById('zoom-in').click()")
    assert "8 of 1440 steps" in words(page, "series-words")


def test_keys_zoom_and_move_the_whole_series(page):
    page.type("#series-charts", "+")
    assert "720 of 1440" in words(page, "series-words")
    page.type("#series-charts", "\ue012")  # the left arrow: a quarter of what is seen
    assert "from 2027-01-01 00180" in words(page, "series-words")
    page.type("#series-charts", "\ue010")
    assert "to 2027-01-01 01439" in words(page, "series-words")
    page.type("#series-charts", "-")
    page.type("#series-charts", "+0")
    assert "1440 of 1440" in words(page, "series-words")


def test_a_drag_zooms_into_what_was_dragged_over(page):
    page.drag("#synthetic-series svg", 0.25, 0.5)
    count = int(words(page, "series-words").split(": ")[1].split()[0])
    assert 300 < count < 450


def test_forecasts_turn_and_show_what_is_ticked(page):
    assert "Forecast 1 of 3" in words(page, "fan-words")
    assert "12 values that came" in words(page, "fan-words")
    page.click("#fan-next")
    assert "Forecast 2 of 3" in words(page, "fan-words")
    page.click("#fan-previous")
    page.click("#fan-previous")
    assert "Forecast 3 of 3, load, from c" in words(page, "fan-words")
    page.type("#fan-number", "\ue011")
    assert "Forecast 1 of 3" in words(page, "fan-words")
    assert len(drawn(page, "fan", ".thin")) == 0
    page.click("#show-draws")
    assert len(drawn(page, "fan", ".thin")) == 5
    assert len(drawn(page, "fan", ".dotted")) == 1
    page.click("#show-truth")
    assert len(drawn(page, "fan", ".dotted")) == 0


def test_the_pointer_reads_values(page):
    page.run("document.querySelector('#synthetic-window').scrollIntoView({behavior: 'instant'})")
    page.run(
        "const s = document.querySelector('#synthetic-window svg'), r = s.getBoundingClientRect();"
        "s.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + r.width / 2}))"
    )
    hint = page.run("return document.querySelector('#synthetic-window .hint').textContent")
    assert hint.startswith("step 1")
    assert "synthetic 0." in hint
    page.run(
        "document.querySelector('#synthetic-window svg').dispatchEvent(new Event('pointerleave'))"
    )
    assert not page.run("return document.querySelector('#synthetic-window .hint').textContent")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_screen(page, width):
    page.size(width)
    page.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.run("return document.documentElement.scrollWidth") <= width
    wide = page.run("return document.querySelector('#synthetic-series svg').viewBox.baseVal.width")
    assert 0.5 * min(width, 1152) < wide < min(width, 1152)


def test_colours_follow_the_reader(page):
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = page.run(colour)
    page.dark(True)
    assert page.run(colour) != light
    page.dark(False)


def test_every_control_has_a_name_and_a_size_for_fingers(page):
    page.size(380)
    nodes = page.protocol("Accessibility.getFullAXTree")["nodes"]
    kinds = {"button", "slider", "radio", "checkbox", "combobox"}
    named = [n["name"]["value"] for n in nodes if n.get("role", {}).get("value") in kinds]
    assert len(named) == 17
    assert all(named)
    assert len(set(named)) == 17
    small = page.run(
        "return [...document.querySelectorAll('button, select, label, input[type=range]')]"
        ".filter(x => x.getBoundingClientRect().height < 32).map(x => x.id || x.textContent)"
    )
    assert small == []
