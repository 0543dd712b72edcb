import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.vocabulary import Reading, collect, read

WORDS = collect(["The series rises sharply, halfway through.", "Two PEAKS"])


def test_words_are_collected_once_in_small_letters():
    assert " ".join(WORDS) == "halfway peaks rises series sharply the through two"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The series rises", "The series rises"),
        ("rising, with a peak", "rising, with a peak"),  # other endings are the same words
        ("Two peaks", "Two peaks"),
        ("two\x00peaks", "two peaks"),
    ],
)
def test_known_words_are_read_as_they_are(text, left):
    assert read(text, WORDS) == Reading(left, {}, ())


def test_misspelt_words_are_read_as_their_nearest():
    assert read("rises sharplly", WORDS) == Reading("rises sharply", {"sharplly": "sharply"}, ())


def test_other_words_are_left_out_in_order_and_named_once():
    found = read("Throughout, the whole series rises; rose two. Whole!", WORDS)
    assert found.text == ", the series rises; two. !"
    assert found.ignored == ("Throughout", "whole", "rose", "Whole")
    assert read("not two not", WORDS).ignored == ("not",)


def test_short_words_are_never_taken_for_others():
    assert read("tow peak", (*WORDS, "town")).ignored == ("tow",)


def test_without_words_all_is_read():
    assert read("tout est lu", ()) == Reading("tout est lu", {}, ())


def test_nothing_may_be_left_and_empty_texts_are_refused():
    assert read("上昇", WORDS) == Reading("", {}, ("上昇",))
    with pytest.raises(PacodiError, match="the text is empty"):
        read(" ", WORDS)
