"""What the report says of copies and of membership: one table, above the scores."""

from html import escape

from pacodi_jax.metrics import copying
from pacodi_jax.metrics.privacy import Attack, Privacy
from pacodi_jax.metrics.results import Memorisation, Panel

NAMES = {"distance": "Membership, by distance", "loss": "Membership, by the model's loss"}
ABOUT = {
    "distance": "how often a training window lies nearer to the synthetic ones than an unseen one",
    "loss": "how often the model fits a training window better than an unseen one",
}


def _distance(found: Memorisation) -> tuple[str, ...]:
    reference = copying.REFERENCES[found.reference or "train_apart"]
    return (
        "Copying ratio",
        f"median distance to the nearest training window, over that {reference}",
        copying.COPIES if found.ratio < copying.COPIED else "no copies by the median",
        f"{found.ratio:.2f}",
        "1",
        "0",
    )


def _attack(attack: Attack) -> tuple[str, ...]:
    low, high = attack.interval
    word = "gives members away" if attack.succeeds else "too few windows to tell"
    if not attack.succeeds and not attack.blind:
        word = "no better than without memory"
    ceiling = "–" if attack.ceiling is None else f"{attack.ceiling:.3f}"
    return (
        NAMES[attack.kind],
        ABOUT[attack.kind],
        word,
        f"{attack.auc:.3f} ({low:.3f} to {high:.3f})",
        f"up to {attack.control:.3f}",
        ceiling,
    )


def _shares(found: Privacy) -> list[tuple[str, ...]]:
    word = copying.COPIES if found.repeats else copying.NOT_COPIED
    rows: list[tuple[str, ...]] = [
        (
            "Equal to a training window",
            f"share of {found.looked:,} synthetic windows",
            word,
            f"{100 * found.identical:.2f} %",
            f"{100 * found.identical_real:.2f} %",
            "100 %",
        )
    ]
    if found.nearer is not None and found.nearer_chance is not None:
        rows.append(
            (
                "Nearer than any held-out window",
                "share of synthetic windows nearer to train than any held-out window is",
                copying.COPIES if found.nearer_sure else copying.NOT_COPIED,
                f"{100 * found.nearer:.2f} %",
                f"{100 * found.nearer_chance:.2f} %",
                "100 %",
            )
        )
    return rows


def rows(panel: Panel) -> list[tuple[str, ...]]:
    """Name, meaning, word, value, floor and ceiling of everything found on copies."""
    found = [] if panel.memorisation is None else [_distance(panel.memorisation)]
    if panel.privacy is None:
        return found
    return found + _shares(panel.privacy) + [_attack(attack) for attack in panel.privacy.attacks]


def table(panel: Panel) -> str:
    """The table as HTML; empty where nothing was looked for."""
    found = rows(panel)
    if not found:
        return ""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}<code>{escape(about)}</code></th>'
        f'<td class="word">{escape(word)}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, about, word, *cells in found
    )
    return (
        '<h2>Copying and membership</h2><div class="scroll" role="region" tabindex="0" '
        'aria-label="Copying and membership"><table><caption><span>Floor: windows without memory '
        "of train. Ceiling: plain copies of training windows, as many as the synthetic ones."
        '</span></caption><thead><tr><th class="left" scope="col">What</th>'
        '<th class="left" scope="col">In words</th><th scope="col">Value</th>'
        f'<th scope="col">Floor</th><th scope="col">Ceiling</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
