"""Links as they stand in the repository, turned into links of the site."""

import os
import re
from pathlib import PurePosixPath

#: Pages of the site that are written elsewhere in the repository.
ROOT_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
#: Folders that the site lists on a page of their own.
FOLDERS = {"notebooks": "gallery/index.md", "docs/experiments": "experiments/index.md"}
MARKDOWN = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
HTML = re.compile(r'\b(src|srcset|href)="([^"]+)"')
FENCED = re.compile(r"(^```.*?^```\s*?$)", re.MULTILINE | re.DOTALL)


def mend(markdown: str, source: str, page: str, repository: str | None) -> str:
    """``markdown`` of the file ``source`` of the repository, as the page ``page`` of the site."""

    def in_markdown(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        where = moved(target, source, page, repository)
        return f"{mark}[{words}]({where})" if where else words

    def in_html(found: re.Match[str]) -> str:
        where = moved(found[2], source, page, repository)
        return f'{found[1]}="{(where or found[2]).removesuffix(".md")}"'

    parts = FENCED.split(markdown)
    parts[::2] = [HTML.sub(in_html, MARKDOWN.sub(in_markdown, part)) for part in parts[::2]]
    return "".join(parts)


def moved(target: str, source: str, page: str, repository: str | None) -> str | None:
    """Where a link of ``source`` leads on ``page``; None if it cannot be followed there."""
    path, _, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    file = os.path.normpath(os.path.join(os.path.dirname(source), path))
    where = of_the_site(file)
    if where is None:
        return f"{repository.rstrip('/')}/blob/main/{file}" if repository else None
    here = os.path.relpath(where, os.path.dirname(page) or ".")
    return here + (f"#{anchor}" if anchor else "")


def of_the_site(file: str) -> str | None:
    """The page or picture of the site that a file of the repository becomes."""
    path = PurePosixPath(file)
    if file in FOLDERS:
        return FOLDERS[file]
    if path.parts[0] == "notebooks" and path.suffix == ".ipynb":
        return f"gallery/{path.stem}.md"
    if (
        path.parts[0] == "docs"
        and len(path.parts) > 1
        and path.parts[1] not in ("results", "generate")
    ):
        return "/".join(path.parts[1:])
    return ROOT_PAGES.get(file)
