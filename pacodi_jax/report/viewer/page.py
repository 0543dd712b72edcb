"""The page as one HTML text: the script and its numbers inside, nothing from outside."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from pacodi_jax.errors import printable
from pacodi_jax.metrics.correlation import cross_correlation
from pacodi_jax.report import page as report
from pacodi_jax.report.style import CSS
from pacodi_jax.report.tables import SPLITS
from pacodi_jax.report.viewer import parts
from pacodi_jax.report.viewer.content import Content
from pacodi_jax.report.viewer.payload import CHANNELS, payload, to_json


@cache
def _packaged(name: str) -> str:
    """A file that lies beside this module in the package."""
    return (resources.files("pacodi_jax.report.viewer") / name).read_text(encoding="utf-8")


def policy(script: str) -> str:
    """A Content-Security-Policy that runs this one script and asks no one for anything."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def page(content: Content) -> str:
    """The whole page."""
    script, numbers = _packaged("viewer.js"), payload(content)
    shown = {
        "windows": ("Windows", parts.windows(content, numbers)),
        "series": ("Whole series", parts.series(content)),
        "forecast": ("Forecasts", parts.forecast(content)),
        "spectra": ("Spectra", parts.curves(content)),
        "correlations": ("Correlations", correlations(content)),
        "scores": ("Scores", scores(content)),
        "model": ("Model", report.definitions(_words(content.facts))),
    }
    shown = {place: (title, body) for place, (title, body) in shown.items() if body}
    body = "".join(
        f'<section id="{place}" aria-labelledby="{place}-title">'
        f'<h2 id="{place}-title">{title}</h2>{text}</section>'
        for place, (title, text) in shown.items()
    )
    title = escape(printable(content.title))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script)}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{CSS}{_packaged('viewer.css')}</style></head><body>"
        f'<a class="skip" href="#windows">Skip to the windows</a><header><h1>{title}</h1>'
        f"{_about(content)}</header>{_bar(numbers, shown)}<main>{_opening(content)}{body}</main>"
        "<footer>Made by pacodi_jax. Everything on this page is in this one file.</footer>"
        f'<script type="application/json" id="data">{to_json(numbers)}</script>'
        f"<script>{script}</script></body></html>"
    )


def _about(content: Content) -> str:
    """Sizes and protocol, under the title."""
    count, length, channels = content.synthetic.shape
    against = "" if content.real is None else f" against {len(content.real):,} real"
    return (
        f'<p class="meta">{count:,} synthetic{against} windows of {length} steps and {channels} '
        f"channel{'s' if channels > 1 else ''}</p>"
    )


def _bar(numbers: Mapping[str, Any], shown: Mapping[str, tuple[str, str]]) -> str:
    """What stays in sight: the channel and the way to each section."""
    options = "".join(
        f'<option value="{i}">{escape(printable(name))}</option>'
        for i, name in enumerate(numbers["channels"])
    )
    links = "".join(f'<a href="#{place}">{title}</a>' for place, (title, _) in shown.items())
    return (
        '<div class="bar"><div><label for="channel">Channel <select id="channel" '
        f'autocomplete="off">{options}</select></label>'
        f'<nav aria-label="Sections">{links}</nav></div></div>'
    )


def _opening(content: Content) -> str:
    """The verdict or the label first, then what is missing and why."""
    lines = list(content.panel.verdict or ()) if content.panel else []
    above = content.panel is not None and any(s.above_floor for s in content.panel.scores)
    if content.label:
        lines.insert(0, content.label)
    said = "".join(f"<p>{escape(printable(line))}</p>" for line in lines)
    warn = " warn" if above or content.label else ""
    box = f'<div class="verdict{warn}" role="region" aria-label="Verdict">{said}</div>'
    dropped = len(content.channels) - CHANNELS
    notes = list(content.notes)
    if dropped > 0:
        notes.append(f"The first {CHANNELS} of {len(content.channels)} channels can be chosen.")
    told = "".join(f'<p class="note">{escape(printable(note))}</p>' for note in notes)
    off = "<noscript><p>The pictures need JavaScript; the tables do not.</p></noscript>"
    return (box if said else "") + told + off


def scores(content: Content) -> str:
    """The tables of an evaluation, or how to get them."""
    panel = content.panel
    if panel is None:
        return (
            "<p>No evaluation is kept for this model. This scores it between a floor (other real "
            "windows) and a ceiling (everything destroyed):</p>"
            f"<pre><code>{escape(content.evaluate)}</code></pre>"
        )
    return "".join(report.table(panel, split) + "<br>" for split in SPLITS if panel.of(split))


def correlations(content: Content) -> str:
    """Correlation of channels at the same step, as tables; nothing for a single channel."""
    names = [printable(name) for name in content.channels[:CHANNELS]]
    if len(names) < 2:
        return ""
    made = cross_correlation(content.synthetic[..., :CHANNELS])
    if content.real is None:
        return parts.matrix("synthetic", made, names)
    real = cross_correlation(content.real[..., :CHANNELS])
    gap = np.abs(made - real)
    row, column = np.unravel_index(gap.argmax(), gap.shape)
    return (
        f"<p>Correlation of channels at the same step; orange is positive, blue negative. The "
        f"largest difference is {gap.max():.2f}, between {escape(names[column])} and "
        f'{escape(names[row])}.</p><div class="matrices">'
        + parts.matrix("real", real, names)
        + parts.matrix("synthetic", made, names)
        + parts.matrix("synthetic − real", made - real, names)
        + "</div>"
    )


def _words(facts: Mapping[str, Any]) -> dict[str, object]:
    """Facts as people read them; what is empty is left out."""

    def told(value: Any) -> str:
        if isinstance(value, list | tuple):
            return ", ".join(map(told, value))
        whole = isinstance(value, int) and not isinstance(value, bool)
        return f"{value:,}" if whole else printable(str(value))

    kept = {name: value for name, value in facts.items() if value not in ("", None, [], ())}
    return {name.replace("_", " "): told(value) for name, value in kept.items()}
