"""The report as one self-contained HTML page."""

import math
from html import escape
from typing import Any

from pacodi_jax.report.sections import Section
from pacodi_jax.report.style import CSS

GROUPS = {"paper": "The paper's four", "beyond": "Beyond the paper"}
SPLITS = {"train": "against the real windows", "held_out": "against held-out windows"}
KEY = '<p class="key"><span><b></b> real</span><span><b class="s"></b> synthetic</span></p>'
ARROWS = {"lower": "lower is better", "higher": "higher is better", "one": "1 is best"}


def number(value: float) -> str:
    """Three significant digits without powers of ten; what is below 0.00005 is 0."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return (
        "0" if abs(value) < 5e-5 else f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
    )


def _spread(part: dict[str, Any]) -> str:
    half = (part["interval"][1] - part["interval"][0]) / 2
    return f'{number(part["value"])} <span class="pm">± {number(half)}</span>'


def _row(score: dict[str, Any]) -> str:
    share = f"{100 * score['position']:.0f}"
    track = (
        f'<span class="track" aria-hidden="true"><i style="width:{share}%"></i></span>'
        f'<span class="share">{share} %</span>'
        if score["better"] != "one"
        else "–"
    )
    words = f'<td class="word">{escape(score["word"])}</td><td>{track}</td>'
    return (
        f'<tr><th scope="row">{escape(score["title"])}<code>{escape(score["name"])}, '
        f"{ARROWS[score['better']]}</code></th>{words}"
        f"<td>{_spread(score)}</td><td>{_spread(score['floor'])}</td>"
        f"<td>{_spread(score['ceiling'])}</td></tr>"
    )


def _table(scores: list[dict[str, Any]], split: str, protocol: str) -> str:
    body = ""
    for group, title in GROUPS.items():
        rows = [_row(s) for s in scores if s["split"] == split and s["group"] == group]
        if rows:
            head = f'<th class="left" colspan="6" scope="rowgroup">{title}</th>'
            body += f'<tbody><tr class="group">{head}</tr>{"".join(rows)}</tbody>'
    label = f"Scores {SPLITS[split]}"
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>'
        f"<caption><span>{label}, protocol {escape(protocol)}: mean over seeds ± half of the "
        "95\N{NO-BREAK SPACE}% interval. The bar runs from floor (0\N{NO-BREAK SPACE}%) to ceiling "
        "(100\N{NO-BREAK SPACE}%).</span></caption><thead><tr>"
        '<th class="left" scope="col">Score</th><th class="left" scope="col">In words</th>'
        '<th scope="col">Floor to ceiling</th><th scope="col">Value</th>'
        '<th scope="col">Floor</th><th scope="col">Ceiling</th>'
        f"</tr></thead>{body}</table></div>"
    )


def _section(section: Section) -> str:
    figures = "".join(
        f"<figure>{p.svg}<figcaption>{escape(p.caption)}</figcaption></figure>"
        for p in section.pictures
    )
    return (
        f"<section><h2>{escape(section.title)}</h2><p>{escape(section.text)}</p>"
        f"{KEY if section.key else ''}"
        f'<div class="grid">{figures}</div></section>'
    )


def _method(panel: dict[str, Any]) -> str:
    facts: dict[str, object] = {"Protocol": panel["protocol"]}
    for side in ("real", "synthetic", "held_out"):
        data = panel["data"][side]
        if data is not None:
            facts[side.replace("_", "-").capitalize()] = (
                f"{data['windows']:,} windows of {data['length']} steps and {data['channels']} "
                f"channels, fingerprint {data['fingerprint']}"
            )
    facts |= {k.replace("_", " ").capitalize(): v for k, v in panel["settings"].items()}
    facts["Time"] = f"{panel['seconds']} s"
    items = "".join(f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in facts.items())
    seen = {s["name"]: s for s in panel["scores"]}.values()
    abouts = "".join(f"<dt>{escape(s['title'])}</dt><dd>{escape(s['about'])}</dd>" for s in seen)
    return (
        "<section><h2>How it was measured</h2>"
        "<p><strong>Floor</strong>: real windows against other real windows, or, in the held-out "
        "table, held-out against real ones: what a perfect generator would score. "
        "<strong>Ceiling</strong>: real windows against a copy whose values are dealt out anew "
        "(or against noise, for the Wasserstein distances). For the distance to training the "
        "ceiling is a plain copy. A score is at the floor when a one-sided Welch test "
        "over seeds does not tell it from the floor at 1 %.</p>"
        f"<h3>What each score sees</h3><dl>{abouts}</dl><h3>Settings</h3><dl>{items}</dl></section>"
    )


def page(title: str, panel: dict[str, Any], sections: list[Section]) -> str:
    """Returns the whole page: verdict, tables, pictures, method."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in panel["verdict"])
    splits = [s for s in SPLITS if any(score["split"] == s for score in panel["scores"])]
    tables = "".join(
        f"<h2>Scores {SPLITS[s]}</h2>{_table(panel['scores'], s, panel['protocol'])}"
        for s in splits
    )
    real, synthetic = panel["data"]["real"], panel["data"]["synthetic"]
    told = any(s["above_floor"] for s in panel["scores"])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{CSS}</style></head><body>"
        '<a class="skip" href="#scores">Skip to the scores</a>'
        f"<header><h1>{escape(title)}</h1>"
        f'<p class="meta">{synthetic["windows"]:,} synthetic against {real["windows"]:,} real '
        f"windows of {real['length']} steps and {real['channels']} channels</p>"
        f'<p class="meta">Protocol: <strong>{escape(panel["protocol"])}</strong></p></header><main>'
        f'<div class="verdict{" warn" if told else ""}" role="region" aria-label="Verdict">'
        f'{lines}</div><div id="scores">{tables}</div>'
        f"{''.join(_section(s) for s in sections)}{_method(panel)}</main>"
        "<footer>Made by pacodi_jax. The same numbers are in scores.json and scores.csv."
        "</footer></body></html>"
    )
