import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import properties
from pacodi_jax.text.captions import caption
from pacodi_jax.text.clauses import stem
from pacodi_jax.text.encoders.hashed import Hashed
from pacodi_jax.text.encoders.vocabulary import Reading, Vocabulary, collect
from pacodi_jax.text.lexicon import SYNONYMS

WORDS = collect(["The series rises sharply, halfway through.", "Two PEAKS", "steady, normal"])


def read(text: str) -> Reading:
    return Vocabulary(WORDS).read(text)


def test_words_are_collected_once_in_small_letters():
    told = "halfway normal peaks rises series sharply steady the through two"
    assert " ".join(WORDS) == told


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The series rises", "the series rises"),
        ("rising, with a peak", "rising, with a peak"),  # other endings are the same words
        ("two\x00peaks", "two peaks"),
    ],
)
def test_known_words_are_read_as_they_are(text, left):
    assert read(text) == Reading(left, {}, ())


def test_misspelt_words_are_read_as_their_nearest():
    assert read("rises Sharplly") == Reading("rises sharply", {"sharplly": "sharply"}, ())


@pytest.mark.parametrize(
    "word", ["unsteady", "abnormal", "throughout", "troughs", "tow", "steady7"]
)
def test_words_that_mean_something_else_are_not_mended(word):
    assert read(f"two {word}").ignored == (word,)


def test_single_digits_are_read_as_the_words_that_training_has():
    assert read("2 peaks, 3 peaks") == Reading("two peaks, peaks", {"2": "two"}, ("3",))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("two spikes", "two peak"),
        ("it spiked twice", "it peak two"),
        ("surges", "sharp rise"),
        ("a surgee, a vally", "a sharp rise, a"),  # misspelt
        ("a sharp surge, sharp", "a sharp rise, sharp"),
        ("plunges", ""),  # this training has no drop
        ("a bumpy, quiet trough", "a ,"),
    ],
)
def test_words_that_mean_the_same_are_read_as_those_that_training_has(text, left):
    assert read(text).text == left


@pytest.mark.parametrize(
    "text",
    ["a constant rise", "it rises constantly", "it doubles", "once it peaks", "a coupled series"],
)
def test_words_that_mean_it_only_at_times_are_left_out(text):
    known = collect(["it rises", "a rise", "flat", "two peaks", "one peak", "a series", "no trend"])
    assert not Vocabulary(known).read(text).corrected


def test_synonyms_are_no_words_of_captions_and_stand_for_some():
    windows = np.random.default_rng(0).normal(size=(200, 24)).cumsum(axis=1)
    yardsticks = properties.fit(windows)
    texts = [caption(w, s, yardsticks=yardsticks) for s, w in enumerate(np.tile(windows, (5, 1)))]
    known = {stem(word) for word in collect(texts)}
    for word, meaning in SYNONYMS.items():
        assert stem(word) not in known, word  # else it would never be looked up
        assert all(stem(part) in known for part in meaning.split()), meaning


def test_numbers_are_not_mended():
    assert Vocabulary(("20230102", "two")).read("two 20230101").ignored == ("20230101",)


def test_other_words_are_left_out_in_order_and_named_once():
    found = read("Throughout, the whole series rises; rose two. Whole!")
    assert found.text == ", the series rises; two. !"
    assert found.ignored == ("throughout", "whole", "rose")


def test_without_words_all_is_read():
    assert Vocabulary().read("tout est lu") == Reading("tout est lu", {}, ())


def test_nothing_may_be_left_and_empty_texts_are_refused():
    assert read("上昇") == Reading("", {}, ("上昇",))
    with pytest.raises(PacodiError, match="the text is empty"):
        read(" ")


@pytest.mark.parametrize(
    "text", ["ｔｗｏ ｐｅａｋｓ", "e\u0301te\u0301 haut", "kw/m² peak", "İstanbul"]
)
def test_training_texts_keep_all_their_words(text):
    reader = Hashed(width=256, words=collect([text]))
    np.testing.assert_array_equal(reader.encode([text]), Hashed(width=256).encode([text]))
    assert Vocabulary(collect([text])).read(text)[1:] == ({}, ())
