"""Several generators in one report: the same floors, a verdict and a report for each."""

import json
from html import escape

import pytest

from pacodi_jax.cli import judge as cli
from pacodi_jax.errors import PacodiError
from pacodi_jax.report.comparison import compare, names_of
from tests.metrics.windows import waves
from tests.report.frames import table

REAL, MADE, COPY, LATER = waves(120), waves(90, seed=1), waves(120)[::-1], waves(60, seed=2)


def test_generators_share_their_floors_and_keep_their_own_verdicts(untrained, tmp_path):
    found = compare(REAL, {"new": MADE, "copy": COPY}, held_out=LATER)
    new, copy = (found.verdicts[name].panel for name in ("new", "copy"))
    for split in ("train", "held_out"):
        for ours, theirs in zip(new.of(split), copy.of(split), strict=True):
            if ours.measured.windows == theirs.measured.windows:
                assert ours.floor == theirs.floor
    assert copy.verdict[0].startswith("These windows copy the training data: ")
    assert not new.verdict[0].startswith("These windows copy")
    written = found.write(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    for name, panel in (("new", new), ("copy", copy)):
        assert escape(panel.verdict[0]) in page
        assert f'href="{name}/report.html"' in page
        assert json.loads((tmp_path / "out" / name / "scores.json").read_text()) == panel.record()
    assert "default-src 'none'" in page
    assert len(written) == 8
    assert list(found.frame["generator"].unique()) == ["new", "copy"]


def test_the_command_takes_several_files(untrained, tmp_path, capsys):
    paths = [tmp_path / name for name in ("real.csv", "a.csv", "b b.csv")]
    for path, windows in zip(paths, (REAL, MADE, COPY), strict=True):
        table(windows).to_csv(path, index=False)
    assert cli.main([*map(str, paths), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "== a\n" in shown
    assert "== b_b\n" in shown
    for place in ("", "a", "b_b"):
        assert (tmp_path / "out" / place / "report.html").is_file()


def test_files_of_one_name_are_told_apart(tmp_path):
    paths = [tmp_path / "x" / "s.csv", tmp_path / "y" / "s.csv", tmp_path / "t.csv"]
    assert names_of(paths) == ["x-s", "y-s", "t"]
    assert names_of([paths[0]] * 2) == ["x-s-1", "x-s-2"]


@pytest.mark.parametrize("name", ["../up", "", "a/b", ".hidden"])
def test_names_that_leave_the_folder_are_refused(untrained, name):
    with pytest.raises(PacodiError, match="cannot name a folder"):
        compare(REAL, {name: MADE})
