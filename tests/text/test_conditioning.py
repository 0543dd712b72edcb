"""Conditions from end to end: from a file of captions or labels to draws that wear them."""

import contextlib
import csv
import dataclasses
import io
import json

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from configs import common
from configs import text as text_config
from pacodi_jax import main, run
from pacodi_jax.errors import PacodiError
from pacodi_jax.solvers import draw
from pacodi_jax.text import captions, properties
from pacodi_jax.text.encoders.hashed import Hashed
from pacodi_jax.train import train
from tests.text import runs
from tests.text.conftest import Reply, waves
from tests.text.runs import LENGTH, OLD_IMPORT, tiny

MODEL = "text-embedding-3-large"
KEY = jax.random.key(3)


@pytest.fixture(autouse=True, scope="module")
def quick_compiles():
    """These tests compile much and compute little."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def service(text: str) -> list[float]:
    """The vector that the service of these tests gives a text, as its file holds it."""
    return [round(float(value), 6) for value in Hashed(width=128).encode([text])[0]]


def write_fragments(path, count: int = 80) -> list[str]:
    """Writes captioned waves in TSFragment-600K's format; rows 3 and 7 are malformed."""
    windows = waves(count, LENGTH)
    known = properties.fit(windows)
    texts = [captions.caption(w, seed, statistics=known) for seed, w in enumerate(windows)]
    rows = [[text, service(text), w.tolist()] for text, w in zip(texts, windows, strict=True)]
    rows[2][2] = rows[2][2][:-1]
    rows[6][1] = [float("nan"), *rows[6][1][1:]]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["Text", "TextEmbedding", "OT"], *rows])
    return texts


@pytest.fixture(scope="module")
def fragments(tmp_path_factory):
    """A model trained on a file of TSFragment's kind: its folder and file, its texts."""
    folder = tmp_path_factory.mktemp("fragments")
    path = folder / f"embedding_cleaned_ETTh1_{LENGTH}.csv"
    texts = write_fragments(path)
    config = text_config.get_config("source=tsfragment,size=tiny").unlock()
    config.data.path = str(path)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        train(tiny(config, 30), folder / "run")
    (folder / "said").write_text(said.getvalue())
    return folder / "run", path, texts


def settings(path, **text):
    config = text_config.get_config("source=tsfragment,size=tiny").unlock()
    config.data.path, config.sample.steps, config.sample.batch = str(path), 4, 16
    config.text.update(text)
    return config.lock()


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


def test_malformed_fragments_are_reported_by_number(fragments):
    _, path, _ = fragments
    found = run.load_data(tiny(settings(path).unlock(), 30))
    assert [row for row, _ in found.report.rejected] == [3, 7]
    assert "2 malformed rows left out: 3 (OT holds 7 numbers, not 8), 7 (" in found.report.malformed
    assert f"note: {found.report.malformed}\n" in (path.parent / "said").read_text()


def test_an_endpoint_of_the_same_model_reads_new_texts_into_the_same_space(fragments, loopback):
    workdir, path, texts = fragments

    def answer(_, body):
        assert (body["model"], body["dimensions"]) == (MODEL, 128)
        rows = [{"index": i, "embedding": service(t)} for i, t in enumerate(body["input"])]
        return Reply({"data": rows})

    loopback.answer = answer
    asked = run.load(workdir, settings(path, encoder="endpoint", url=loopback.url))
    stored = run.load(workdir, settings(path))
    np.testing.assert_array_equal(asked.encode(texts[0]), stored.encode(texts[0]))
    assert asked.encode("a rise that is in no file").shape == (128,)
    with pytest.raises(PacodiError, match="no vector for 'a rise that is in no file'"):
        stored.encode("a rise that is in no file")


def test_an_encoder_other_than_the_checkpoints_is_refused_by_name(fragments):
    workdir, path, _ = fragments
    other = {"model": "another"}
    for change in ({"encoder": "hashed"}, {"encoder": "endpoint", **other}, other):
        with pytest.raises(PacodiError, match=f"trained with text encoder 'served/{MODEL}"):
            run.load(workdir, settings(path, **change)).encode("two peaks")


def test_an_endpoint_without_a_model_is_refused_before_it_is_asked(fragments):
    with pytest.raises(PacodiError, match=r"config\.text\.model is empty"):
        run.build_encoder(settings(fragments[1], encoder="endpoint", model=""))


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


@pytest.fixture(scope="module")
def captioned(tmp_path_factory):
    """A model trained on captions that were written here, of one column of a user's table."""
    folder = tmp_path_factory.mktemp("captioned")
    frame = pd.DataFrame({"value": waves(1, 200)[0]})
    frame.to_csv(folder / "value.csv", index=False)
    config = text_config.get_config("size=tiny").unlock()
    config.data.update({"source": "table", "path": str(folder / "value.csv")})
    config.data.channels = ("value",)
    config.text.width = 64
    train(tiny(config, 30), folder / "run")
    return folder / "run"


def test_captions_that_were_written_here_name_their_encoder(captioned):
    trained = run.load(captioned)
    assert trained.card["encoder"] == "hashed/v2/width=64"
    for odd in ("two\x00peaks", "two\tpeaks\n", "\u202etwo \uff50\uff45aks"):
        np.testing.assert_array_equal(trained.encode(odd), trained.encode("two peaks"))
    with pytest.raises(PacodiError, match="width=2048'; their vectors differ"):
        run.load(captioned, text_config.get_config("")).encode("two peaks")


def test_a_run_does_not_go_on_with_another_version_of_its_encoder(captioned, monkeypatch):
    monkeypatch.setattr("pacodi_jax.text.encoders.hashed._VERSION", 1)
    said = r"other text encoder .*\(hashed/v2/width=64 then, hashed/v1/width=64 now\)"
    with pytest.raises(PacodiError, match=said):
        train(run.load(captioned).config, captioned)


@pytest.mark.filterwarnings(OLD_IMPORT)
def test_words_that_training_never_had_are_told(captioned, capsys):
    hashed = ("--config.text.encoder=hashed", "--config.text.width=64")
    assert command(captioned, "", *hashed, "--text=a slow rise") == 0
    assert "note" not in capsys.readouterr().out
    plain = np.load(captioned / "samples/samples.npy")
    assert command(captioned, "", *hashed, "--text=a majestic, sloww rise") == 0
    told = capsys.readouterr().out
    assert "note: 'sloww' is read as 'slow'\n" in told
    assert "note: not read, as no training text has them: 'majestic'\n" in told
    np.testing.assert_array_equal(np.load(captioned / "samples/samples.npy"), plain)


@pytest.mark.filterwarnings(OLD_IMPORT)
def test_a_text_without_any_word_of_training_is_refused(captioned, capsys):
    hashed = ("--config.text.encoder=hashed", "--config.text.width=64")
    assert command(captioned, "", *hashed, "--text=ゆっくり上がり、急に落ちる") == 2
    told = capsys.readouterr().err
    assert "knows none of the words of 'ゆっくり上がり、急に落ちる'" in told
    assert "Some that it knows: " in told


@pytest.mark.filterwarnings(OLD_IMPORT)
def test_bytes_that_are_no_text_are_read_as_spaces_and_told_as_they_came(captioned):
    hashed = ("--config.text.encoder=hashed", "--config.text.width=64")
    drawn = []
    for text in ("a slow rise", "a slow\udcff rise"):
        assert command(captioned, "", *hashed, f"--text={text}") == 0
        assert json.loads((captioned / "samples/samples.json").read_text())["text"] == text
        drawn.append(np.load(captioned / "samples/samples.npy"))
    np.testing.assert_array_equal(*drawn)


@pytest.mark.filterwarnings(OLD_IMPORT)
def test_the_oracle_is_named_on_the_screen_and_in_the_files(captioned, capsys, monkeypatch):
    monkeypatch.setattr(run.Trained, "label", "statistics=oracle: REAL windows")
    hashed = ("--config.text.encoder=hashed", "--config.text.width=64")
    assert command(captioned, "", *hashed, "--text=a slow rise") == 0
    assert "note: statistics=oracle: REAL windows\n" in capsys.readouterr().out
    assert "oracle" in json.loads((captioned / "samples/samples.json").read_text())["label"]


@pytest.mark.filterwarnings(OLD_IMPORT)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--mode=all", "--text=."), "the text is empty"),
        (("--mode=all", "--text=up", "--config.text.encoder="), "set --config.text.encoder"),
        (("--mode=train", "--text=up"), "--mode=train draws none"),
        (("--mode=evaluate", "--text=up"), "--mode=evaluate draws none"),
        (("--mode=all", "--text=it is a"), "'it is a' says nothing of the series; say what"),
        (("--mode=all", "--text=up", "--samples=-1"), "--samples=-1; accepted: 1, 2, 3"),
        (("--mode=train", "--config.data.path="), "--config.data.path=FOLDER/embedding_cleaned_"),
    ],
)
def test_a_text_that_nothing_comes_of_is_refused_before_training(tmp_path, capsys, arguments, said):
    assert command(tmp_path / "new", tmp_path / "none.csv", *arguments) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def command(workdir, path, *arguments) -> int:
    """Runs the command on a file of TSFragment's kind; returns its exit code."""
    return runs.command(
        "--config=configs/text.py:source=tsfragment,size=tiny",
        f"--config.data.path={path}",
        f"--workdir={workdir}",
        "--mode=sample",
        "--samples=3",
        "--config.sample.steps=4",
        *arguments,
    )


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
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--text=",), "the text is empty"),
        (("--text=\x00\x07 ...",), "the text is empty"),
        (("--text=" + "up " * 10_000,), "the text has 10000 words"),
        (("--text=never seen", "--config.text.encoder=precomputed"), "no vector for 'never seen'"),
        (("--text=up", "--config.text.encoder=hashd"), "accepted: '' (none), endpoint, hashed"),
        (("--text=up", "--samples=-1"), "--samples=-1; accepted: 1, 2, 3"),
        (("--text=up", "--config.text.encoder=hashed"), "trained with text encoder 'served/"),
        (("--text=up", "--config.text.url=nowhere"), "is no web address"),
        (("--text=up", "--config.data.path=nowhere.csv"), "nowhere.csv is not named"),
    ],
)
def test_what_cannot_be_read_ends_the_command_with_one_line(fragments, capsys, arguments, said):
    workdir, path, _ = fragments
    if not any(argument.startswith("--config.text.encoder") for argument in arguments):
        kind = "precomputed" if "data.path" in arguments[-1] else "endpoint"
        arguments = (f"--config.text.encoder={kind}", *arguments)
    assert command(workdir, path, *arguments) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: ")
    assert complaint.count("\n") == 1
    assert said in complaint


def test_texts_and_labels_together_and_vectors_without_a_file_are_refused():
    config = text_config.get_config("source=tsfragment").unlock()
    config.data.static = ("grade",)
    with pytest.raises(PacodiError, match="both give conditions"):
        main.configuration.validate(config)
    config.data.update({"static": (), "source": "etth1"})
    with pytest.raises(PacodiError, match="'precomputed' is for config"):
        main.configuration.validate(config)


def test_a_column_of_texts_that_nothing_reads_is_refused():
    config = common.get_config("size=tiny", source="table", path="t.csv").unlock()
    config.data.text = "caption"
    with pytest.raises(PacodiError, match=r"config\.data\.text='caption'.*config\.text\.encoder"):
        main.configuration.validate(config)


def test_windows_are_loaded_for_a_picture_without_encoding_a_text(fragments, monkeypatch):
    monkeypatch.setattr(run, "build_encoder", None)
    assert len(run.load_windows(tiny(settings(fragments[1]).unlock(), 30)).train) == 62


@pytest.mark.parametrize("mode", ["none", "generated", "oracle"])
def test_the_weights_of_any_statistics_have_a_template(mode):
    config = tiny(common.get_config("size=tiny"), 3).unlock()
    config.diffusion.statistics = mode
    card = {"condition_width": 0, "channels": ["value"], "train_windows": 50}
    fitted = run._template(config.lock(), card)["fitted"]
    assert (fitted.level is None) == (mode == "none")
    assert (fitted.borrowed is None) == (mode != "oracle")
    assert fitted.borrowed is None or fitted.borrowed[0].shape == (50, 1)


def test_a_file_of_another_length_is_named(fragments):
    _, path, _ = fragments
    config = settings(path).unlock()
    config.data.length = 12
    with pytest.raises(PacodiError, match="its series have 8 steps; use length=8"):
        run.load_data(config.lock())
