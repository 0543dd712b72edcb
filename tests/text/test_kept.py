import logging

import numpy as np
import pytest

from pacodi_jax.cli import news
from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders import kept
from pacodi_jax.text.encoders.endpoint import Endpoint
from tests.text.conftest import Reply

TEXTS = [f"{number} peaks" for number in range(300)]


def _answer(_, body):
    rows = [{"index": i, "embedding": [int(t.split()[0]), 1]} for i, t in enumerate(body["input"])]
    return Reply({"data": rows})


def _endpoint(loopback, **options):
    service = loopback.service(attempts=1)
    return Endpoint(**{"service": service, "model": "m", "width": 2, **options})


def _asked(loopback):
    return [len(body["input"]) for _, _, body in loopback.requests]


def _files():
    return sorted(kept.folder_of("any").parent.glob("*/*.npz"))


def test_after_a_failure_only_what_is_missing_is_asked(loopback):
    answers = iter([_answer, _answer, lambda *_: Reply(status=500)])
    loopback.answer = lambda *request: next(answers, _answer)(*request)
    with pytest.raises(PacodiError, match="failed 1 times"):
        _endpoint(loopback).encode(TEXTS)
    vectors = _endpoint(loopback).encode(TEXTS)
    np.testing.assert_array_equal(vectors, [[number, 1] for number in range(300)])
    assert _asked(loopback) == [128, 128, 44, 44]
    _endpoint(loopback).encode([*TEXTS[5:9], "1000 peaks"])
    assert _asked(loopback)[4:] == [1]


def test_another_model_width_or_address_is_asked_anew(loopback):
    loopback.answer = _answer
    _endpoint(loopback).encode(["1 peak"])
    _endpoint(loopback, model="other").encode(["1 peak"])
    elsewhere = loopback.service()._replace(url=loopback.url.replace("/v1", "/v2"))
    _endpoint(loopback, service=elsewhere).encode(["1 peak"])
    assert _asked(loopback) == [1, 1, 1]


@pytest.mark.parametrize("damage", ["cut", "flipped", "other", "empty"])
def test_a_damaged_file_counts_as_absent(loopback, damage):
    loopback.answer = _answer
    encoder = _endpoint(loopback)
    encoder.encode(TEXTS[:3])
    (path,) = _files()
    raw = path.read_bytes()
    spoilt = {"cut": raw[:-40], "other": b"no archive", "empty": b""}
    spoilt["flipped"] = raw.replace(np.float32(2).tobytes(), np.float32(7).tobytes())
    path.write_bytes(spoilt[damage])
    np.testing.assert_array_equal(encoder.encode(TEXTS[:3])[:, 0], [0, 1, 2])
    assert _asked(loopback) == [3, 3]


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(loopback, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    loopback.answer = _answer
    np.testing.assert_array_equal(_endpoint(loopback).encode(["4 peaks"]), [[4, 1]])


def test_texts_are_not_written_to_the_disk(loopback):
    loopback.answer = _answer
    _endpoint(loopback).encode(["7 secret"])
    assert all(b"secret" not in path.read_bytes() for path in _files())


def test_a_long_encoding_logs_how_far_it_is_and_a_command_shows_it(loopback, monkeypatch, capsys):
    monkeypatch.setattr(kept, "_TOLD_EVERY", 0.0)
    loopback.answer = _answer
    _endpoint(loopback).encode(TEXTS[:150])
    assert capsys.readouterr() == ("", "")  # the library itself never prints
    with news.shown():
        _endpoint(loopback).encode(TEXTS)
    told = ["encoding texts: 128 of 150", "encoding texts: 150 of 150"]
    assert capsys.readouterr().err.splitlines() == told
    assert not logging.getLogger("pacodi_jax").handlers
