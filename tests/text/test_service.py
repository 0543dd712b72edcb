import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.endpoint import Endpoint
from pacodi_jax.text.encoders.precomputed import Precomputed
from pacodi_jax.text.service import Service, post
from tests.text.conftest import Reply

BODY = {"input": "x"}


def test_a_good_answer_comes_back_and_the_key_travels_in_the_header(loopback, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sesame")
    loopback.replies = [Reply({"ok": 1})]
    assert post(loopback.service(key_variable="MY_KEY"), "/embeddings", BODY) == {"ok": 1}
    path, headers, body = loopback.requests[0]
    assert (path, body) == ("/v1/embeddings", BODY)
    assert headers["Authorization"] == "Bearer sesame"


def test_no_key_no_header(loopback):
    loopback.replies = [Reply({})]
    post(loopback.service(), "/x", BODY)
    assert "Authorization" not in loopback.requests[0][1]


def test_passing_failures_are_tried_again_with_doubling_pauses(loopback):
    loopback.replies = [Reply(status=503), Reply(b"<html>"), Reply([1, 2], cut=True), Reply("yes")]
    assert post(loopback.service(pause=0.5), "/x", BODY) == "yes"
    assert loopback.pauses == [0.5, 1.0, 2.0]


def test_retry_after_is_honoured_up_to_a_minute(loopback):
    slow, very_slow = ((("Retry-After", value),) for value in ("7", "9999"))
    loopback.replies = [Reply(status=429, headers=slow), Reply(status=429, headers=very_slow)]
    loopback.replies += [
        Reply(status=429, headers=(("Retry-After", said),)) for said in ("soon", "nan")
    ]
    loopback.replies += [Reply("yes")]
    assert post(loopback.service(attempts=5), "/x", BODY) == "yes"
    assert loopback.pauses == [7.0, 60.0, 4.0, 8.0]


def test_a_silent_service_times_out_and_is_named(loopback):
    loopback.replies = [Reply(hang=True)]
    with pytest.raises(PacodiError, match=r"failed 2 times, at last: no answer within 0\.2 s"):
        post(loopback.service(timeout=0.2, attempts=2), "/x", BODY)
    assert len(loopback.requests) == 2


def test_an_answer_that_drips_is_read_if_it_is_whole_in_time_and_else_given_up(loopback):
    loopback.replies = [Reply("slow but sure", drip=0.01)]
    assert post(loopback.service(), "/x", BODY) == "slow but sure"
    loopback.replies = [Reply("x" * 100, drip=0.05)]
    with pytest.raises(PacodiError, match=r"no whole answer within 0\.3 s"):
        post(loopback.service(timeout=0.3, attempts=1), "/x", BODY)


def test_a_service_that_hangs_up_is_asked_again(loopback):
    loopback.replies = [Reply(close=True), Reply("yes")]
    assert post(loopback.service(), "/x", BODY) == "yes"
    assert len(loopback.requests) == 2


def test_an_answer_nested_without_end_is_not_json(loopback):
    loopback.replies = [Reply(b"[" * 100_000)]
    with pytest.raises(PacodiError, match="not JSON"):
        post(loopback.service(attempts=1), "/x", BODY)


@pytest.mark.parametrize("key", ["sch\u00fcssel", "\u041a\u043b\u044e\u0447", "two\nlines"])
def test_a_key_that_cannot_be_sent_is_named_not_shown(loopback, monkeypatch, key):
    monkeypatch.setenv("MY_KEY", key)
    loopback.replies = [Reply("yes")]
    with pytest.raises(PacodiError, match="environment variable MY_KEY holds") as caught:
        post(loopback.service(key_variable="MY_KEY"), "/x", BODY)
    assert key not in str(caught.value)
    assert not loopback.requests


def test_nobody_listening_is_named(loopback):
    service = loopback.service(attempts=2)._replace(url="http://127.0.0.1:9/v1")
    with pytest.raises(PacodiError, match=r"127\.0\.0\.1:9/v1 failed 2 times.*no connection"):
        post(service, "/x", BODY)


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "environment variable MY_KEY"), (404, "model's name"), (400, "status 400: bad input")],
)
def test_refusals_are_final_and_say_what_to_do(loopback, monkeypatch, status, said):
    monkeypatch.setenv("MY_KEY", "sesame")
    loopback.replies = [Reply(b"bad input", status=status)]
    with pytest.raises(PacodiError, match=said) as caught:
        post(loopback.service(key_variable="MY_KEY"), "/x", BODY)
    assert len(loopback.requests) == 1
    assert "sesame" not in str(caught.value)


def test_redirects_are_not_followed(loopback):
    loopback.replies = [Reply(status=302, headers=(("Location", "http://127.0.0.1:9/"),))]
    with pytest.raises(PacodiError, match="status 302"):
        post(loopback.service(), "/x", BODY)


def test_an_endless_answer_is_cut_off(loopback):
    loopback.replies = [Reply("x" * 5000)]
    with pytest.raises(PacodiError, match="more than 1000 bytes"):
        post(loopback.service(largest=1000), "/x", BODY)


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "localhost:8000", "", "http://", "http://[::1", "http://h:port/v1"),
        *("http://h:99999/v1", "http://h/a b", "http://h/\u00e9", "http://h/\x00"),
    ],
)
def test_what_is_no_web_address_is_refused_at_once(url):
    pauses: list[float] = []
    with pytest.raises(PacodiError, match="no web address"):
        post(Service(url, wait=pauses.append), "/x", BODY)
    assert not pauses


def _embeddings(rows):
    return Reply({"data": [{"index": i, "embedding": row} for i, row in rows]})


def test_endpoint_orders_by_index_and_asks_equal_texts_once(loopback):
    loopback.replies = [_embeddings([(1, [3.0, 4.0]), (0, [1.0, 2.0])])]
    encoder = Endpoint(service=loopback.service(), model="m", width=2, cut=True)
    np.testing.assert_array_equal(encoder.encode(["up", "dip", "up"]), [[1, 2], [3, 4], [1, 2]])
    assert loopback.requests[0][2] == {
        "model": "m",
        "input": ["up", "dip"],
        "encoding_format": "float",
        "dimensions": 2,
    }


def test_endpoint_splits_many_texts_into_requests(loopback):
    loopback.answer = lambda path, body: _embeddings(
        [(i, [1.0]) for i in range(len(body["input"]))]
    )
    encoder = Endpoint(service=loopback.service(), model="m", width=1)
    assert encoder.encode([f"text {i}" for i in range(300)]).shape == (300, 1)
    assert [len(body["input"]) for _, _, body in loopback.requests] == [128, 128, 44]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (_embeddings([(0, [1.0])]), "must be 2 numbers wide, got 1"),
        (_embeddings([(0, [1.0, float("nan")])]), "not finite"),
        (_embeddings([(0, ["a", "b"])]), "OpenAI-compatible"),
        (_embeddings([]), "OpenAI-compatible"),
        (_embeddings([(0, [10**400, 1.0])]), "OpenAI-compatible"),
        (_embeddings([(0, [1e300, 1.0])]), "not finite"),
        (_embeddings([(float("inf"), [1.0, 1.0])]), "OpenAI-compatible"),
        (Reply({"data": None}), "OpenAI-compatible"),
        (Reply([]), "OpenAI-compatible"),
    ],
)
def test_endpoint_refuses_other_answers(loopback, reply, said):
    loopback.replies = [reply]
    encoder = Endpoint(service=loopback.service(), model="m", width=2)
    with pytest.raises(PacodiError, match=said):
        encoder.encode(["flat"])


def test_endpoint_and_precomputed_of_one_model_share_their_space(loopback):
    served = Endpoint(service=loopback.service(), model="text-embedding-3-large", width=128)
    table = Precomputed(texts=[], vectors=np.zeros((0, 128)))
    assert served.identity == table.identity
