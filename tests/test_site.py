"""The site: links lead somewhere, and MkDocs builds it without a warning."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WRITTEN = [
    path
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"))
    if path.parent.name != "results"
]


@pytest.fixture(scope="module", autouse=True)
def generators():
    """The modules that make pages; MkDocs imports them in the same way."""
    sys.path.insert(0, str(ROOT / "docs" / "generate"))
    yield
    sys.path.remove(str(ROOT / "docs" / "generate"))


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page):
    made = {"settings.md", "commands.md"}
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:\s]+)[^):]*\)", text):
        assert Path(target).name in made or (page.parent / target).exists(), target


def test_links_of_the_repository_become_links_of_the_site():
    from site_links import mend

    def at_home(text: str, repository: str = "") -> str:
        return mend(text, "README.md", "index.md", repository)

    assert at_home("[a](docs/results.md#few)") == "[a](results.md#few)"
    assert (
        at_home("[a](CHANGELOG.md), [b](notebooks)") == "[a](changelog.md), [b](gallery/index.md)"
    )
    assert at_home("[a](LICENSE)") == "a"
    assert at_home("[a](LICENSE)", "https://x.org/y/") == "[a](https://x.org/y/blob/main/LICENSE)"
    assert at_home("```\n[a](LICENSE)\n```\n") == "```\n[a](LICENSE)\n```\n"
    assert at_home('<img src="docs/pictures/a.png">') == '<img src="pictures/a.png">'
    notebook = mend("[a](../../notebooks/q.ipynb)", "docs/how-to/a.md", "how-to/a.md", "")
    assert notebook == "[a](../gallery/q.md)"


def test_a_new_page_needs_no_entry():
    from site_pages import SECTIONS, in_order

    nav = in_order(["index.md", "experiments/zebra.md", "experiments/ant.md", "results.md"])
    assert nav[1] == {"Results": ["results.md", "experiments/ant.md", "experiments/zebra.md"]}
    folders = {path.parent.name for path in ROOT.glob("docs/*/*.md")} - {"results"}
    assert {f"{name}/" for name in folders} <= {place for s in SECTIONS.values() for place in s}


def test_mkdocs_builds_every_page_without_a_warning(tmp_path):
    pytest.importorskip("material", reason="needs the extra `docs`")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "index.html").read_text()
    for path in ROOT.glob("docs/**/*.md"):
        page = path.relative_to(ROOT / "docs").with_suffix(".html")
        if page.parts[0] != "results":
            assert (tmp_path / page).exists()
            assert page.parts[-1] in home or page.parts[0] in home
    assert "img alt" in (tmp_path / "gallery" / "quality.html").read_text()
    shown = re.sub(r"<(code|style|script).*?</\1>", "", _text_of(tmp_path), flags=re.DOTALL)
    assert re.findall(r":(?:class|func|meth|mod):|\$\$|\\\w+\{|Example::", shown) == []


def _text_of(site: Path) -> str:
    """What made pages show: a mark that no browser understands would stand in it."""
    made = (*site.glob("reference/*.html"), *site.glob("gallery/*.html"))
    return "".join(path.read_text() for path in made)
