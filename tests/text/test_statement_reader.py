"""The reader of sentences: attention pooling, what it decides, and the held-out file."""

import json
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import captions, claims, statements
from pacodi_jax.text.encoders import statement_reader as reader
from pacodi_jax.text.encoders.statement_reader import StatementReader
from pacodi_jax.text.facts import measure

HELD_OUT = Path(__file__).with_name("held_out.json")


@pytest.fixture(scope="module")
def known():
    pytest.importorskip("tokenizers")
    found = StatementReader()
    try:
        found.read(["it rises"])
    except PacodiError as error:
        pytest.skip(str(error))
    return found


def _asked() -> list[str]:
    held = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    return [one if isinstance(one, str) else one[0] for texts in held.values() for one in texts]


def test_every_fact_is_held_out_in_ten_ways():
    held = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    assert len(held) == 23
    assert all(len(set(map(str, texts))) == len(texts) >= 10 for texts in held.values())


def test_training_never_says_what_is_held_out(windows, yardsticks):
    asked = {text.casefold() for text in _asked()}
    phrases = {claim.phrase.casefold() for claim in claims.claims()}
    assert not asked & phrases
    measured = [measure(window, yardsticks) for window in windows]
    trained = {
        part.casefold()
        for seed in range(20)
        for number, facts in enumerate(measured)
        for part in re.split(
            r"\. |\.$",
            captions.word(facts, seed * len(measured) + number, split="train", detail="drawn"),
        )
    }
    assert len(trained) > 5000
    assert not asked & trained


def test_pooling_is_the_softmax_of_query_and_key_over_what_is_not_masked():
    weights = reader.init(jax.random.key(0), states=6, width=4)
    states = jax.random.normal(jax.random.key(1), (1, 3, 6))
    mask = jnp.array([[True, True, False]])
    found = reader.logits(weights, states, mask)[0]
    kept = np.asarray(states[0, :2], np.float64)
    scores = np.asarray(weights["query"], np.float64) @ (kept @ np.asarray(weights["key"])).T
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    values = np.asarray(jax.nn.gelu(kept @ np.asarray(weights["value"])))
    pooled = (shares @ values)[reader.OWNERS]
    wanted = (pooled * np.asarray(weights["output"])).sum(1) + np.asarray(weights["bias"])
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    other = states.at[0, 2].set(99.0)
    np.testing.assert_allclose(reader.logits(weights, other, mask)[0], found, atol=1e-6)


def test_slots_above_one_half_count_or_the_best_one_if_it_is_not_weak():
    chances = np.zeros(statements.WIDTH)
    chances[statements.FIRST["trend"] + np.array([5, 6])] = 0.9, 0.6
    chances[statements.FIRST["peaks"] + np.array([2, 3])] = 0.4, 0.35
    chances[statements.FIRST["level"]] = 0.2
    assert reader.decide(chances) == {"trend": {5, 6}, "peaks": {2}}


def test_sentences_add_up_and_of_two_that_exclude_one_another_the_later_counts():
    told = [{"trend": {5, 6}, "peaks_at": {1}}, {"trend": {6}, "peaks_at": {5}}, {"level": {0}}]
    assert reader.together(told) == {"trend": {6}, "peaks_at": {1, 5}, "level": {0}}
    assert reader.together([{"trend": {6}}, {"trend": {0}}]) == {"trend": {0}}
    assert reader.sentences("It rises. It falls, then 0.5; calm") == [
        "It rises",
        "It falls, then 0.5",
        "calm",
    ]


def test_without_the_language_model_the_error_says_what_to_install(tmp_path):
    with pytest.raises(PacodiError, match="minilm"):
        StatementReader(folder=str(tmp_path)).encode(["it rises"])


def test_denials_order_and_pairs_are_read(known):
    told = known.read(["It is not rough.", "It rises.", "It falls. No peaks.", "two peaks"])
    assert told[0]["volatility"] == {0, 1, 2}
    assert told[1]["trend"] == {5, 6}
    assert told[2] == {"trend": {0, 1}, "peaks": {0}}
    assert told[3] == {"peaks": {2}}
    vectors = known.encode(["two peaks", "It rises."])
    np.testing.assert_array_equal(vectors[0], statements.vector({"peaks": {2}}))


@pytest.mark.parametrize("text", ["hello", "the weather in Paris"])
def test_a_text_that_states_nothing_is_refused(known, text):
    with pytest.raises(PacodiError, match=r"nothing of .* is understood; say what"):
        known.encode([text])
