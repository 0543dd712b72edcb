"""Draws that wear a condition, from a file of captions or labels to the written table."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from pacodi_jax.configs import common
from pacodi_jax.core.solvers import draw
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.sampler import make_sampler
from pacodi_jax.report import pictures
from pacodi_jax.run import folder, parts, samples
from pacodi_jax.run.trained import Trained, sample_key
from pacodi_jax.train.from_config import train
from tests.text.runs import LENGTH, MODEL, made, settings, tiny
from tests.text.runs import text_command as command

KEY = jax.random.key(3)
pytestmark = pytest.mark.usefixtures("quick_compiles")


def test_a_file_of_fragments_trains_a_model_that_draws_what_its_captions_say(fragments):
    workdir, path, texts = fragments
    trained = folder.load(workdir).reading(settings(path))
    assert trained.facts["encoder"] == f"served/{MODEL}/width=128"
    assert trained.facts["train_windows"] == 62  # four fifths of 78 good rows
    first, other = (
        trained.draw_scaled(KEY, 4, trained.encode(text)) for text in (texts[0], texts[1])
    )
    assert first.shape == (4, LENGTH, 1)
    assert np.isfinite(first).all()
    assert np.abs(first - other).max() > 1e-3
    assert (workdir / "recipe.json").read_text().count('"OT"') >= 1


def test_conditions_that_do_not_fit_are_refused(fragments):
    trained = folder.load(fragments[0])
    good = np.zeros(128, np.float32)
    for condition, said in (
        (good[:64], "condition: embeddings must be 128 numbers wide, got 64"),
        (good + np.nan, "embedding 0 is not finite"),
        (np.full((4, 128), np.inf), "embedding 0 is not finite"),
        (np.zeros((3, 128)), "3 conditions for 4 windows"),
        ("two peaks", r"rows of 128 numbers; turn a text into one with Trained\.encode"),
        ([[1.0, 2.0], [3.0]], "rows of 128 numbers"),
        ([10**400] * 128, "rows of 128 numbers"),
        ([1e300] * 128, "embedding 0 is not finite"),
        (good + 1j, "rows of 128 numbers"),
    ):
        with pytest.raises(PacodiError, match=said):
            trained.draw_scaled(KEY, 4, condition)


def test_guidance_0_is_the_unconditional_draw_and_1_the_conditional_one_to_the_bit(fragments):
    trained = folder.load(fragments[0])
    model, process = trained.generator, trained.generator.process
    sampler = make_sampler(model.sampling, process.schedule, process.moments, process.variance)
    condition = jnp.asarray(np.random.default_rng(0).normal(size=(5, 128)), jnp.float32)

    def drawn(scale, given=condition):
        return trained.draw_scaled(KEY, 5, given, guidance=scale)

    def by_hand(i):
        """Window i drawn with the conditional denoiser itself, without guidance."""
        start, steps = jax.random.split(jax.random.fold_in(KEY, i))
        first = process.start(start, sampler.times[0])
        denoiser = model.denoiser(trained.weights, condition[i])
        law = (process.schedule, process.variance)
        spectrum = draw(sampler.rule, denoiser, *law, steps, first, sampler.times)
        return model.coding.decode(spectrum)

    np.testing.assert_array_equal(drawn(0.0), drawn(1.0, None))
    np.testing.assert_array_equal(drawn(1.0), jax.jit(jax.vmap(by_hand))(jnp.arange(5)))
    assert np.abs(drawn(0.0) - drawn(1.0)).max() > 1e-3


def test_labels_condition_through_the_same_door(tmp_path):
    rng = np.random.default_rng(0)
    series = np.repeat(np.arange(60), 2 * LENGTH)
    grade = np.where(series % 2, "high", "low")
    value = np.where(series % 2, 3.0, -3.0) + rng.normal(0, 0.3, len(series))
    frame = pd.DataFrame({"who": series, "grade": grade, "value": value})
    frame.to_csv(tmp_path / "graded.csv", index=False)
    source = {"source": "table", "path": str(tmp_path / "graded.csv")}
    data = {"id": "who", "static": ("grade",), "split": "series"}
    config = made(common.get_config("size=tiny", **source, **data), {"train.learning_rate": 1e-2})
    train(tiny(config, 600), tmp_path / "run")
    trained = folder.load(tmp_path / "run")
    levels = {
        name: trained.draw(16, seed=3, static={"grade": name}).values.mean(axis=(1, 2))
        for name in ("high", "low")
    }
    assert levels["high"].mean() > 2.0
    assert levels["low"].mean() < -2.0
    assert (levels["high"] > 0).sum() >= 15
    assert (levels["low"] < 0).sum() >= 15
    with pytest.raises(PacodiError, match="grade='middling' was not in train"):
        trained.recipe.condition({"grade": "middling"})
    with pytest.raises(PacodiError, match=r"'high'; give a mapping .* columns \['grade'\]"):
        trained.recipe.condition("high")
    with pytest.raises(PacodiError, match="trained without texts"):
        trained.encode("two peaks")


def test_a_caption_at_the_command_line_becomes_a_table_and_a_picture(fragments, capsys):
    workdir, path, texts = fragments
    assert command(workdir, path, f"--text={texts[0]}") == 0
    told = json.loads((workdir / "samples/samples.json").read_text())
    assert told["text"] == texts[0]
    table = pd.read_csv(workdir / "samples/samples.csv")
    assert list(table.columns) == ["window", "OT", "Text"]
    assert set(table["Text"]) == {texts[0]}
    assert len(table) == 3 * LENGTH
    assert (workdir / "samples/samples.png").stat().st_size > 1000
    assert "note" not in capsys.readouterr().out  # the words of others' captions are not ours


def test_the_oracle_is_named_on_the_screen_and_in_the_files(captioned, capsys, monkeypatch):
    monkeypatch.setattr(Trained, "label", "statistics=oracle: REAL windows")
    hashed = ("--config.text.encoder=hashed", "--config.text.width=64")
    assert command(captioned, "", *hashed, "--text=a slow rise") == 0
    assert "note: statistics=oracle: REAL windows\n" in capsys.readouterr().out
    assert "oracle" in json.loads((captioned / "samples/samples.json").read_text())["label"]


@pytest.mark.parametrize(
    ("text", "title"), [("a slow rise", "real, not chosen by the text"), (None, "real")]
)
def test_real_windows_that_the_text_has_not_chosen_are_called_so(
    captioned, tmp_path, monkeypatch, text, title
):
    figures = []
    monkeypatch.setattr(pictures, "save", lambda figure, path: figures.append(figure) or path)
    trained = folder.load(captioned)
    dataset = parts.load_windows(trained.config)
    samples.write_samples(trained, trained.draw(3, text=text), tmp_path, dataset=dataset)
    assert [axis.get_title() for axis in figures[0].axes] == [title, "synthetic"]


def test_windows_are_loaded_for_a_picture_without_encoding_a_text(fragments, monkeypatch):
    monkeypatch.setattr(parts, "build_encoder", None)
    assert len(parts.load_windows(tiny(settings(fragments[1]), 30)).train) == 62


def test_without_a_text_windows_are_drawn_by_the_texts_of_training(fragments):
    workdir, _, texts = fragments
    trained = folder.load(workdir)
    few, many = trained.draw(3, seed=1), trained.draw(6, seed=1)
    told = many.columns["Text"].tolist()
    assert set(told) <= set(texts)
    assert len(set(told)) > 1
    vectors = trained.texts.vectors[[trained.texts.texts.index(text) for text in told]]
    scaled = trained.draw_scaled(sample_key(1), 6, vectors)
    np.testing.assert_array_equal(many.values, trained.recipe.deliver(scaled))
    assert np.abs(trained.draw_scaled(sample_key(1), 6) - scaled).max() > 1e-3
    assert few.columns["Text"].tolist() == told[:3]
    np.testing.assert_allclose(few.values, many.values[:3], rtol=1e-4, atol=1e-5)


def test_the_command_writes_the_texts_that_it_drew_by(fragments):
    workdir, path, texts = fragments
    assert command(workdir, path) == 0
    written = pd.read_csv(workdir / "samples/samples.csv")
    assert written.groupby("window")["Text"].nunique().tolist() == [1, 1, 1]
    assert set(written["Text"]) <= set(texts)
