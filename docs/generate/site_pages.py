"""Which pages the site has and in which order; a new file of a folder needs no entry."""

import re
from pathlib import Path
from typing import Any

from site_links import ROOT_PAGES

#: Sections of the site: a folder, and single pages before or after it.
SECTIONS: dict[str, list[str]] = {
    "Tutorials": ["tutorials/"],
    "How-to": ["how-to/"],
    "Reference": ["reference/"],
    "Explanation": ["explanation/"],
    "Results": ["results.md", "compare.md", "experiments/"],
    "Gallery": ["gallery/"],
    "Project": ["changelog.md", "contributing.md", "security.md"],
}
#: Pages that come first in their folder; all others follow by name.
FIRST = [
    "tutorials/first_model.md",
    "tutorials/your_table.md",
    "tutorials/sentence.md",
    "tutorials/judge.md",
    "reference/library.md",
    "reference/api.md",
    "reference/commands.md",
    "reference/settings.md",
    "reference/formats.md",
    "explanation/method.md",
    "gallery/index.md",
    "experiments/index.md",
    "experiments/protocol.md",
]
QUESTIONS = """Every question that was measured, and its answer. Each page says how. The numbers
come from files under `docs/results`, which the scripts of `benchmarks/` wrote.

"""


def of_the_root(root: Path) -> dict[str, str]:
    """The pages that are written at the root of the repository."""
    return {page: (root / file).read_text() for file, page in ROOT_PAGES.items()}


def questions(folder: Path) -> dict[str, str]:
    """The page that lists the experiments: each question with the first sentences of its answer."""
    rows = []
    for path in sorted(folder.glob("*.md")):
        title, answer = path.read_text().split("\n\n", 2)[:2]
        answer = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", answer.replace("\n", " "))
        rows.append(f"**[{title.lstrip('# ')}]({path.name})**\n\n:   {answer}\n")
    return {"experiments/index.md": "# Experiments\n\n" + QUESTIONS + "\n".join(rows)}


def in_order(pages: list[str]) -> list[Any]:
    """The site's navigation: every page once, sections without pages left out."""
    first = {page: place for place, page in enumerate(FIRST)}
    ordered = sorted(pages, key=lambda page: (first.get(page, len(first)), page))
    nav: list[Any] = [{"Home": "index.md"}]
    for title, places in SECTIONS.items():
        found = [
            page
            for place in places
            for page in ordered
            if page == place or (place.endswith("/") and page.startswith(place))
        ]
        if found:
            nav.append({title: found})
    return nav
