"""Columns of texts and labels that cannot be used are named, with what is wrong with them."""

import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from pacodi_jax import data
from pacodi_jax.configs import text as text_config
from pacodi_jax.data import batches, captioned
from pacodi_jax.data.captioned import with_texts
from pacodi_jax.errors import PacodiError
from pacodi_jax.parallel.mapping import AXIS
from pacodi_jax.run import conditions
from pacodi_jax.text import facts, properties
from pacodi_jax.text.encoders import Encoder
from pacodi_jax.text.encoders.hashed import Hashed
from pacodi_jax.text.encoders.precomputed import Precomputed
from pacodi_jax.train.sources import OnDevices

LENGTH = 8
RISES_AND_FALLS = {"texts": ["it rises", "it falls"], "vectors": np.eye(2), "width": 2}


def _load(tmp_path, captions, **roles):
    frame = pd.DataFrame({"value": np.sin(np.arange(len(captions))), "caption": captions})
    frame.to_csv(tmp_path / "told.csv", index=False)
    return data.load(
        data.DataSettings(source="table", path=tmp_path / "told.csv", length=LENGTH, **roles)
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("...", r"column 'caption', text 2 \('...'\): the text is empty"),
        ("up " * 1500, r"text 2 \('up up .*'\): the text has 1500 words"),
        ("it is a", r"text 2 \('it is a'\): the text 'it is a' says nothing"),
    ],
)
def test_a_text_that_cannot_be_read_is_named_by_column_and_number(tmp_path, text, said):
    told = ["it rises"] * 40 + [text] * 40 + ["it falls"] * 120
    found = _load(tmp_path, told, text="caption")
    with pytest.raises(PacodiError, match=said):
        with_texts(found, Hashed(width=64), column="caption", phrasings=1, seed=0)


class Parrot(Encoder):
    """Tells whether a text is one that it was taught."""

    identity, width = "parrot", 1

    def __init__(self, words=()):
        self.words = words

    def encode(self, texts):
        return np.array([[not self.words or text in self.words] for text in texts], np.float32)

    def taught(self, texts):
        return Parrot(tuple(dict.fromkeys(texts)))


def test_any_encoder_that_learns_words_is_taught_the_training_texts_and_reads_the_rest(tmp_path):
    told = ["it rises"] * 160 + ["it falls"] * 40
    found = _load(tmp_path, told, text="caption")
    found = with_texts(found, Parrot(), column="caption", phrasings=1, seed=0)
    assert found.recipe.words == ("it rises",)
    assert found.train.vectors.all()
    assert not found.held_out.vectors.any()


def test_validation_texts_of_which_nothing_is_read_are_counted(tmp_path):
    found = _load(tmp_path, ["it rises"] * 340 + ["it falls"] * 60, text="caption")
    for encoder, counts in ((Hashed(width=64), True), (Precomputed(**RISES_AND_FALLS), False)):
        read = with_texts(found, encoder, column="caption", phrasings=1, seed=0)
        unread = read.validation.texts.count("it falls")
        assert 0 < unread < len(read.validation)
        assert read.report.unread == (unread if counts else 0)


@pytest.mark.parametrize("role", [{"text": "caption"}, {"static": ("caption",)}])
def test_a_column_that_changes_within_every_window_is_named(tmp_path, role):
    told = [f"number {row // 5}" for row in range(200)]
    with pytest.raises(PacodiError, match=r"column 'caption' keeps one value for 5 rows at most"):
        _load(tmp_path, told, **role)


def test_a_column_that_holds_still_for_one_window_is_enough(tmp_path):
    told = [f"number {row // LENGTH}" for row in range(50 * LENGTH)]
    assert len(_load(tmp_path, told, text="caption").train) > 0


def test_the_text_asked_for_stands_in_its_column_of_the_written_table(tmp_path):
    told = ["it rises"] * 100 + ["it falls"] * 100
    recipe = _load(tmp_path, told, text="caption").recipe
    vector = Hashed(width=64).encode(["it rises"])[0]
    asked = conditions.asked(recipe, None, 0, 2, text="it rises", vector=vector)
    table = recipe.to_table(np.zeros((2, LENGTH, 1)), static=asked.columns)
    assert list(table.columns) == ["window", "value", "caption"]
    assert set(table["caption"]) == {"it rises"}
    bare = _load(tmp_path, told, channels=("value",)).recipe
    assert conditions.asked(bare, None, 0, 2, text="it rises", vector=vector).columns is None


def _with_a_rare_fact(tmp_path):
    """Long slow waves, one peak a window at most, with a single spell of fast ones."""
    values = np.sin(np.arange(2400) / 8)
    values[900:924] = np.sin(np.arange(24) * 2 * np.pi / 12)
    pd.DataFrame({"value": values}).to_csv(tmp_path / "waves.csv", index=False)
    plain = data.load(
        data.DataSettings(
            source="table", path=tmp_path / "waves.csv", length=24, channels=("value",)
        )
    )
    return plain, with_texts(plain, Hashed(width=64), column=None, phrasings=2, seed=0)


def test_further_captions_tell_a_rare_fact_of_their_own_window_alone(tmp_path):
    plain, told = _with_a_rare_fact(tmp_path)
    first = 2 * len(plain.train)
    yardsticks = properties.fit(plain.train.values()[:, :, 0])
    assert 0 < len(told.train) - first < 0.2 * first
    np.testing.assert_array_equal(told.train.starts[:first], np.tile(plain.train.starts, 2))
    for text, window in zip(told.train.texts[first:], told.train.values()[first:], strict=True):
        assert text.count(".") == 1
        for name, find in (("peak", properties.peaks), ("dip", properties.dips)):
            if re.search(rf"\btwo (clear )?{name}s", text.lower()):
                assert len(find(window[:, 0], yardsticks).places) == 2


def test_what_is_oversampled_is_rare_and_sure(tmp_path):
    plain, told = _with_a_rare_fact(tmp_path)
    yardsticks = properties.fit(plain.train.values()[:, :, 0])
    measured = [facts.measure(window, yardsticks) for window in plain.train.values()[:, :, 0]]
    several = [found.peaks.sure and len(found.peaks.places) == 2 for found in measured]
    assert 0 < np.mean(several) < 0.03
    texts = told.train.texts[2 * len(measured) :]
    repeated = plain.train.starts[several]
    counted = [
        start
        for start, text in zip(told.train.starts[-len(texts) :], texts, strict=True)
        if re.search(r"\btwo (clear )?peaks", text.lower())
    ]
    assert set(counted) == set(repeated)
    assert not any("perhaps" in text.lower() for text in texts)
    assert not any(re.search(r"(one|single) (clear )?(peak|dip)", text.lower()) for text in texts)


def test_once_leaves_out_oversampled_rows(tmp_path):
    plain, told = _with_a_rare_fact(tmp_path)
    once = told.train.once()
    np.testing.assert_array_equal(once.starts, plain.train.starts)
    assert once.texts == told.train.texts[: len(once)]
    np.testing.assert_array_equal(once.condition(), told.train.condition()[: len(once)])


def test_oversampled_windows_never_train_the_null(tmp_path):
    plain, told = _with_a_rare_fact(tmp_path)
    again = told.train.oversampled()
    assert again.sum() == len(told.train) - 2 * len(plain.train) > 0
    own, counts = np.unique(told.train.starts[~again], return_counts=True)
    np.testing.assert_array_equal(own, plain.train.starts)  # the law of train: all alike
    assert set(counts) == {2}
    assert not told.validation.oversampled().any()
    assert not told.held_out.oversampled().any()
    assert not told.train.once().oversampled().any()


def test_each_device_gathers_which_of_its_examples_are_oversampled(tmp_path):
    held = batches.resident(_with_a_rare_fact(tmp_path)[1].train)
    chosen = jnp.asarray([0, held.size - 1, held.size - 2, 1])
    batch = OnDevices(held, lambda step: chosen).batch
    share = jax.vmap(lambda _: batch(held, 0), axis_name=AXIS)(jnp.arange(2))
    np.testing.assert_array_equal(share.oversampled, [[False, True], [True, False]])


def test_a_kind_of_very_few_windows_is_not_oversampled(tmp_path, monkeypatch):
    monkeypatch.setattr(captioned, "_FEWEST", 10_000)
    plain, told = _with_a_rare_fact(tmp_path)
    assert len(told.train) == 2 * len(plain.train)


def test_windows_that_are_not_trained_on_are_captioned_once(tmp_path):
    plain, told = _with_a_rare_fact(tmp_path)
    for part in ("validation", "held_out"):
        starts = getattr(plain, part).starts
        np.testing.assert_array_equal(getattr(told, part).starts, starts)
        assert len(getattr(told, part).texts) == len(starts)


@pytest.mark.parametrize("source", ["etth1", "exchange", "air"])
def test_sets_of_the_catalogue_become_pairs_of_text_and_series(source, data_dir):
    channel = text_config.CHANNELS[source]
    found = data.load(
        data.DataSettings(source=source, path=data_dir, length=24, channels=(channel,))
    )
    parts = {name: getattr(found, name) for name in ("train", "validation", "held_out")}
    few = {name: part.pick(np.arange(40) * len(part) // 40) for name, part in parts.items()}
    told = with_texts(replace(found, **few), Hashed(width=64), column=None, phrasings=2, seed=0)
    assert len(set(told.train.texts)) > 40
    assert all(text.endswith(".") for text in told.held_out.texts)
    assert not set(told.train.texts) & set(told.held_out.texts)
    assert np.isfinite(told.train.condition()).all()
