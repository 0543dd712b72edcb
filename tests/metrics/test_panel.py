import json

import numpy as np
import pytest

from pacodi_jax.metrics import cache as caches
from pacodi_jax.metrics import memorisation, surrogates, ts2vec
from pacodi_jax.metrics.draws import prepare
from pacodi_jax.metrics.panel import Measurement, _key, score_panel
from pacodi_jax.metrics.results import Memorisation
from pacodi_jax.metrics.score import Estimate, Score, summarise
from pacodi_jax.metrics.verdict import judge_score, sentences, settled
from tests.metrics.windows import SMALL, waves


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return caches.Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def fair(kept):
    """Other real windows as if they had been generated."""
    return score_panel(waves(400), waves(200, seed=1), waves(200, seed=2), budget=SMALL, cache=kept)


def _by_name(panel, split="train"):
    return {score.name: score for score in panel.of(split)}


TRAINED = ("context_fid_v1", "discriminative_v1", "predictive_v1", "strong_discriminative_v1")


def test_other_real_windows_score_at_the_floor(fair):
    """On 100 of 200 windows the sampling error of untrained scores is large; they get 2000."""
    untrained = [name for name in _by_name(fair) if name not in TRAINED]
    windows = waves(4000), waves(2000, seed=1), waves(2000, seed=2)
    many = score_panel(*windows, budget=SMALL._replace(windows=2000), only=untrained)
    for split in ("train", "held_out"):
        trained = {name: _by_name(fair, split)[name] for name in TRAINED}
        for name, score in (trained | _by_name(many, split)).items():
            assert score.position < 0.12, (split, name)
    assert "distinguish" in fair.verdict[0]


def test_shuffled_windows_score_near_the_ceiling_and_floors_come_from_the_cache(
    fair, kept, monkeypatch
):
    def refuse(*_):
        raise AssertionError("the encoder must come from the cache")

    monkeypatch.setattr(ts2vec, "train", refuse)
    bad = surrogates.shuffled(waves(200, seed=1), seed=3)
    panel = score_panel(waves(400), bad, waves(200, seed=2), budget=SMALL, cache=kept)
    ours = _by_name(panel)
    for name in (
        *("context_fid_v1", "correlational_v1", "strong_discriminative_v1"),
        *("autocorrelation_v1", "power_spectrum_v1", "density_v1", "coverage_v1"),
    ):
        assert ours[name].position > 0.8, name
        assert ours[name].above_floor, name
        assert ours[name].floor == _by_name(fair)[name].floor
    assert panel.verdict[0].startswith("These windows differ from real ones")


def test_copies_are_called_copies(kept):
    panel = score_panel(waves(400), waves(400)[:200], waves(200, seed=2), budget=SMALL, cache=kept)
    assert _by_name(panel)["nearest_neighbour_v1"].word == "copies training windows"
    assert panel.verdict[0].startswith("These windows copy the training data: ")
    assert "50 of 100 pairs" not in panel.verdict[0]
    assert panel.privacy.identical == 1.0


def test_without_held_out_windows_the_reference_is_train_itself():
    windows = prepare(waves(400), waves(200, seed=1))
    metric = memorisation.metric(windows)
    ratios = {
        role: metric.score(*memorisation.sides(windows, metric, "train", role, 0, 200), 0)
        for role in ("score", "floor", "ceiling")
    }
    assert ratios["floor"] == pytest.approx(1.0, abs=0.2)
    assert ratios["score"] == pytest.approx(1.0, abs=0.3)
    assert ratios["ceiling"] < 1e-3


def test_record_is_json_with_all_that_a_reader_needs(fair):
    record = json.loads(fair.to_json())
    assert record["schema"] == 1
    assert record["settings"]["discriminative_steps"] == 400
    assert record["data"]["held_out"]["windows"] == 200
    for score in record["scores"]:
        assert len(score["values"]) == len(score["seeds"]) == 3
        assert score["interval"][0] <= score["value"] <= score["interval"][1]
        assert {"floor", "ceiling", "windows", "better", "group", "word"} <= set(score)
    assert {s["windows"] for s in record["scores"] if s["name"] == "density_v1"} == {100}


def test_interval_is_students():
    assert summarise([1.0, 2.0, 3.0]).interval == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)
    assert summarise([1.5]).interval == (1.5, 1.5)


def test_a_score_within_the_seeds_spread_is_not_called_different():
    def judged(values, floor, better="lower"):
        ceiling = [1.0 if better == "lower" else 0.0] * 3
        return judge_score(better, *map(summarise, (values, floor, ceiling)))

    assert judged([0.10, 0.11, 0.12], [0.10, 0.11, 0.12]).word == "at the floor"
    assert judged([0.1, 0.2, 0.9], [0.1, 0.2, 0.15]).word == "unclear, add seeds"
    assert judged([0.5, 0.51, 0.52], [0.1, 0.11, 0.12]).word == "clearly different"
    assert judged([0.9, 0.91, 0.9], [0.9, 0.9, 0.91], "higher").position < 0.01


def _made(better, word, values=(0.3, 0.3), **judged):
    """A score made up for the words about it."""
    some = Estimate(0.0, (0.0, 0.0))
    return Score("n", "train", better, summarise(values), some, some, word, "t", **judged)


def test_one_seed_is_called_one_seed():
    lines = sentences([_made("lower", "w", [0.3], above_floor=True, position=0.5)])
    assert lines[0].endswith("1 of 1 scores distinguishes them, easily.")
    assert lines[1].startswith("One seed only")


def test_bounds_of_another_encoder_are_not_taken_from_the_cache():
    windows = prepare(waves(400), waves(100, seed=1))
    keys = {_key(windows, SMALL._replace(windows=size)) for size in (100, 200, 400, 500)}
    assert len(keys) == 3  # 400 and 500 are both all of the real windows


def test_a_cache_that_cannot_be_written_costs_no_score(tmp_path):
    (tmp_path / "file").write_text("")
    caches.Cache(tmp_path / "file" / "cache").keep_bounds("k", {"a": 1.0})
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_digest_is_of_the_contents_not_of_the_order():
    windows = waves(30)
    assert caches.digest(windows) == caches.digest(windows[::-1])
    assert caches.digest(windows) != caches.digest(windows[1:])
    assert caches.digest(windows) != caches.digest(windows + 1e-6)


def test_damaged_cache_counts_as_empty(tmp_path):
    (tmp_path / "bounds-k.json").write_text("{broken")
    (tmp_path / "encoder-k.safetensors").write_bytes(b"\x00" * 20)
    cache = caches.Cache(tmp_path)
    assert cache.bounds("k") == {}
    assert cache.encoder("k", ts2vec.init(np.random.default_rng(0), 16, 4)) is None


def test_cached_encoder_comes_back_as_it_was(tmp_path):
    params = ts2vec.init(np.random.default_rng(7), 16, 4)
    cache = caches.Cache(tmp_path)
    cache.keep_encoder("k", params)
    back = cache.encoder("k", ts2vec.init(np.random.default_rng(0), 16, 4))
    windows = waves(10)
    np.testing.assert_array_equal(ts2vec.encode(back, windows), ts2vec.encode(params, windows))
    assert cache.encoder("k", ts2vec.init(np.random.default_rng(0), 16, 3)) is None


def test_the_words_on_copying_leave_drift_out():
    copied = _made("one", "copies training windows", [0.05] * 3)
    close = _made("lower", "close to real", above_floor=True, position=0.01)
    apart = Memorisation(1.02, 1.0, 20.0, 1.02, "train_apart")
    lines = sentences([copied, close], apart)
    assert (
        lines[0] == "These windows are close to real: 1 of 1 scores distinguishes them, but barely."
    )
    assert lines[-1].startswith("No sign of copying")
    assert "1.02 times that of training windows at least L steps apart" in lines[-1]
    assert settled(copied, apart).word == "not copied"
    assert settled(close, apart) == close
    near = Memorisation(0.2, 1.0, None, 0.2)
    lines = sentences([copied, close], near)
    assert lines[0].startswith("These windows copy the training data: their distance")
    assert settled(copied, near).word == "copies training windows"


def test_two_seeds_are_said_to_be_too_few_and_not_the_data_to_be_blind():
    close, far = summarise([0.1, 0.2]), summarise([0.5, 1.5])
    assert judge_score("lower", close, close, far).word == "too few seeds to tell"
    floor, ceiling = summarise([0.1, 0.2, 0.15]), summarise([0.12, 0.19, 0.17])
    assert judge_score("lower", floor, floor, ceiling).word == "cannot tell on this data"


def test_an_evaluation_that_was_stopped_goes_on_and_tells_its_first_verdict(tmp_path, monkeypatch):
    """Of a kill at the fifth number the first four stay; no number is measured twice."""
    cache, only = caches.Cache(tmp_path), ["wasserstein_v1", "autocorrelation_v1"]
    windows, done = (waves(100), waves(60, seed=1)), []
    run = Measurement.run

    def killed(measurement, *rest):
        done.append(measurement.label)
        if len(done) == 5:
            raise KeyboardInterrupt
        return run(measurement, *rest)

    monkeypatch.setattr(Measurement, "run", killed)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    budget = SMALL._replace(seeds=(0, 1))
    with pytest.raises(KeyboardInterrupt):
        score_panel(*windows, budget=budget, cache=cache, only=only)
    kept = [name for file in tmp_path.glob("bounds-*") for name in json.loads(file.read_text())]
    assert kept
    before, told = len(done), []
    panel = score_panel(*windows, budget=budget, cache=cache, only=only, announce=told.append)
    assert not set(kept) & set(done[before:])
    assert panel.scores == score_panel(*windows, budget=budget, only=only).scores
    assert "numbers to measure: about" in told[0]
    assert told[1].endswith(panel.verdict[0])
