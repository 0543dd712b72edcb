"""Imputation beside its baselines: on Gaussian windows their scores have closed forms."""

import json
from types import SimpleNamespace

import jax
import numpy as np
import optax
import pytest
from scipy.stats import norm

from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Shape
from pacodi_jax.models.diffusion_ts.generator import DiffusionTS, prepare
from pacodi_jax.models.diffusion_ts.settings import Diffusion, DiffusionTSSettings, Network
from tests.models import small

LENGTH, CHANNELS, WINDOWS, DRAWS = 8, 2, 40, 32


@pytest.fixture(scope="module")
def bench(benchmark):
    names = ("bench", "methods", "baselines", "scores")
    files = ("bench_observed", "observed_methods", "observed_baselines", "observed_scores")
    return SimpleNamespace(**{n: benchmark(f) for n, f in zip(names, files, strict=True)})


def _covariance() -> np.ndarray:
    """Of two AR(1) channels with φ = 0.9 that share half of what drives them."""
    lags = np.abs(np.subtract.outer(np.arange(LENGTH), np.arange(LENGTH)))
    return np.kron(0.9**lags, np.array([[1.0, 0.5], [0.5, 1.0]]))


def _windows(count: int, seed: int) -> np.ndarray:
    white = np.random.default_rng(seed).normal(size=(count, LENGTH * CHANNELS))
    flat = white @ np.linalg.cholesky(_covariance()).T
    return flat.reshape(count, LENGTH, CHANNELS).astype(np.float32)


@pytest.fixture(scope="module")
def subject(bench):
    train = _windows(4000, 0)
    model = small.silent(
        small.fitted(small.settings(statistics="none"), train, optax.sgd(0.01), small.BATCH)
    )
    part = bench.methods.Part(_windows(WINDOWS, 1), None)
    asked = {"train": part}
    return bench.methods.Subject(model, {}, bench.methods.Part(train, None), asked, None)


@pytest.mark.parametrize("kind", ["random 50 %", "last half"])
def test_the_gaussian_conditional_meets_its_closed_form_and_replacement_does_not(
    bench, subject, kind
):
    part = subject.parts["train"]
    budget = bench.methods.Budget(WINDOWS, DRAWS, 20)
    cell: dict = {}
    for drawn in bench.methods.drawn(subject):
        cell |= bench.bench.measure(subject, part, kind, budget, drawn)[0]
    hidden = bench.scores.masks(kind, LENGTH, CHANNELS)
    deviations = []
    for mask in hidden:  # s/√π is the expected CRPS of a normal law that is right
        s, h = _covariance(), mask.ravel()
        inside = np.linalg.solve(s[np.ix_(~h, ~h)], s[np.ix_(~h, h)])
        deviations.append(np.sqrt(np.diag(s[np.ix_(h, h)] - s[np.ix_(h, ~h)] @ inside)).mean())
    wanted = np.mean(deviations) / np.sqrt(np.pi)
    assert cell["gaussian, exact"]["crps"][0] == pytest.approx(wanted, rel=0.12)
    assert cell["gaussian"]["crps"][0] == pytest.approx(
        cell["gaussian, exact"]["crps"][0] * (1 + 1 / DRAWS), rel=0.02
    )
    assert cell["gaussian"]["coverage"][0] == pytest.approx(0.8, abs=0.06)
    assert cell["gaussian"]["ratio"] == [1.0, 1.0, 1.0]
    assert cell["network"]["ratio"][0] < 1.1
    assert cell["replacement"]["ratio"][0] > 1.1
    assert cell["replacement"]["ratio"][0] > cell["network"]["ratio"][0] + 0.1
    assert "coverage" not in cell["interpolation"]


def test_a_cell_that_is_there_is_not_measured_again(bench, subject, tmp_path, monkeypatch, capsys):
    path, measured = tmp_path / "run.json", []

    def measure(subject, part, kind, budget, drawn):
        measured.append(f"{drawn}/{kind}")
        return {drawn: {"crps": [0.123456, 0.1, 0.2]}}, 1.0

    monkeypatch.setattr(bench.bench, "measure", measure)
    budget = bench.methods.Budget(WINDOWS, DRAWS, 4)
    bench.bench.record(path, subject, {"steps": 1}, budget, kinds=["block"])
    cell = json.loads(path.read_text())["cells"]["train/block"]["methods"]
    assert cell == {key: {"crps": [0.1235, 0.1, 0.2]} for key in ("network", "replacement")}
    bench.bench.record(path, subject, {"steps": 1}, budget)
    assert len(measured) == len(set(measured)) == 2 * len(bench.scores.KINDS)
    assert measured[:3] == ["network/block", "replacement/block", "network/random 50 %"]
    assert "10 of 10, train/last half: CRPS replacement 0.123" in capsys.readouterr().out
    for other in ({"steps": 2}, budget), ({"steps": 1}, budget._replace(draws=8)):
        with pytest.raises(PacodiError, match=r"was measured with another (model|draws)"):
            bench.bench.record(path, subject, *other)


@pytest.mark.parametrize("flag", ["--windows=19", "--draws=1", "--steps=1"])
def test_what_gives_no_interval_or_spread_is_refused_in_one_line(bench, flag):
    with pytest.raises(PacodiError, match=rf"^{flag}; accepted: \d+ or more\.$"):
        bench.bench.main(["run", flag])


def test_masks_hide_what_they_say(bench):
    hidden = {kind: bench.scores.masks(kind, 9, 3) for kind in bench.scores.KINDS}
    share = {kind: set(mask.mean(axis=(1, 2)).round(3)) for kind, mask in hidden.items()}
    assert share["random 50 %"] == {round(14 / 27, 3)}
    assert share["random 80 %"] == {round(22 / 27, 3)}
    assert share["last half"] == {round(4 / 9, 3)}
    assert (hidden["block"].sum(axis=1) == 3).all()
    edges = np.diff(hidden["block"].astype(int), axis=1, prepend=0, append=0)
    assert (np.abs(edges).sum(axis=1) == 2).all()  # one block per channel
    assert len(np.unique(hidden["block"].argmax(axis=1))) > 1
    np.testing.assert_array_equal(hidden["channel"].all(axis=1), np.eye(3, dtype=bool))
    assert hidden["last half"][0, 5:].all()


def test_interpolation_and_seasons_are_those_of_the_textbook(bench):
    window = np.array([[[1.0, 9.0], [0.0, 9.0], [3.0, 9.0], [7.0, 9.0]]])
    seen = np.zeros(window.shape, bool)
    seen[0, [0, 2], 0] = True
    filled = bench.baselines.interpolate(window, seen, np.array([5.0, 6.0]))
    np.testing.assert_array_equal(filled[0, :, 0], [1, 2, 3, 3])
    np.testing.assert_array_equal(filled[0, :, 1], 6)
    again = bench.baselines.seasonal(np.arange(6.0)[None, :, None], 4, 2)
    np.testing.assert_array_equal(again[0, :, 0], [0, 1, 0, 1, 0, 1])


def test_what_else_is_known_narrows_the_gaussian_law(bench):
    rng = np.random.default_rng(0)
    told = rng.normal(size=(5000, 1))
    windows = (told[:, :, None] + 0.1 * rng.normal(size=(5000, 3, 1))).astype(np.float32)
    seen = np.zeros((3, 1), bool)
    free = bench.baselines.given(bench.baselines.fit(windows), windows[:4], seen)
    bound = bench.baselines.given(bench.baselines.fit(windows, told), windows[:4], seen, told[:4])
    assert free.covariance[0, 0] == pytest.approx(1.01, rel=0.06)
    assert bound.covariance[0, 0] == pytest.approx(0.01, rel=0.06)
    np.testing.assert_allclose(bound.mean, told[:4].repeat(3, axis=1), atol=0.02)


def test_scores_are_those_of_a_normal_law(bench):
    rng = np.random.default_rng(0)
    truth, draws = rng.normal(size=(400, 5)), rng.normal(size=(32, 400, 5))
    found = bench.scores.of_draws(truth, draws)
    exact = bench.scores.of_normal(truth, np.zeros((400, 5)), np.ones(5))
    assert exact.crps.mean() == pytest.approx(1 / np.sqrt(np.pi), rel=0.05)
    assert found.crps.mean() == pytest.approx(exact.crps.mean() * (1 + 1 / 32), rel=0.02)
    assert found.coverage.mean() == pytest.approx(0.8, abs=0.02)
    assert exact.coverage.mean() == pytest.approx(0.8, abs=0.03)
    assert exact.mae.mean() == pytest.approx(2 * norm.pdf(0), rel=0.05)


def test_intervals_are_wider_where_neighbours_are_alike(bench):
    rng = np.random.default_rng(0)
    alike = rng.normal(size=bench.scores.STRETCHES).repeat(10)
    apart = rng.permutation(alike)
    wide, narrow = (bench.scores.interval(values) for values in (alike, apart))
    assert wide[2] - wide[1] > 2 * (narrow[2] - narrow[1])
    assert wide[2] - wide[1] == pytest.approx(4 * alike.std() / np.sqrt(20), rel=0.25)
    assert bench.scores.interval(2 * apart, apart) == [2.0, 2.0, 2.0]


def test_a_run_of_diffusion_ts_is_asked_by_its_authors_scheme(bench):
    size = Network(width=8, heads=2, encoders=1, decoders=1)
    settings, windows = DiffusionTSSettings(size, Diffusion(steps=20)), _windows(WINDOWS, 1)
    generator = DiffusionTS(
        settings, Shape(LENGTH, CHANNELS), prepare(settings, windows, None), None
    )
    weights = jax.jit(generator.first_params)(jax.random.key(0))
    part = bench.methods.Part(windows, None)
    subject = bench.methods.Subject(generator, weights, part, {"train": part}, None)
    assert bench.methods.drawn(subject) == ["Diffusion-TS"]
    budget = bench.methods.Budget(WINDOWS, 3, 4)
    cell = bench.bench.measure(subject, part, "last half", budget, "Diffusion-TS")[0]
    assert {"Diffusion-TS", "gaussian", "interpolation"} <= cell.keys()
    seen = ~bench.scores.masks("last half", LENGTH, CHANNELS).repeat(WINDOWS, axis=0)
    made = bench.methods.published(subject, part, seen, budget)
    assert made.shape == (3, *windows.shape)
    np.testing.assert_array_equal(made[:, seen], np.broadcast_to(windows[seen], (3, seen.sum())))
    assert made[:, ~seen].std(axis=0).mean() > 0.01
