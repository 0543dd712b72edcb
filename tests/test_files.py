"""Files and folders are written whole or not at all."""

import pytest

from pacodi_jax import files
from pacodi_jax.errors import PacodiError


def test_a_failed_write_leaves_what_was_there_and_nothing_else(tmp_path):
    path = files.write_text(tmp_path / "kept.txt", "before")
    with pytest.raises(UnicodeEncodeError):
        files.write(path, lambda temporary: temporary.write_text("half \ud800", encoding="utf-8"))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_takes_its_name_once_it_is_complete(tmp_path):
    folder = tmp_path / "below" / "made"
    with files.making(folder) as place:
        (place / "one").write_text("1")
        assert not folder.exists()
    assert [path.name for path in folder.iterdir()] == ["one"]
    with pytest.raises(PacodiError, match="made exists already"), files.making(folder):
        pass
    with pytest.raises(ZeroDivisionError), files.making(tmp_path / "other"):
        _ = 1 / 0
    assert [path.name for path in tmp_path.iterdir()] == ["below"]
    assert [path.name for path in folder.parent.iterdir()] == ["made"]


def test_what_cannot_be_written_is_named_with_the_systems_reason(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        PacodiError, match=r"file/x\.txt cannot be written: (Not a dir|File exists)"
    ):
        files.write_text(tmp_path / "file" / "x.txt", "")
    with pytest.raises(PacodiError, match="cannot be written"), files.making(tmp_path / "file/x"):
        pass
