"""Draws that wear a condition, from a file of captions or labels to the written table."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from pacodi_jax import evaluate, run
from pacodi_jax.configs import common
from pacodi_jax.core.solvers import draw
from pacodi_jax.errors import PacodiError
from pacodi_jax.report import pictures
from pacodi_jax.run import parts
from pacodi_jax.run.trained import _template
from pacodi_jax.train.from_config import train
from tests.text.runs import LENGTH, MODEL, OLD_IMPORT, settings, tiny
from tests.text.runs import text_command as command

KEY = jax.random.key(3)
pytestmark = pytest.mark.usefixtures("quick_compiles")


def test_a_file_of_fragments_trains_a_model_that_draws_what_its_captions_say(fragments):
    workdir, path, texts = fragments
    trained = run.load(workdir, settings(path))
    assert trained.card["encoder"] == f"served/{MODEL}/width=128"
    assert trained.card["train_windows"] == 62  # four fifths of 78 good rows
    first, other = (trained.sample(KEY, 4, trained.encode(text)) for text in (texts[0], texts[1]))
    assert first.shape == (4, LENGTH, 1)
    assert np.isfinite(first).all()
    assert np.abs(first - other).max() > 1e-3
    assert (workdir / "recipe.json").read_text().count('"OT"') >= 1


def test_conditions_that_do_not_fit_are_refused(fragments):
    trained = run.load(fragments[0])
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
            trained.sample(KEY, 4, condition)


def test_guidance_0_is_the_unconditional_draw_and_1_the_conditional_one_to_the_bit(fragments):
    trained = run.load(fragments[0])
    condition = jnp.asarray(np.random.default_rng(0).normal(size=(5, 128)), jnp.float32)

    def drawn(scale, given=condition):
        sampler = trained.generator.sampler._replace(guidance=scale)
        return dataclasses.replace(trained.generator, sampler=sampler).sample(
            KEY, trained.params, 5, given
        )

    def by_hand(i):
        """Window i drawn with the conditional denoiser itself, without guidance."""
        model = trained.generator
        start, steps = jax.random.split(jax.random.fold_in(KEY, i))
        denoiser = model.denoiser(trained.params, condition[i])
        spectrum = draw(
            model.sampler.rule, denoiser, model.process.schedule, model.statistics.variance,
            steps, model._start(start), model.sampler.times,
        )  # fmt: skip
        return model.statistics.decode(spectrum)

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
    config = common.get_config("size=tiny", source="table", path=str(tmp_path / "graded.csv"))
    config = config.unlock()
    config.data.update({"id": "who", "static": ("grade",), "split": "series"})
    config.train.learning_rate = 1e-2
    train(tiny(config, 600), tmp_path / "run")
    trained = run.load(tmp_path / "run")
    levels = {
        name: trained.sample(KEY, 16, trained.recipe.condition({"grade": name})).mean(axis=(1, 2))
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


@pytest.mark.filterwarnings(OLD_IMPORT)
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


@pytest.mark.filterwarnings(OLD_IMPORT)
def test_the_oracle_is_named_on_the_screen_and_in_the_files(captioned, capsys, monkeypatch):
    monkeypatch.setattr(run.Trained, "label", "statistics=oracle: REAL windows")
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
    monkeypatch.setattr(pictures, "_save", lambda figure, path: figures.append(figure) or path)
    trained = run.load(captioned)
    evaluate.write_samples(
        trained,
        tmp_path,
        3,
        seed=0,
        condition=None if text is None else trained.encode(text),
        dataset=run.load_windows(trained.config),
        text=text,
    )
    assert [axis.get_title() for axis in figures[0].axes] == [title, "synthetic"]


def test_windows_are_loaded_for_a_picture_without_encoding_a_text(fragments, monkeypatch):
    monkeypatch.setattr(parts, "build_encoder", None)
    assert len(run.load_windows(tiny(settings(fragments[1]).unlock(), 30)).train) == 62


@pytest.mark.parametrize("mode", ["none", "generated", "oracle"])
def test_the_weights_of_any_statistics_have_a_template(mode):
    config = tiny(common.get_config("size=tiny"), 3).unlock()
    config.diffusion.statistics = mode
    card = {"condition_width": 0, "channels": ["value"], "train_windows": 50, "calibration": None}
    fitted = _template(config.lock(), card)["fitted"]
    assert (fitted.level is None) == (mode == "none")
    assert (fitted.borrowed is None) == (mode != "oracle")
    assert fitted.borrowed is None or fitted.borrowed[0].shape == (50, 1)
