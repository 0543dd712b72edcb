"""Files are written whole or not at all."""

import pytest

from pacodi_jax import files
from pacodi_jax.errors import PacodiError


def test_a_failed_write_leaves_what_was_there_and_nothing_else(tmp_path):
    path = files.write_text(tmp_path / "kept.txt", "before")
    with pytest.raises(UnicodeEncodeError):
        files.write(path, lambda temporary: temporary.write_text("half \ud800", encoding="utf-8"))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_named_with_the_systems_reason(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        PacodiError, match=r"file/x\.txt cannot be written: (Not a dir|File exists)"
    ):
        files.write_text(tmp_path / "file" / "x.txt", "")
