"""The report: self-contained, escaped, whole or not at all."""

import re
from html.parser import HTMLParser

import pytest

from pacodi_jax import report
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics import Panel
from pacodi_jax.metrics.audit import audit
from pacodi_jax.metrics.results import Method, Side, Sides
from pacodi_jax.report import pictures, sections, tables
from tests.metrics.windows import waves


def panel(name="judge"):
    side = Side(1, 2, 3, name)
    method = Method((0,), 1, 1, 1, 1, 1, name, 1, 1, 1, name, name)
    return Panel(name, (), method, Sides(side, side, side, (name,) * 4), (name,), seconds=1.0)


@pytest.mark.parametrize("name", ["x", '"><script>alert(1)</script>'])
def test_names_from_files_are_escaped(name):
    page = report.page.page(name, panel(name), [])
    assert page.count(name) == (0 if "<" in name else page.count("x"))
    assert "<script" not in page


HOSTILE = (
    r"$\frac{1}{$",
    r"\frac{1}{",
    '"><script>alert(1)</script>',
    "</style><img src=x onerror=alert(1)>",
    "-->]]><svg onload=alert(1)>",
    "\x1b[31mred\u202e",
    "=cmd|' /C calc'!A0",
)


def test_hostile_names_are_only_drawn(tmp_path):
    """A browser sees no element, attribute or script that a name brought along."""
    names = list(HOSTILE)
    real = waves(30, channels=len(names))
    shown = [
        sections.examples(real, real, names, 0),
        sections.correlations(real, real, names),
        sections.copies(real, real, names, audit(real, real, None)[1]),
    ]
    page = report.page.page(names[2], panel(names[2]), shown)
    seen = Seen()
    seen.feed(page)
    assert {"script", "img"}.isdisjoint(seen.tags)
    assert not [name for name in seen.attributes if name.startswith("on")]
    assert "default-src 'none'" in seen.policy
    assert "script-src" not in seen.policy
    assert r"\frac{1}{" in page  # as text, not as a formula
    pictures.windows(real, names, tmp_path / "picture.png", real=real)
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_long_names_leave_room_for_the_pictures(tmp_path):
    """Matplotlib warns where labels leave none, and warnings are errors here."""
    names = [f"{'long ' * 60}\n{number}" for number in range(3)]
    windows = waves(30, channels=3)
    shown = sections.sections(windows, windows, names)
    svgs = [picture.svg for section in shown for picture in section.pictures]
    drawn = [text for svg in svgs for text in re.findall(r"<text [^>]*>([^<]*)</text>", svg)]
    assert max(map(len, drawn)) < 90
    assert r"long long long …long \n2" in drawn  # the end, which tells names apart, is there
    pictures.windows(windows, names, tmp_path / "picture.png", real=windows)


class Seen(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.policy = set(), [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += [name for name, _ in attributes]
        given = dict(attributes)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]


def test_control_characters_do_not_reach_a_terminal():
    shown = tables.as_text(panel("\x1b]0;owned\x07\u202e"), ("\x1b[2J",))
    assert "\x1b" not in shown
    assert r"\x1b[2J" in shown
    assert str(PacodiError("a\x1b[31m\nb\u2028")) == r"a\x1b[31m\nb\u2028"
    long = str(PacodiError(f"{'x' * 10_000}: do this"))
    assert (len(long), long[-9:]) == (2000, ": do this")
    assert str(PacodiError("größer als 1\N{NO-BREAK SPACE}%, 日本")) == "größer als 1\xa0%, 日本"


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(sections, "sections", lambda *_: [])
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    with pytest.raises(PacodiError, match=r"report\.html cannot be written"):
        report.write(tmp_path / "out", "title", panel(), waves(3), waves(3))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.html"]


def test_bytes_that_are_no_text_do_not_stop_a_report(tmp_path, monkeypatch):
    monkeypatch.setattr(sections, "sections", lambda *_: [])
    written = report.write(tmp_path / "out", "\ud800", panel("\ud800"), waves(3), waves(3))
    assert sorted((tmp_path / "out").iterdir()) == sorted(written)
    assert "\\ud800" in written[2].read_text()


def test_a_folder_is_checked_without_being_made(tmp_path):
    report.check_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(PacodiError, match="file is a file; name a folder to write into"):
        report.check_writable(tmp_path / "file")
    with pytest.raises(PacodiError, match="b cannot be written into: Not a directory"):
        report.check_writable(tmp_path / "file" / "b")
    report.check_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_pictures_take_their_ink_from_the_page_and_speak():
    names = [f"c{i}" for i in range(9)]
    windows = waves(30, channels=9)
    drawn = sections.correlations(windows, windows[..., ::-1], names)
    for picture in drawn.pictures:
        texts = re.findall(r"<text [^>]*>", picture.svg)
        assert len(texts) >= 19  # nine names per side, the title, and the colour bar's numbers
        assert all("fill: currentColor" in text for text in texts)
    assert "The largest difference is" in drawn.text
    spectra = sections.spectra(windows, 2 * windows, names)
    assert "the first 8 of 9 channels" in spectra.text
    assert re.search(r"largest difference 6(\.0)? dB, at bin \d", spectra.pictures[0].caption)
    assert spectra.pictures[0].caption in spectra.pictures[0].svg
