"""What MkDocs calls while it builds the site: adds generated pages, orders them, mends links."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from site_commands import commands_page
from site_gallery import gallery
from site_links import mend
from site_pages import in_order, of_the_root, questions
from site_settings import settings_page

ROOT = Path(__file__).resolve().parent.parent.parent
#: How docstrings name a function, class or method of the package.
ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):<code>~?(?:[\w.]*\.)?(\w+)</code>")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are no files of docs/, and orders all of them."""
    made = of_the_root(ROOT) | gallery(ROOT / "notebooks")
    made |= questions(ROOT / "docs" / "experiments")
    made |= settings_page() | commands_page()
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    config.nav = in_order([file.src_uri for file in files.documentation_pages()])
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to files outside docs/ lead to their page, else to the repository."""
    source = "README.md" if page.file.src_uri == "index.md" else f"docs/{page.file.src_uri}"
    if page.file.generated_by is not None and page.file.src_uri != "index.md":
        source = page.file.src_uri.upper().replace(".MD", ".md")
    return mend(markdown, source, page.file.src_uri, config.repo_url)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """What docstrings name is shown by its name."""
    return ROLE.sub(r"<code>\1</code>", html)
