"""The sections of the page: words, controls and the places that the script draws into."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from pacodi_jax.report.viewer.content import Content

LEGEND = (
    '<p class="key"><span><b class="t"></b> real</span><span><b class="m"></b> synthetic</span></p>'
)


def _plot(place: str, title: str, kind: str = "") -> str:
    """A titled place for one chart."""
    head = f'<h3 class="{kind}">{title}</h3>' if title else ""
    return f'<figure>{head}<div class="plot" id="{place}"></div></figure>'


def _button(place: str, words: str, label: str = "") -> str:
    """A button; ``label`` is what a screen reader says where the words alone are not enough."""
    named = f' aria-label="{label}"' if label else ""
    return f'<button type="button" id="{place}"{named}>{words}</button>'


def _slider(place: str, label: str, most: int) -> str:
    return (
        f'<input type="range" id="{place}" min="0" max="{most}" value="0" step="1" '
        f'aria-label="{label}" autocomplete="off">'
    )


def _status(place: str) -> str:
    return f'<p id="{place}" role="status"></p>'


def windows(content: Content, numbers: Mapping[str, Any]) -> str:
    """Real and synthetic windows, one above or beside the other."""
    count = len(numbers["synthetic"][0])
    choice = ""
    if content.real is not None:
        radio = '<label><input type="radio" name="pair" id="{}" autocomplete="off"{}> {}</label>'
        choice = (
            "<fieldset><legend>Beside each synthetic window</legend>"
            + radio.format("pair-any", " checked", "any real window")
            + radio.format("pair-nearest", "", "its nearest real window")
            + "</fieldset>"
        )
    real = "" if content.real is None else _plot("real-window", "Real", "real")
    about = (
        "<p>One window is drawn bold, the others faint. If a synthetic window is the same as its "
        "nearest real one, the model copies.</p>"
        if content.real is not None
        else ""
    )
    return (
        f'{about}{choice}<fieldset aria-label="Which window">'
        + _button("previous", "← Previous", "Previous window")
        + _slider("window", "Window", count - 1)
        + _button("next", "Next →", "Next window")
        + f'</fieldset><div class="two">{real}'
        + _plot("synthetic-window", "Synthetic", "synthetic")
        + "</div>"
        + _status("window-words")
    )


def series(content: Content) -> str:
    """A whole synthetic series above a real one, to zoom."""
    if content.whole is None:
        return ""
    real = "" if content.beside is None else _plot("real-series", "Real", "real")
    controls = {
        "zoom-in": "Zoom in",
        "zoom-out": "Zoom out",
        "earlier": "Earlier",
        "later": "Later",
        "whole": "All of it",
    }
    return (
        '<fieldset aria-label="What is shown of the series">'
        + "".join(_button(*pair) for pair in controls.items())
        + _slider("place", "Where the view begins", 0)
        + '</fieldset><div class="stack zoomed" id="series-charts" tabindex="0" role="group" '
        'aria-label="Whole series; arrow keys move, plus and minus zoom, 0 shows all">'
        + _plot("synthetic-series", "Synthetic", "synthetic")
        + real
        + "</div>"
        + _status("series-words")
        + '<p class="keys">Drag over a picture to zoom into it. Keys: <kbd>←</kbd> <kbd>→</kbd> '
        "move, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>0</kbd> shows all.</p>"
    )


def forecast(content: Content) -> str:
    """Fans of forecasts, with what came."""
    found = content.fans
    if found is None:
        return ""
    box = '<label><input type="checkbox" id="{}" autocomplete="off"{}> {}</label>'
    horizon, count = found.draws.shape[2], found.draws.shape[1]
    return (
        f"<p>The model is given the first {found.seen} steps of a {escape(found.part)} window and "
        f"draws the other {horizon} steps {count} times. The bands hold the middle 50 % and 80 % "
        "of the draws.</p>"
        '<p class="key"><span><b></b> observed</span><span><b class="t"></b> what came</span>'
        '<span><b class="m"></b> median of the draws</span></p>'
        '<fieldset aria-label="Which forecast">'
        + _button("fan-previous", "← Previous", "Previous forecast")
        + _slider("fan-number", "Forecast", len(found.truth) - 1)
        + _button("fan-next", "Next →", "Next forecast")
        + "</fieldset><fieldset><legend>Show</legend>"
        + box.format("show-draws", "", "single draws")
        + box.format("show-truth", " checked", "what came")
        + "</fieldset>"
        + _plot("fan", "")
        + _status("fan-words")
    )


def curves(content: Content) -> str:
    """Spectrum, autocorrelation and distribution of the chosen channel."""
    titles = {"power": "Power spectrum", "lags": "Autocorrelation", "shares": "Distribution"}
    figures = "".join(
        f'<figure><h3>{title}</h3><div class="plot" id="{place}"></div>{_status(f"{place}-words")}'
        "</figure>"
        for place, title in titles.items()
    )
    return f'{LEGEND}<div class="three">{figures}</div>'


def matrix(title: str, values: np.ndarray, names: list[str]) -> str:
    """A correlation matrix as a table whose cells are coloured by their value."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_cell, row))}</tr>'
        for name, row in zip(names, values.tolist(), strict=True)
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="Correlation: {title}">'
        f'<table class="matrix"><caption>{title}</caption><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(value: float) -> str:
    colour = "240,150,40" if value > 0 else "60,130,220"
    shown = f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")
    return f'<td style="background:rgba({colour},{0.6 * abs(value):.2f})">{shown}</td>'
