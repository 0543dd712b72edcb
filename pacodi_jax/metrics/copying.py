"""What distances and attacks mean in words: a verdict names copies first."""

from pacodi_jax.metrics.privacy import Attack, Privacy
from pacodi_jax.metrics.results import Memorisation

COPIES, NOT_COPIED = "copies training windows", "not copied"
#: Windows whose distance to train is below this share of the reference's are called copies.
COPIED = 0.5
REFERENCES = {
    "train_apart": "of training windows at least L steps apart",
    "held_out": "of held-out windows",
    "train": "between training windows",
}


def word(ratio: float) -> str:
    """The word for a ratio of median distances to training windows."""
    return COPIES if ratio < COPIED else NOT_COPIED


def alarms(memorisation: Memorisation | None, privacy: Privacy | None) -> list[str]:
    """What says that training windows were copied, each in a clause."""
    found = []
    if memorisation is not None and memorisation.ratio < COPIED:
        found.append(f"their distance to the nearest training window is {_ratio(memorisation)}")
    if privacy is None:
        return found
    if privacy.repeats:
        found.append(f"{_percent(privacy.identical)} of them equal a training window")
    if privacy.nearer_sure:
        found.append(
            f"{_percent(privacy.nearer or 0)} are nearer to a training window than any held-out "
            "window is"
        )
    return found + [_told(attack) for attack in privacy.attacks if attack.succeeds]


def sentences(
    memorisation: Memorisation | None, privacy: Privacy | None
) -> tuple[list[str], list[str]]:
    """What stands at the head of a verdict, and what stands at its end."""
    found = alarms(memorisation, privacy)
    if found:
        head = f"These windows copy the training data: {'; '.join(found)}."
        return [head, "A copy scores as real: the other scores say little."], []
    calm = []
    if memorisation is not None:
        calm.append(
            "No sign of copying: their distance to the nearest training window is "
            f"{_ratio(memorisation)}."
        )
    attacks = () if privacy is None else privacy.attacks
    return [], calm + [_sentence(attack) for attack in attacks]


def _ratio(memorisation: Memorisation) -> str:
    reference = REFERENCES[memorisation.reference or "train_apart"]
    return f"{memorisation.ratio:.2f} times that {reference}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _told(attack: Attack) -> str:
    """What an attack achieves, as a clause."""
    low, high = (100 * end for end in attack.interval)
    means = "with the model" if attack.kind == "loss" else "with these windows alone"
    return (
        f"{means}, an attacker tells a training window from an unseen one in "
        f"{100 * attack.auc:.0f} of 100 pairs ({low:.0f} to {high:.0f}; 50 is chance)"
    )


def _sentence(attack: Attack) -> str:
    told = _told(attack)
    if attack.blind:
        return f"Membership: {told}; more synthetic windows are needed to tell even a plain copy."
    return f"Membership: {told}; a surrogate without memory reaches {100 * attack.control:.0f}."
