"""The section ``text`` and the encoders it names."""

import numpy as np
import pytest

from pacodi_jax.configs import common
from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.hashed import Hashed
from pacodi_jax.text.settings import TextSettings, build_encoder
from tests.text.conftest import write_fragments


def test_the_section_and_the_config_have_the_same_defaults():
    assert TextSettings().to_dict() == common.get_config().text.to_dict()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"encoder": "hashd"}, "text.encoder='hashd' is unknown; accepted: '' (none), endpoint"),
        ({"phrasings": 0}, "text.phrasings=0; accepted: 1, 2, 3, …"),
        ({"dropout": 1.5}, "text.dropout=1.5; accepted: 0 <= dropout <= 1"),
        ({"witdh": 64}, "there is no setting 'text.witdh'. Did you mean 'width'?"),
    ],
)
def test_an_impossible_setting_is_refused_by_its_full_name(given, message):
    with pytest.raises(PacodiError) as error:
        TextSettings.make(given)
    assert str(error.value).startswith(message)


def test_hashed_has_the_width_and_the_words_it_is_given():
    made = build_encoder(TextSettings(encoder="hashed", width=64), words=("rise",))
    assert made.words == ("rise",)
    np.testing.assert_array_equal(
        made.encode(["a rise"]), Hashed(width=64, words=("rise",)).encode(["a rise"])
    )


def test_vectors_made_beforehand_come_from_the_file_and_name_their_model(tmp_path):
    path = tmp_path / "embedding_cleaned_ETTh1_8.csv"
    texts = write_fragments(path)
    made = build_encoder(TextSettings(encoder="precomputed", model="other"), path=str(path))
    assert made.identity == "served/other/width=128"
    assert made.encode(texts[:1]).shape == (1, 128)


def test_an_endpoint_is_known_by_its_model_and_width():
    settings = TextSettings(encoder="endpoint", url="http://localhost/v1", model="m", width=32)
    assert build_encoder(settings).identity == "served/m/width=32"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (TextSettings(), r"^text\.encoder is empty.*hashed"),
        (TextSettings(encoder="endpoint"), r"^text\.model is empty"),
    ],
)
def test_an_encoder_that_is_not_fully_named_is_refused(settings, message):
    with pytest.raises(PacodiError, match=message):
        build_encoder(settings)
