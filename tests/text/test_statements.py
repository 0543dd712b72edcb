"""What texts state: as numbers, of windows, in captions, and as the reader decides it."""

import numpy as np
import pytest

from pacodi_jax.text import captions, claims, properties, statements
from pacodi_jax.text.captions import tell, tell_one
from pacodi_jax.text.facts import measure


def test_statements_are_vectors_and_back():
    told = {"trend": {5, 6}, "peaks": {0}, "piece_4": {3}, "rises_at": {0, 6}}
    vector = statements.vector(told)
    assert vector.shape == (statements.WIDTH,) == (174,)
    assert vector.sum() == 6
    assert statements.stated(vector) == told
    assert not statements.vector({}).any()


@pytest.mark.parametrize("split", ["train", "held_out"])
@pytest.mark.parametrize("detail", ["full", "drawn"])
def test_what_captions_state_is_true_of_their_window(split, detail, windows, yardsticks):
    for seed, window in enumerate(windows):
        facts = measure(window, yardsticks)
        told = tell(facts, seed, split=split, detail=detail)
        assert told.stated
        assert statements.holds(facts, told.stated), told


def test_what_is_not_true_does_not_hold(yardsticks):
    rise = measure(np.linspace(-9, 9, 24), yardsticks)
    assert statements.holds(rise, {"trend": {5, 6}, "peaks": {0}})
    assert not statements.holds(rise, {"trend": {3}})
    assert not statements.holds(rise, {"trend": {6}, "peaks": {1}})
    assert not statements.holds(rise, {"peaks_at": {3}})  # there is no peak
    two = measure(np.cos(np.linspace(0, 6 * np.pi, 48)), yardsticks)
    assert statements.holds(two, {"peaks_at": {2}})
    assert not statements.holds(two, {"peaks_at": {2, 3}})  # every place that is told must have one


def test_halves_thirds_and_comparisons_of_known_shapes(yardsticks):
    size = 9 * yardsticks.unit
    roof = np.concatenate([np.linspace(0, size, 13), np.linspace(size, 0, 13)[1:]])
    told = measure(roof, yardsticks)
    assert told.parts[:2] == ("up", "down")
    assert told.parts[2] == "up"
    assert told.parts[4] == "down"
    assert told.compared == (0, 0, 0)
    step = np.repeat([0.0, size], 12)
    assert measure(step, yardsticks).compared[::2] == (1, 1)
    assert measure(-step, yardsticks).compared[::2] == (-1, -1)
    restless = np.zeros(24)
    restless[12:] = size * (-1.0) ** np.arange(12)
    assert measure(restless, yardsticks).compared[1] == 1
    assert measure(restless[::-1], yardsticks).compared[1] == -1


def test_parts_share_their_border_and_cover_the_series():
    parts = properties.split(np.arange(25.0), 3)
    assert [part[0] for part in parts] == [0, 8, 16]
    assert [part[-1] for part in parts] == [8, 16, 24]


def test_claims_suit_exactly_the_windows_of_their_classes(windows, yardsticks):
    for window in windows[:100]:
        facts = measure(window, yardsticks)
        true = statements.exact(facts)
        suiting = {claim for group in claims.true_claims(facts) for claim in group}
        for claim in claims.claims():
            suits = bool(true.get(claim.fact, set()) & set(claim.classes))
            sure = not claim.fact.startswith("peaks") or facts.peaks.sure
            sure &= not claim.fact.startswith("dips") or facts.dips.sure
            assert (claim in suiting) == (suits and sure)


def test_claims_deny_count_to_five_and_compare():
    phrases = {claim.phrase: set(claim.classes) for claim in claims.claims()}
    assert phrases["not rough"] == {0, 1, 2}
    assert phrases["no peak"] == {0}
    assert phrases["five peaks"] == {5}
    assert phrases["neither increasing nor decreasing"] == {2, 3, 4}
    assert phrases["rises in the first half"] == {2}
    assert phrases["falls in the last third"] == {0}
    assert phrases["higher in the second half than in the first"] == {2}
    assert all(0 <= c < statements.FACTS[k.fact] for k in claims.claims() for c in k.classes)


def test_a_pair_states_two_facts_in_one_sentence(windows, yardsticks):
    pairs = [
        tell_one(measure(window, yardsticks), "pair", seed, split="train")
        for seed, window in enumerate(windows[:200])
    ]
    assert np.mean([len(told.stated) == 2 for told in pairs]) > 0.9
    assert all(told.text.count(".") == 1 for told in pairs)


def test_short_captions_for_training_deny_and_full_ones_do_not(windows, yardsticks):
    measured = [measure(window, yardsticks) for window in windows]

    def share(detail):
        told = [captions.word(f, s, split="train", detail=detail) for s, f in enumerate(measured)]
        return np.mean(["not " in text or "never" in text for text in told])

    assert share("drawn") > 0.05
    assert share("full") == 0
