import json

import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import chat
from pacodi_jax.text.chat import Chat
from tests.text.conftest import Reply


def _said(content):
    return Reply({"choices": [{"message": {"role": "assistant", "content": content}}]})


@pytest.fixture
def make(loopback, tmp_path):
    def make(**options):
        service = loopback.service(**{"attempts": 2, **options.pop("service", {})})
        cache = tmp_path / "cache" / "replies.jsonl"
        defaults = {"model": "m", "length": 3, "low": -1.0, "high": 2.0, "cache": cache}
        return Chat(service=service, **{**defaults, **options})

    return make


def test_good_answers_are_parsed(make, loopback):
    loopback.replies = [_said("[1, 2.5, -3e0]"), _said("```json\n[0, 0, 0]\n```")]
    answers = make().draw(["it falls", "it is flat"])
    np.testing.assert_array_equal(answers.series, [[1, 2.5, -3], [0, 0, 0]])
    assert answers.usable.tolist() == [True, True]


def test_the_prompt_holds_length_scale_and_caption(make, loopback):
    loopback.replies = [_said("[1, 2, 3]")]
    make().draw(["two  peaks\x00"])
    path, _, body = loopback.requests[0]
    assert path == "/v1/chat/completions"
    assert body["temperature"] == 0.0
    asked = body["messages"][1]["content"]
    assert "3 equally spaced" in asked
    assert "between -1 and 2" in asked
    assert asked.endswith("Description: two peaks")


def test_a_bad_answer_is_asked_again_with_the_reason(make, loopback):
    loopback.replies = [_said("Sure! [1, 2, 3]"), _said("[1, 2, 3]")]
    answers = make().draw(["rise"])
    np.testing.assert_array_equal(answers.series, [[1, 2, 3]])
    assert "(not JSON)" in loopback.requests[1][2]["messages"][-1]["content"]


def test_answers_that_stay_bad_are_failures_and_not_usable(make, loopback):
    loopback.replies = [_said("[1, 2]"), _said("[1, 2]"), _said("[1, 2, 3]")]
    answers = make().draw(["rise", "fall"])
    assert answers.failures == ((0, "2 values"),)
    assert np.isnan(answers.series[0]).all()
    assert answers.usable.tolist() == [False, True]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("1, 2, 3", "not JSON"),
        ('{"values": [1, 2, 3]}', "not an array"),
        ("[1, 2, 3, 4]", "4 values"),
        ('[1, "2", 3]', '"2" is not a number'),
        ("[1, true, 3]", "true is not a number"),
        ("[1, null, 3]", "null is not a number"),
        ("[1, NaN, 3]", "not finite"),
        ("[1, 1e999, 3]", "not finite"),
        (f"[1, {10**400}, 3]", "not finite"),
        ("[1, 2, 3] as you asked", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("", "not JSON"),
    ],
)
def test_parsing_is_strict(reply, said):
    with pytest.raises(ValueError, match=said):
        chat.parse(reply, 3)


def test_a_stopped_run_goes_on_from_its_cache(make, loopback, tmp_path):
    loopback.replies = [
        _said("[1, 1, 1]"),
        Reply(status=500),
        Reply(status=500),
        _said("[2, 2, 2]"),
    ]
    with pytest.raises(PacodiError, match="failed 2 times"):
        make().draw(["first", "second"])
    with (tmp_path / "cache" / "replies.jsonl").open("ab") as file:
        file.write(b'\xff\n{"key": "cut sh')
    answers = make().draw(["first", "second"])
    np.testing.assert_array_equal(answers.series[:, 0], [1, 2])
    assert len(loopback.requests) == 4
    make().draw(["first", "second"])
    assert len(loopback.requests) == 4
    last = (tmp_path / "cache" / "replies.jsonl").read_bytes().splitlines()[-1]
    assert json.loads(last)["reply"] == "[2, 2, 2]"


def test_another_model_or_scale_is_asked_anew(make, loopback):
    loopback.replies = [_said("[1, 1, 1]")]
    make().draw(["rise"])
    make(model="other").draw(["rise"])
    make(high=5.0).draw(["rise"])
    assert len(loopback.requests) == 3


def test_a_slow_service_times_out(make, loopback):
    loopback.replies = [Reply(hang=True)]
    with pytest.raises(PacodiError, match=r"no answer within 0\.2 s"):
        make(service={"timeout": 0.2}).draw(["rise"])


def test_a_slow_answer_that_comes_in_time_is_used(make, loopback):
    loopback.replies = [_said("[1, 2, 3]")._replace(drip=0.005)]
    np.testing.assert_array_equal(make().draw(["rise"]).series, [[1, 2, 3]])


def test_a_service_that_hangs_up_or_is_not_there_is_named(make, loopback):
    loopback.replies = [Reply(close=True)]
    with pytest.raises(PacodiError, match=r"failed 2 times.*connection"):
        make().draw(["rise"])
    assert len(loopback.requests) == 2
    loopback.url = "http://127.0.0.1:9/v1"
    with pytest.raises(PacodiError, match=r"127\.0\.0\.1:9/v1 failed 2 times.*no connection"):
        make().draw(["rise"])


def test_a_model_that_says_nothing_costs_one_text_and_not_the_run(make, loopback):
    loopback.replies = [_said(None), _said(None), _said("[1, 2, 3]")]
    answers = make().draw(["rise", "fall"])
    assert answers.failures == ((0, "not JSON"),)
    np.testing.assert_array_equal(answers.series[1], [1, 2, 3])


@pytest.mark.parametrize("body", [{"choices": []}, {"choices": [{"message": "up"}]}, [], None])
def test_another_kind_of_service_is_named(make, loopback, body):
    loopback.replies = [Reply(body)]
    with pytest.raises(PacodiError, match="OpenAI-compatible chat"):
        make().draw(["rise"])


@pytest.mark.parametrize(
    "refusal",
    [
        Reply({"error": "filtered"}, status=400),
        Reply({"error": "filtered"}, status=422),
        Reply({"choices": [{"message": {"role": "assistant"}}]}),
    ],
)
def test_a_text_that_the_service_refuses_is_a_failure_of_that_text(make, loopback, refusal):
    loopback.replies = [refusal, refusal, *[_said("[1, 2, 3]")] * 2, *[refusal] * 4]
    answers = make().draw(["rise", "fall", "flat", "wave", "one", "two", "three", "four"])
    assert [failure.number for failure in answers.failures] == [0, 1, 4, 5, 6, 7]
    assert "status 4" in answers.failures[0].reason or "no text" in answers.failures[0].reason
    np.testing.assert_array_equal(answers.series[2:4], [[1, 2, 3]] * 2)


def test_a_service_that_refuses_the_first_three_texts_is_named(make, loopback):
    loopback.replies = [Reply({"error": "no such model"}, status=400)]
    with pytest.raises(PacodiError, match=r"none of the first 3 texts was answered.*no such model"):
        make().draw(["rise", "fall", "flat", "wave"])
    assert len(loopback.requests) == 3


def test_a_refusal_that_concerns_no_text_stops_the_run(make, loopback):
    loopback.replies = [_said("[1, 2, 3]"), Reply(status=401)]
    with pytest.raises(PacodiError, match="status 401"):
        make().draw(["rise", "fall"])


def test_a_cache_that_is_no_file_is_named(make, tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "replies.jsonl"):
        with pytest.raises(PacodiError, match=r"cache='.*cannot be used"):
            make(cache=path)


def test_a_line_of_endless_nesting_in_the_cache_is_left_out(make, loopback, tmp_path):
    loopback.replies = [_said("[1, 2, 3]")]
    (tmp_path / "replies.jsonl").write_text("[" * 100_000 + "\n")
    answers = make(cache=tmp_path / "replies.jsonl").draw(["rise"])
    np.testing.assert_array_equal(answers.series, [[1, 2, 3]])


def test_empty_text_and_a_senseless_scale_are_refused(make):
    with pytest.raises(PacodiError, match="empty"):
        make().draw([" "])
    with pytest.raises(PacodiError, match="low < high"):
        make(low=2.0)
