"""How the texts of a file, a column and a command line are read, and which are refused."""

import json

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.configs import common
from pacodi_jax.configs import text as text_config
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import folder, parts
from pacodi_jax.train.from_config import train
from tests.text import runs
from tests.text.conftest import Reply, write_fragments
from tests.text.runs import LENGTH, MODEL, made, service, settings, tiny
from tests.text.runs import text_command as command

pytestmark = pytest.mark.usefixtures("quick_compiles")


def test_malformed_fragments_are_reported_by_number(fragments):
    _, path, _ = fragments
    found = parts.load_data(tiny(settings(path), 30))
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
    asked = folder.load(workdir).reading(settings(path, encoder="endpoint", url=loopback.url))
    stored = folder.load(workdir).reading(settings(path))
    np.testing.assert_array_equal(asked.encode(texts[0]), stored.encode(texts[0]))
    assert asked.encode("a rise that is in no file").shape == (128,)
    with pytest.raises(PacodiError, match="no vector for 'a rise that is in no file'"):
        stored.encode("a rise that is in no file")


def test_an_encoder_other_than_the_checkpoints_is_refused_by_name(fragments):
    workdir, path, _ = fragments
    other = {"model": "another"}
    for change in ({"encoder": "hashed"}, {"encoder": "endpoint", **other}, other):
        with pytest.raises(PacodiError, match=f"trained with text encoder 'served/{MODEL}"):
            folder.load(workdir).reading(settings(path, **change)).encode("two peaks")


def test_an_endpoint_without_a_model_is_refused_before_it_is_asked(fragments):
    with pytest.raises(PacodiError, match=r"^text\.model is empty"):
        parts.encoder(settings(fragments[1], encoder="endpoint", model=""))


def test_captions_that_were_written_here_name_their_encoder(captioned):
    trained = folder.load(captioned)
    assert trained.facts["encoder"] == "hashed/v2/width=64"
    for odd in ("two\x00peaks", "two\tpeaks\n", "\u202etwo \uff50\uff45aks"):
        np.testing.assert_array_equal(trained.encode(odd), trained.encode("two peaks"))
    with pytest.raises(PacodiError, match="width=2048'; their vectors differ"):
        folder.load(captioned).reading(made(text_config.get_config())).encode("two peaks")


def test_a_run_does_not_go_on_with_another_version_of_its_encoder(captioned, monkeypatch):
    monkeypatch.setattr("pacodi_jax.text.encoders.hashed._VERSION", 1)
    said = r"other text encoder .*\(hashed/v2/width=64 then, hashed/v1/width=64 now\)"
    with pytest.raises(PacodiError, match=said):
        train(folder.load(captioned).config, captioned)


def test_a_run_does_not_go_on_with_other_texts(captioned, monkeypatch):
    monkeypatch.setattr("pacodi_jax.data.captioned.Captioned.digest", "others")
    with pytest.raises(PacodiError, match=r"other texts .*then, others now"):
        train(folder.load(captioned).config, captioned)


def test_words_that_training_never_had_are_told(captioned, capsys):
    hashed = ("--config.text.encoder=hashed", "--config.text.width=64")
    assert command(captioned, "", *hashed, "--text=a slow rise") == 0
    told = capsys.readouterr().out
    assert "note" not in told
    kept = json.loads((captioned / "samples/samples.json").read_text())
    assert kept["sampler"]["guidance"] == folder.load(captioned).facts["guidance"]
    plain = np.load(captioned / "samples/samples.npy")
    assert command(captioned, "", *hashed, "--text=a majestic, sloww rise") == 0
    told = capsys.readouterr().out
    assert "note: 'sloww' is read as 'slow'\n" in told
    assert "note: not read, as no training text has them: 'majestic'\n" in told
    np.testing.assert_array_equal(np.load(captioned / "samples/samples.npy"), plain)
    kept = json.loads((captioned / "samples/samples.json").read_text())["reading"]
    assert kept == {
        "text": "a , slow rise",
        "corrected": {"sloww": "slow"},
        "ignored": ["majestic"],
    }


def test_a_text_without_any_word_of_training_is_refused(captioned, capsys):
    hashed = ("--config.text.encoder=hashed", "--config.text.width=64")
    assert command(captioned, "", *hashed, "--text=ゆっくり上がり、急に落ちる") == 2
    told = capsys.readouterr().err
    assert "knows none of the words of 'ゆっくり上がり、急に落ちる'" in told
    assert "Some that it knows: " in told


def test_bytes_that_are_no_text_are_read_as_spaces_and_told_as_they_came(captioned):
    hashed = ("--config.text.encoder=hashed", "--config.text.width=64")
    drawn = []
    for text in ("a slow rise", "a slow\udcff rise"):
        assert command(captioned, "", *hashed, f"--text={text}") == 0
        assert json.loads((captioned / "samples/samples.json").read_text())["text"] == text
        drawn.append(np.load(captioned / "samples/samples.npy"))
    np.testing.assert_array_equal(*drawn)


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


def test_vectors_without_a_file_are_refused():
    config = text_config.get_config("source=tsfragment")
    with pytest.raises(PacodiError, match=r"'precomputed' is for data\.source"):
        made(config, {"data.source": "etth1"})


def test_a_column_of_texts_that_nothing_reads_is_refused():
    config = common.get_config("size=tiny", source="table", path="t.csv")
    with pytest.raises(PacodiError, match=r"^data\.text='caption'.* text\.encoder"):
        made(config, {"data.text": "caption"})


def test_a_file_of_another_length_is_named(fragments):
    _, path, _ = fragments
    config = settings(path).changed({"data.length": 12})
    with pytest.raises(PacodiError, match="its series have 8 steps; use length=8"):
        parts.load_data(config)


@pytest.mark.parametrize(
    ("encoder", "said"),
    [("hashed", "knows none of the words of 'xyzzy'"), ("precomputed", "no vector for 'xyzzy'")],
)
def test_words_that_no_model_of_the_data_would_read_are_refused_before_training(
    tmp_path, capsys, monkeypatch, encoder, said
):
    monkeypatch.setattr("pacodi_jax.train.from_config.fit", None)
    path = tmp_path / f"embedding_cleaned_ETTh1_{LENGTH}.csv"
    write_fragments(path)
    given = ("--mode=all", "--text=xyzzy", f"--config.text.encoder={encoder}")
    assert command(tmp_path / "new", path, *given, f"--config.data.length={LENGTH}") == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: ")
    assert complaint.count("\n") == 1
    assert said in complaint
    assert not (tmp_path / "new").exists()


def test_validation_texts_of_which_nothing_is_read_are_told_once(tmp_path, capsys, monkeypatch):
    def stop(*_, **__):
        raise PacodiError("stopped")

    monkeypatch.setattr("pacodi_jax.train.from_config.fit", stop)
    told = pd.DataFrame({"value": np.sin(np.arange(400)), "note": "it rises"})
    told.loc[340:, "note"] = "it falls"
    told.to_csv(tmp_path / "told.csv", index=False)
    assert runs.command(
        f"--config=configs/table.py:size=tiny,length={LENGTH}",
        f"--config.data.path={tmp_path / 'told.csv'}",
        "--config.data.text=note",
        "--config.text.encoder=hashed",
        f"--workdir={tmp_path / 'new'}",
    ) == 2  # fmt: skip
    said = capsys.readouterr()
    assert said.err == "error: stopped\n"
    assert said.out.count("validation windows have a text without any word of the training") == 1
