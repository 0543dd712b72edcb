"""The notebooks as pages: their words, their code and what it showed when it was run."""

import json
from pathlib import Path
from typing import Any

INTRODUCTION = """# Gallery

Notebooks as they ran, code and pictures included. The tests run each of them from top to bottom.
To run one yourself, open it from the folder `notebooks/` of a clone, after
`pip install -e ".[notebooks]"`.

"""


def gallery(folder: Path) -> dict[str, str]:
    """A page per notebook, and one that lists them."""
    pages, rows = {}, []
    for path in sorted(folder.glob("*.ipynb")):
        notebook = json.loads(path.read_text())
        page = "\n\n".join(part for cell in notebook["cells"] for part in of_cell(cell) if part)
        pages[f"gallery/{path.stem}.md"] = page
        title, about = first_words(page)
        rows.append(f"- [{title}]({path.stem}.md): {about}")
    return {"gallery/index.md": INTRODUCTION + "\n".join(rows) + "\n"} | pages


def first_words(page: str) -> tuple[str, str]:
    """A notebook's title and its first sentence."""
    title, _, rest = page.partition("\n")
    return title.lstrip("# "), rest.strip().split(". ")[0].replace("\n", " ").rstrip(".") + "."


def of_cell(cell: dict[str, Any]) -> list[str]:
    """The parts of a page that a cell becomes."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    if cell["cell_type"] != "code" or not source.strip():
        return []
    return [f"```python\n{source}\n```", *map(of_output, cell["outputs"])]


def of_output(output: dict[str, Any]) -> str:
    """What a cell showed: a picture, a table or text; progress and warnings are left out."""
    data = output.get("data", {})
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        words = "".join(data.get("text/plain", "picture of the cell above")).replace('"', "'")
        return f'<img alt="{words}" src="data:image/png;base64,{picture}">'
    if output.get("name") == "stderr":
        return ""
    text = "".join(data.get("text/plain", output.get("text", "")))
    return (
        f'<div class="gallery-output" markdown>\n\n```text\n{text.rstrip()}\n```\n\n</div>'
        if text.strip()
        else ""
    )
