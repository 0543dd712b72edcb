"""From numbers to words: where a score lies between floor and ceiling, and what that means."""

from typing import Any

import numpy as np
import scipy.stats

#: Upper ends of the position between floor (0) and ceiling (1) that the words stand for.
WORDS = ((0.05, "close to real"), (0.25, "visibly different"), (0.8, "clearly different"))
FLOOR = "at the floor"
UNCLEAR = "unclear, add seeds"
BLIND = "cannot tell on this data"
WORST = "no better than shuffled or noise"
COPIED = 0.5
SIGNIFICANCE = 0.01


def _loss(entry: dict[str, Any], values: list[float]) -> np.ndarray:
    """``values`` as something to be small, whatever the score's direction."""
    array = np.asarray(values, np.float64)
    if entry["better"] == "one":
        return np.abs(np.log(np.maximum(array, 1e-9)))
    return -array if entry["better"] == "higher" else array


def _differs(score: np.ndarray, floor: np.ndarray) -> bool:
    """Whether seeds put the score above the floor: one-sided Welch test at 1 %."""
    gap = score.mean() - floor.mean()
    parts = [np.var(v, ddof=1) / len(v) if len(v) > 1 else 0.0 for v in (score, floor)]
    error = sum(parts)
    if error <= 1e-24:
        return bool(gap > 1e-12)
    freedom = error**2 / sum(p**2 / (len(score) - 1) for p in parts)
    return bool(scipy.stats.t.sf(gap / np.sqrt(error), freedom) < SIGNIFICANCE)


def judge_score(entry: dict[str, Any]) -> dict[str, Any]:
    """Returns ``position``, ``above_floor`` and ``word`` for one score's record.

    ``position`` is 0 at the floor and 1 at the ceiling, clipped. ``above_floor`` says whether
    the seeds tell the score from the floor.
    """
    score, floor, ceiling = (
        _loss(entry, part["values"]) for part in (entry, entry["floor"], entry["ceiling"])
    )
    room = ceiling.mean() - floor.mean()
    position = float(np.clip((score.mean() - floor.mean()) / room, 0, 1)) if room > 0 else 0.0
    above = _differs(score, floor)
    reached = next((word for end, word in WORDS if position <= end), WORST)
    word = reached if above else FLOOR if position <= WORDS[0][0] else UNCLEAR
    if not _differs(ceiling, floor):
        word = BLIND
    if entry["better"] == "one":
        value = float(np.mean(entry["values"]))
        word = "copies training windows" if value < COPIED else "not copied"
    return {"position": position, "above_floor": above, "word": word}


def verdict(scores: list[dict[str, Any]], held_out: bool) -> list[str]:
    """Returns the verdict in sentences, the most important first."""
    plain = [s for s in scores if s["split"] == "train" and s["better"] != "one"]
    off = sorted((s for s in plain if s["above_floor"]), key=lambda s: -s["position"])
    lines = [_headline(plain, off)]
    if off:
        worst = ", ".join(f"{s['title']} ({s['word']})" for s in off[:3])
        lines.append(f"Furthest from real: {worst}.")
    fine = [s["title"] for s in plain if s["word"] == FLOOR]
    if fine and off:
        lines.append(f"As good as other real windows: {', '.join(fine)}.")
    if plain and len(plain[0]["values"]) < 2:
        lines.insert(1, "One seed only: a difference from the floor may be chance. Run several.")
    lines += _copying(scores, held_out)
    if held_out:
        lines += _shift(scores)
    return lines


def _headline(plain: list[dict[str, Any]], off: list[dict[str, Any]]) -> str:
    if not off:
        return "No score tells these synthetic windows from real ones."
    verb = "tells" if len(off) == 1 else "tell"
    told = f"{len(off)} of {len(plain)} scores {verb} them from real ones"
    if off[0]["position"] > WORDS[1][0]:
        easily = "easily" if len(off) == 1 else "some of them easily"
        return f"These windows can be told from real ones: {told}, {easily}."
    if off[0]["position"] > WORDS[0][0]:
        return f"These windows are near the real ones, with visible differences: {told}."
    return f"These windows are close to real: {told}, but barely."


def _copying(scores: list[dict[str, Any]], held_out: bool) -> list[str]:
    found = [s for s in scores if s["better"] == "one"]
    if not found:
        return []
    value = found[0]["value"]
    other = "of held-out windows" if held_out else "between training windows themselves"
    size = f"their distance to the nearest training window is {value:.2f} times that {other}"
    if value < COPIED:
        return [f"Copying: {size}. The generator repeats its training data."]
    return [f"No sign of copying: {size}."]


def settle(panel: dict[str, Any], audit: dict[str, float]) -> dict[str, Any]:
    """Returns the panel with what the audit knows of copying.

    Data that drift put held-out windows far from train, and then all that resembles train looks
    copied beside them. Training windows at least L steps apart are the fairer yardstick.

    Args:
      panel: from ``score_panel``.
      audit: from :func:`pacodi_jax.metrics.memorisation.audit`.
    """
    copied = audit["ratio"] < COPIED
    told = (
        f"{'Copying' if copied else 'No sign of copying'}: their distance to the nearest training "
        f"window is {audit['ratio']:.2f} times that of training windows at least L steps apart."
    )
    lines = [told if "opying: " in line else line for line in panel["verdict"]]
    word = "copies training windows" if copied else "not copied"
    scores = [s | {"word": word} if s["better"] == "one" else s for s in panel["scores"]]
    return panel | {"verdict": lines, "scores": scores, "memorisation": audit}


def _shift(scores: list[dict[str, Any]]) -> list[str]:
    """Says so where train looks much better than held-out."""
    by_split = {(s["name"], s["split"]): s for s in scores}
    worse = [
        s["title"]
        for (name, split), s in by_split.items()
        if split == "held_out" and s["above_floor"] and not by_split[name, "train"]["above_floor"]
    ]
    if not worse:
        return []
    return [f"Fine on train but not on held-out windows: {', '.join(worse)}."]
