"""The front door: what a user of the library types, and what comes back."""

import copy
import inspect
import pickle
import threading

import jax
import jax.export
import numpy as np
import pandas as pd
import pytest

import pacodi_jax as pj
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.run import export
from pacodi_jax.settings import Evaluation
from tests.api.shops import QUICK, estimator, shops


def test_samples_have_the_users_columns_order_types_and_units(fitted):
    new = fitted.sample(5)
    table = shops()
    assert list(new) == ["window", *table]
    assert len(new) == 5 * 12
    assert new.dtypes[list(table)].equals(table.dtypes)
    assert set(new["grade"]) <= {"low", "high"}
    assert (new["window"].to_numpy() == np.repeat(np.arange(5), 12)).all()


def test_an_array_holds_the_values_of_the_frame(fitted):
    array, frame = fitted.sample(4, output="numpy"), fitted.sample(4)
    assert array.shape == (4, 12, 2)
    np.testing.assert_array_equal(array.reshape(-1, 2), frame[["sales", "load"]].to_numpy(float))
    assert (array[..., 0] == np.rint(array[..., 0])).all()


def test_window_i_depends_on_seed_and_i_alone(fitted):
    few, many = fitted.sample(3, seed=7), fitted.sample(6, seed=7)
    pd.testing.assert_frame_equal(few, many.head(36), rtol=1e-4)
    assert not fitted.sample(3, seed=8)["load"].equals(few["load"])


def test_a_fitted_model_is_pickled_and_copied(fitted):
    drawn = fitted.sample(2)  # builds programs, which are left behind
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        pd.testing.assert_frame_equal(again.sample(2), drawn)
        assert again.get_params() == fitted.get_params()


def test_unasked_columns_are_drawn_as_in_train_and_partial_ones_completed():
    table = shops().assign(zone=lambda t: np.where(t["grade"] == "high", "north", "south"))
    model = estimator(static=["grade", "zone"]).fit(table, progress=False)
    free = model.sample(60).groupby("window")[["grade", "zone"]].first()
    assert set(map(tuple, free.to_numpy())) == {("high", "north"), ("low", "south")}
    partial = model.sample(20, static={"grade": "high"})
    assert set(partial["grade"]) == {"high"}
    assert set(partial["zone"]) == {"north"}


def test_sampling_choices_are_arguments(fitted):
    plain = fitted.sample(3, output="numpy")
    other = fitted.sample(3, output="numpy", static={"grade": "high"}, guidance=2, steps=5)
    assert np.abs(plain - other).max() > 0
    with pytest.raises(pj.PacodiError, match="Did you mean 'guidance'"):
        fitted.sample(3, guidnce=2)


def test_settings_say_how_many_are_drawn_and_scored_unless_the_call_does(monkeypatch):
    asked = QUICK | {"sample.count": 3, "evaluate.windows": 30, "evaluate.seeds": 2, "seed": 4}
    model = estimator(settings=asked).fit(shops(), progress=False)
    assert model.sample(output="numpy").shape[0] == 3
    assert model.sample(2, output="numpy").shape[0] == 2
    scored = []
    monkeypatch.setattr(
        "pacodi_jax.run.score.score", lambda *a, **how: scored.append((a[2], how["seed"]))
    )
    model.score(progress=False)
    model.score(windows=40, seeds=1, seed=7, progress=False)
    assert scored == [(Evaluation(windows=30, seeds=2), 4), (Evaluation(windows=40, seeds=1), 7)]


def test_a_saved_model_draws_the_same_and_needs_no_data(fitted, tmp_path):
    path = fitted.save(tmp_path / "load.pacodi")
    again = pj.load(path)
    pd.testing.assert_frame_equal(again.sample(3), fitted.sample(3))
    assert b"pickle" not in path.read_bytes()
    with pytest.raises(pj.PacodiError, match="does not hold its training data; give real="):
        again.score()
    with pytest.raises(pj.PacodiError, match="is a folder; name a file"):
        fitted.save(tmp_path)


def test_a_folder_resumes_and_loads(tmp_path):
    model = estimator().fit(shops(), workdir=tmp_path / "run", progress=False)
    longer = estimator(settings=QUICK | {"train.steps": 9})
    longer.fit(shops(), workdir=tmp_path / "run", progress=False)
    assert longer.history_ == {"steps": 9, "skipped": 0}
    assert pj.load(tmp_path / "run").trained_.facts["steps"] == 9
    assert model.history_["steps"] == 6


def test_the_verdict_prints_and_writes(fitted, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    later = shops().assign(date=lambda t: t["date"] + pd.Timedelta("30D"))
    monkeypatch.setattr("pacodi_jax.run.score.Budget", _small_budget)
    verdict = fitted.score(held_out=later, windows=40, seeds=1, progress=False)
    assert "discriminative" in str(verdict).lower()
    assert {"train", "held_out"} <= set(verdict.frame.iloc[:, 1]) | set(verdict.frame["split"])
    assert verdict.to_html(tmp_path / "report.html").read_text().startswith("<!")


def test_what_no_sampler_takes_is_refused_before_anything_is_scored(fitted, monkeypatch):
    monkeypatch.setattr("pacodi_jax.run.score.score_panel", None)
    with pytest.raises(pj.PacodiError, match=r"no setting 'sample\.static'"):
        fitted.score(static={"grade": "high"}, progress=False)


def _small_budget():
    return Budget(encoder_steps=4, discriminative_steps=4, predictive_steps=4, strong_steps=4)


def test_an_exported_sampler_draws_what_the_model_draws(fitted, tmp_path):
    path = fitted.export(tmp_path / "sampler.stablehlo", count=4)
    assert jax.export.deserialize(bytearray(path.read_bytes())).platforms == ("cpu", "cuda", "tpu")
    drawn = export.load(path)(3)
    own = fitted.sample(4, seed=fitted.seed, output="numpy")
    assert drawn.shape == own.shape
    same = export.load(path)(fitted.seed)
    np.testing.assert_allclose(same[..., 1], own[..., 1], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(same[..., 0], own[..., 0], atol=0.51)  # whole in the table
    with pytest.raises(pj.PacodiError, match="platform 'gpu'; accepted: cpu, cuda, tpu"):
        fitted.export(tmp_path / "x", platforms=("gpu",))
    with pytest.raises(pj.PacodiError, match="platform ''; accepted: cpu, cuda, tpu"):
        fitted.export(tmp_path / "x", platforms=())
    with pytest.raises(pj.PacodiError, match="count='4'; accepted: 1, 2, 3"):
        fitted.export(tmp_path / "x", count="4")


def test_delivered_samples_cannot_be_scaled_again(fitted):
    """``to_table`` takes the user's units and nothing else, so that it scales nothing."""
    recipe, drawn = fitted.trained_.recipe, fitted.sample(4, output="numpy")
    table = recipe.to_table(drawn)
    np.testing.assert_array_equal(table[["sales", "load"]].to_numpy(float), drawn.reshape(-1, 2))
    with pytest.raises(pj.PacodiError, match=r"expected \(N, L, 2\) in the user's units"):
        recipe.to_table(fitted.sample(4))


def test_one_platform_needs_no_list_and_numpy_numbers_are_numbers(fitted, tmp_path):
    path = fitted.export(tmp_path / "cpu.stablehlo", count=np.int64(2), platforms="cpu")
    assert export.load(path)(np.uint32(3)).shape == (2, 12, 2)
    same = [fitted.sample(2, seed=kind(3), output="numpy") for kind in (int, np.int64)]
    np.testing.assert_array_equal(*same)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"count": 0}, "count=0"),
        ({"count": 2.5}, "count=2.5"),
        ({"seed": -1}, "seed=-1; accepted: 0 <= seed < 2**32"),
        ({"seed": 2**32}, "seed=4294967296; accepted"),
        ({"seed": 1.5}, "seed=1.5; accepted"),
        ({"seed": "a"}, "seed='a'; accepted"),
        ({"output": "polars"}, "output='polars'; accepted: 'frame', 'numpy'"),
        ({"static": {"grade": "middling"}}, "was not in train"),
        ({"static": {"colour": "red"}}, "'colour' is no static column"),
        ({"text": "two peaks"}, "trained without texts"),
    ],
)
def test_a_request_that_cannot_be_answered_is_named(fitted, request_, message):
    with pytest.raises(pj.PacodiError) as error:
        fitted.sample(**request_)
    assert message in str(error.value)


def test_it_works_in_a_thread_prints_nothing_and_leaves_no_file(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    drawn = []
    thread = threading.Thread(
        target=lambda: drawn.append(estimator().fit(shops(), progress=False).sample(2))
    )
    thread.start()
    thread.join()
    assert len(drawn[0]) == 24
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")
    assert not list(tmp_path.iterdir())


def test_every_argument_is_typed_and_documented():
    for thing in (pj.PaCoDi, pj.load, pj.judge, *_methods(pj.PaCoDi)):
        made = thing.__init__ if inspect.isclass(thing) else thing
        names = [n for n in inspect.signature(made).parameters if n not in ("self", "how", "deep")]
        text = inspect.getdoc(thing)
        for name in names:
            assert (
                inspect.signature(made).parameters[name].annotation is not inspect.Parameter.empty
            )
            assert f"{name}:" in text or name == "path" or name == "params", f"{thing}: {name}"


def _methods(kind):
    return [f for n, f in inspect.getmembers(kind, inspect.isfunction) if not n.startswith("_")]
