"""How often draws have what a held-out sentence asks for, at the default settings.

    python benchmarks/obedience.py RUN [--guidance 1 2] [--draws 400] [--out FILE.json]

Every sentence of ``tests/text/held_out.json`` is read as a request; no training says any of them.
Without ``--guidance`` the model's own default is taken, which validation chose. The draws are
measured as captions are. ``outside`` is the share of values beyond train's range by a tenth of it.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from exam import write

from pacodi_jax.errors import PacodiError
from pacodi_jax.run import folder, parts
from pacodi_jax.run.trained import Trained
from pacodi_jax.text import properties
from pacodi_jax.text.facts import Facts, measure
from pacodi_jax.train.guidance import widened

HELD_OUT = Path(__file__).parent.parent / "tests/text/held_out.json"
KEY = 20_261

#: What each request of the file asks of a window.
CHECKS: dict[str, Callable[[Facts], bool]] = {
    "up": lambda x: x.trend.direction == "up",
    "down": lambda x: x.trend.direction == "down",
    "flat": lambda x: x.trend.direction == "flat",
    "high volatility": lambda x: x.volatility >= 3,
    "low volatility": lambda x: x.volatility <= 1,
    "high level": lambda x: x.level >= 4,
    "low level": lambda x: x.level <= 2,
    "wide range": lambda x: x.spread >= 3,
    "narrow range": lambda x: x.spread <= 1,
    "one peak": lambda x: len(x.peaks.places) == 1,
    "two peaks": lambda x: len(x.peaks.places) == 2,
    "peak early": lambda x: any(at <= 0.43 for at in x.peaks.places),
    "peak in the middle": lambda x: any(0.26 < at <= 0.74 for at in x.peaks.places),
    "peak late": lambda x: any(at > 0.57 for at in x.peaks.places),
    "not volatile": lambda x: x.volatility <= 2,
    "not smooth": lambda x: x.volatility >= 2,
    "no peaks": lambda x: not x.peaks.places,
    "not rising": lambda x: x.trend.direction != "up",
    "not falling": lambda x: x.trend.direction != "down",
    "neither": lambda x: x.trend.direction == "flat",
    "not high": lambda x: x.level <= 3,
    "not wide": lambda x: x.spread <= 2,
}


def requests() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every sentence: its group, its text and the facts that it asks for."""
    held = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    return [
        (name, one, (name,)) if isinstance(one, str) else (name, one[0], tuple(one[1:]))
        for name, texts in held.items()
        for one in texts
    ]


def vectors(model: Trained, texts: list[str]) -> np.ndarray:
    """The conditions of texts; NaN for one that the model does not read."""
    encoder, rows = model.encoder(), []
    for text in texts:
        try:
            rows.append(encoder.encode([text])[0])
        except PacodiError as error:
            print(f"  {error}", flush=True)
            rows.append(np.full(encoder.width, np.nan, np.float32))
    return np.stack(rows)


def ask(model: Trained, draws: int, guidance: float | None) -> dict[str, Any]:
    """The share of draws that have what was asked, per group, and what leaves the range.

    A text that is not read is drawn without a condition, and counts as it then comes out.
    """
    asked = requests()
    how = model.way("a text", {}) if guidance is None else {"guidance": guidance}
    sizes = {name: sum(one[0] == name for one in asked) for name, *_ in asked}
    told = vectors(model, [text for _, text, _ in asked])
    train = parts.load_windows(model.config).train.values()
    known, (low, high) = properties.fit(train[:, :, 0]), widened(train)
    counts = np.array([draws // sizes[name] for name, *_ in asked])
    read = ~np.isnan(told).any(axis=1)
    made = np.zeros((counts.sum(), train.shape[1]), np.float32)
    rows = np.repeat(np.arange(len(asked)), counts)
    for given in (True, False):
        mine = np.flatnonzero(read[rows] == given)
        if len(mine):
            key = jax.random.fold_in(jax.random.key(KEY), int(given))
            condition = told[rows[mine]] if given else None
            made[mine] = model.draw_scaled(key, len(mine), condition, **how)[:, :, 0]
    each = {}
    for number, (_, text, names) in enumerate(asked):
        measured = [measure(window, known) for window in made[rows == number]]
        each[text] = float(np.mean([all(CHECKS[n](x) for n in names) for x in measured]))
    rates = {
        name: float(np.mean([each[text] for group, text, _ in asked if group == name]))
        for name in sizes
    }
    outside = float(np.mean((made < low) | (made > high)))
    unread = [text for (_, text, _), one in zip(asked, read, strict=True) if not one]
    found = {"draws": draws, "rates": rates, "outside": outside, "unread": unread}
    return {**how, **found, "texts": each}


def unasked(model: Trained, count: int = 2000) -> dict[str, float]:
    """How often train has each property by itself."""
    train = parts.load_windows(model.config).train.values()[:, :, 0]
    known = properties.fit(train)
    some = train[np.linspace(0, len(train) - 1, count).astype(int)]
    measured = [measure(window, known) for window in some]
    return {name: float(np.mean([check(x) for x in measured])) for name, check in CHECKS.items()}


def main() -> None:
    """Asks the run that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--guidance", nargs="*", type=float, default=[])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    model = folder.load(asked.run)
    found: dict[str, Any] = {"unasked": unasked(model), "facts": model.facts, "asked": {}}
    for scale in asked.guidance or [None]:
        one = ask(model, asked.draws, scale)
        found["asked"]["default" if scale is None else f"{scale:g}"] = one
        told = "  ".join(f"{name} {rate:.2f}" for name, rate in one["rates"].items())
        print(
            f"guidance {one.get('guidance', 1)}: {told}; outside {one['outside']:.4f}", flush=True
        )
    if asked.out:
        write(asked.out, found)


if __name__ == "__main__":
    main()
