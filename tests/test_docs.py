"""Pages that name functions and tests name existing ones."""

import importlib
import re
from pathlib import Path

import pytest

from pacodi_jax.checkpoint import model_file
from pacodi_jax.data import files

ROOT = Path(__file__).parent.parent
EXPLANATION = ROOT / "docs" / "explanation"
PAGES = ("equations.md", "divergences.md", "solvers.md")


def _text(page: str) -> str:
    return (EXPLANATION / page).read_text()


@pytest.mark.parametrize("page", PAGES)
def test_every_test_named_in_a_page_exists(page):
    named = set(re.findall(r"`((?:\w+/)*test_\w+\.py)::(test_\w+)`", _text(page)))
    assert named
    for file, test in named:
        path = ROOT / "tests" / (file if "/" in file else f"core/{file}")
        assert path.exists(), f"{page} names {file}"
        assert f"def {test}(" in path.read_text(), f"{page} names {file}::{test}"


def test_every_function_named_beside_an_equation_exists():
    rows = [line.split(" | ") for line in _text("equations.md").splitlines() if "::" in line]
    named = {name for row in rows for name in re.findall(r"`(\w+(?:\.\w+)+)`", row[-2])}
    assert len(named) > 30
    for name in named:
        module, function = name.rsplit(".", 1)
        room = "" if module.split(".")[0] in ("networks", "cli") else "core."
        found = importlib.import_module(f"pacodi_jax.{room}{module}")
        assert callable(getattr(found, function, None)), name


def test_every_equation_has_a_function_and_a_test():
    for line in _text("equations.md").splitlines():
        if (
            line.startswith("|")
            and "---" not in line
            and not line.startswith(("| paper", "| stat"))
        ):
            cells = line.strip("|").split(" | ")
            assert "`" in cells[-2], line
            assert "::" in cells[-1], line


def test_the_page_of_formats_names_every_ending_and_the_present_layout():
    page = (ROOT / "docs" / "reference" / "formats.md").read_text()
    for ending in (*files.ARRAYS, *files.TABLES):
        assert f"`.{ending.split('.')[1]}`" in page, ending
    assert f"`format` ({model_file.FORMAT})" in page
