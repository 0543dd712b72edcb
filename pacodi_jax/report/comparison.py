"""Several generators judged against the same real windows, in one report."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from pacodi_jax import files
from pacodi_jax.errors import PacodiError
from pacodi_jax.report import page, privacy, tables
from pacodi_jax.report.judgement import Source, Verdict, judge
from pacodi_jax.report.numbers import plus_minus


@dataclass(frozen=True)
class Comparison:
    """The verdicts on several generators, by name; all have the same floors and ceilings."""

    verdicts: Mapping[str, Verdict]

    @property
    def frame(self) -> pd.DataFrame:
        """The rows of ``scores.csv``, with the generator in front."""
        parts = [verdict.frame.assign(generator=name) for name, verdict in self.verdicts.items()]
        whole = pd.concat(parts, ignore_index=True)
        return whole[["generator", *tables.COLUMNS]]

    def write(self, folder: str | Path) -> list[Path]:
        """Writes a full report per generator in a folder of its name, and one over all of them."""
        folder, written = Path(folder), []
        for name, verdict in self.verdicts.items():
            written += verdict.write(folder / name)
        table = self.frame.to_csv(index=False, lineterminator="\n")
        return [
            files.write_text(folder / "report.html", _page(self.verdicts)),
            files.write_text(folder / "scores.csv", table),
            *written,
        ]


def compare(real: Source, synthetic: Mapping[str, Source], **options: Any) -> Comparison:
    """Judges several generators against the same real windows.

    Examples:
      ```python
      found = compare(real, {"mine": mine, "theirs": theirs}, held_out=later)
      found.write("comparison")
      ```

    Args:
      real: as for :func:`~pacodi_jax.report.judgement.judge`.
      synthetic: the windows of each generator, by its name.
      **options: those of ``judge``.

    Raises:
      PacodiError: for windows that cannot be judged, or names that are no names of folders.
    """
    if not synthetic:
        raise PacodiError("no generator to judge; give synthetic windows by name")
    for name in synthetic:
        if not re.fullmatch(r"[\w][\w .+-]*", name):
            raise PacodiError(f"{name!r} cannot name a folder; use letters, digits, - and _")
    return Comparison({name: judge(real, made, **options) for name, made in synthetic.items()})


def names_of(paths: list[Path]) -> list[str]:
    """A name per file: its own, with its folder where two are called alike."""
    stems = [re.sub(r"[^\w.+-]", "_", path.stem) or "windows" for path in paths]
    full = [
        stem if stems.count(stem) == 1 else f"{path.absolute().parent.name}-{stem}"
        for stem, path in zip(stems, paths, strict=True)
    ]
    return [
        name if full.count(name) == 1 else f"{name}-{place}"
        for place, name in enumerate(full, start=1)
    ]


def _table(caption: str, names: list[str], rows: list[tuple[str, ...]]) -> str:
    """A table whose columns are generators."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for label, *cells in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}"><table>'
        f'<caption><span>{caption}</span></caption><thead><tr><th class="left" scope="col">'
        f"Score</th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _tables(verdicts: Mapping[str, Verdict]) -> str:
    panels = [verdict.panel for verdict in verdicts.values()]
    names, parts = [*verdicts, "floor", "ceiling"], []
    for split, caption in tables.SPLITS.items():
        rows = []
        for score in panels[0].of(split):
            own = [panel.score(score.name, split) for panel in panels]
            cells = [f"{plus_minus(one.measured)}, {one.word}" for one in own]
            rows.append((score.label, *cells, plus_minus(score.floor), plus_minus(score.ceiling)))
        if rows:
            parts.append(_table(f"Scores {caption}", names, rows))
    found = [privacy.rows(panel) for panel in panels]
    copied = [
        (lines[0][0], *(f"{line[3]}, {line[2]}" for line in lines))
        for lines in zip(*found, strict=True)
    ]
    return _table("Copying and membership", list(verdicts), copied) + "".join(parts)


def _page(verdicts: Mapping[str, Verdict]) -> str:
    """What all generators have in one page: each verdict, then their scores side by side."""
    panel = next(iter(verdicts.values())).panel
    boxes = "".join(
        f'<div class="verdict" role="region" aria-label="{escape(name)}"><h2>{escape(name)}</h2>'
        + "".join(f"<p>{escape(line)}</p>" for line in verdict.panel.verdict or ())
        + f'<p><a href="{escape(name)}/report.html">its report</a></p></div>'
        for name, verdict in verdicts.items()
    )
    title = f"{len(verdicts)} generators judged against the same real windows"
    return page.frame(
        title,
        f"<header><h1>{escape(title)}</h1>{page.meta(panel, sides=False)}</header>"
        f'<main>{boxes}<div id="scores">{_tables(verdicts)}</div></main>',
    )
