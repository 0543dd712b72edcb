"""The report as one self-contained HTML page."""

from collections.abc import Mapping
from html import escape

from pacodi_jax.metrics import copying
from pacodi_jax.metrics.results import Panel, Side
from pacodi_jax.metrics.score import Estimate, Score
from pacodi_jax.metrics.verdict import BLIND, FEW
from pacodi_jax.report import privacy
from pacodi_jax.report.numbers import number
from pacodi_jax.report.sections import Section
from pacodi_jax.report.style import CSS
from pacodi_jax.report.tables import SPLITS

GROUPS = {"paper": "The paper's four scores", "beyond": "Further scores"}
KEY = '<p class="key"><span><b></b> real</span><span><b class="s"></b> synthetic</span></p>'
#: Nothing from outside, and no script at all: what a page holds cannot turn against its reader.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
ARROWS = {"lower": "lower is better", "higher": "higher is better", "one": "1 is best"}
#: The settings' names for people.
SETTINGS = {
    "seeds": "Seeds",
    "windows": "Windows per side, at most",
    "encoder_steps": "Training steps of the encoder",
    "discriminative_steps": "Training steps of the recurrent classifier",
    "predictive_steps": "Training steps of the forecaster",
    "strong_steps": "Training steps of the transformer",
    "encoder": "Encoder",
    "correlational_windows": "Windows per side of the correlational score",
    "projections": "Random directions of the sliced Wasserstein distance",
    "neighbours": "Neighbours of density and coverage",
    "scale": "Scale",
    "interval": "Interval",
}
METHOD = """<strong>Floor</strong>: the score of real windows against other real windows; in the
held-out table, of held-out windows against real ones. A copy of the real windows would score about
this. <strong>Ceiling</strong>: the score of real windows against a copy whose values are permuted
over all windows and steps; for the Wasserstein distances, against uniform noise; for the distance
to training, of exact copies. Ceilings of scores that train something are means of two seeds; the
held-out table has those of train. A score is at the floor if a one-sided Welch test over seeds does
not separate the two at 1 %. It is unclear if they are not separated but their means are far apart;
more seeds decide. It cannot tell on this data if the test does not even separate the ceiling from
the floor; where there are only two seeds, those are too few to tell."""


def _spread(estimate: Estimate) -> str:
    return f'{number(estimate.value)} <span class="pm">± {number(estimate.half_width)}</span>'


def _track(score: Score) -> str:
    """The bar from floor to ceiling; none where these are not ends of a scale."""
    if score.is_memorisation or score.position is None or score.word in (BLIND, FEW):
        return "–"
    share = f"{100 * score.position:.0f}"
    return (
        f'<span class="track" aria-hidden="true"><i style="width:{share}%"></i></span>'
        f'<span class="share">{share} %</span>'
    )


def _row(score: Score) -> str:
    return (
        f'<tr><th scope="row">{escape(score.label)}<code>{escape(score.name)}, '
        f'{ARROWS[score.better]}</code></th><td class="word">{escape(score.word)}</td>'
        f"<td>{_track(score)}</td><td>{_spread(score.measured)}</td>"
        f"<td>{_spread(score.floor)}</td><td>{_spread(score.ceiling)}</td></tr>"
    )


def table(panel: Panel, split: str) -> str:
    """The scores against one set of real windows, with floors, ceilings and words."""
    body = ""
    for group, title in GROUPS.items():
        rows = [_row(score) for score in panel.of(split) if score.group == group]
        if rows:
            head = f'<th class="left" colspan="6" scope="rowgroup">{title}</th>'
            body += f'<tbody><tr class="group">{head}</tr>{"".join(rows)}</tbody>'
    label = f"Scores {SPLITS[split]}"
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>'
        f"<caption><span>{label}, protocol {escape(panel.protocol)}: mean over seeds ± half of "
        "the 95\N{NO-BREAK SPACE}% interval. The bar runs from floor (0\N{NO-BREAK SPACE}%) to "
        "ceiling (100\N{NO-BREAK SPACE}%).</span></caption><thead><tr>"
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


def _size(side: Side) -> str:
    return f"{side.windows:,} windows of {side.length} steps and {side.channels} channels"


def definitions(items: Mapping[str, object]) -> str:
    """A list of names and what they are."""
    pairs = (f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in items.items())
    return f"<dl>{''.join(pairs)}</dl>"


def _facts(panel: Panel) -> dict[str, object]:
    """What was compared and how, by the names that the page gives to it."""
    facts: dict[str, object] = {"Protocol": panel.protocol}
    if panel.data is not None:
        sides = {"Real": panel.data.real, "Synthetic": panel.data.synthetic}
        if panel.data.held_out is not None:
            sides["Held-out"] = panel.data.held_out
        facts |= {k: f"{_size(side)}, fingerprint {side.fingerprint}" for k, side in sides.items()}
    settings = panel.settings.record() | {"seeds": ", ".join(map(str, panel.settings.seeds))}
    facts |= {SETTINGS[key]: value for key, value in settings.items()}
    return facts if panel.seconds is None else facts | {"Time": f"{panel.seconds} s"}


def _method(panel: Panel) -> str:
    abouts: dict[str, object] = {score.label: score.about or "" for score in panel.scores}
    return (
        "<section><h2>How it was measured</h2>"
        f"<p>{METHOD}</p>"
        f"<h3>What each score measures</h3>{definitions(abouts)}"
        f"<h3>Settings</h3>{definitions(_facts(panel))}</section>"
    )


def meta(panel: Panel, sides: bool = True) -> str:
    """Sizes (of one generator's windows) and protocol, under the title."""
    size = ""
    if panel.data is not None and sides:
        count = (
            f"{panel.data.synthetic.windows:,} synthetic against {panel.data.real.windows:,} real"
        )
        shape = f"{panel.data.real.length} steps and {panel.data.real.channels} channels"
        size = f'<p class="meta">{count} windows of {shape}</p>'
    return f'{size}<p class="meta">Protocol: <strong>{escape(panel.protocol)}</strong></p>'


def page(title: str, panel: Panel, sections: list[Section]) -> str:
    """Returns the whole page: verdict, tables, pictures, method."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in panel.verdict or ())
    tables = "".join(
        f"<h2>Scores {caption}</h2>{table(panel, split)}"
        for split, caption in SPLITS.items()
        if panel.of(split)
    )
    copied = copying.alarms(panel.memorisation, panel.privacy)
    warn = " warn" if copied or any(score.above_floor for score in panel.scores) else ""
    return frame(
        title,
        f"<header><h1>{escape(title)}</h1>{meta(panel)}</header><main>"
        f'<div class="verdict{warn}" role="region" aria-label="Verdict">{lines}</div>'
        f'<div id="scores">{privacy.table(panel)}{tables}</div>'
        f"{''.join(_section(section) for section in sections)}{_method(panel)}</main>",
    )


def frame(title: str, body: str) -> str:
    """A whole page around its header and its main part, self-contained and without scripts."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{CSS}</style></head><body>"
        f'<a class="skip" href="#scores">Skip to the scores</a>{body}'
        "<footer>Made by pacodi_jax.</footer></body></html>"
    )
