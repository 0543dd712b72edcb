import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import report
from pacodi_jax.cli import judge
from pacodi_jax.report import sections
from tests.metrics.windows import SMALL, waves


@pytest.fixture
def small(monkeypatch, tmp_path):
    """The command at a budget that only shows that everything is wired up."""
    monkeypatch.setattr(judge, "_budget", lambda arguments: SMALL._replace(seeds=(0, 1)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _table(windows, start="2020-01-01"):
    count, length, channels = windows.shape
    frame = pd.DataFrame(
        windows.reshape(-1, channels).astype(float), columns=[f"c {i}" for i in range(channels)]
    )
    frame.insert(0, "date", pd.date_range(start, periods=len(frame), freq="h").astype(str))
    frame.insert(0, "window", np.repeat(np.arange(count), length))
    return frame


def test_two_files_give_scores_and_a_self_contained_report(small, tmp_path, capsys):
    _table(waves(400)).to_csv(tmp_path / "real.csv", index=False)
    _table(waves(200, seed=1)).to_parquet(tmp_path / "made.parquet", index=False)
    np.save(tmp_path / "held.npy", waves(200, seed=2))
    out = tmp_path / "out"
    command = [str(tmp_path / "real.csv"), str(tmp_path / "made.parquet"), "--out", str(out)]
    assert judge.main([*command, "--held-out", str(tmp_path / "held.npy")]) == 0
    assert sorted(p.name for p in out.iterdir()) == ["report.html", "scores.csv", "scores.json"]
    scores = json.loads((out / "scores.json").read_text())
    assert scores["data"]["channels"] == ["c 0", "c 1", "c 2", "c 3"]
    assert scores["verdict"][0] in capsys.readouterr().out
    table = pd.read_csv(out / "scores.csv")
    assert len(table) == len(scores["scores"]) == 25
    assert set(table["split"]) == {"train", "held_out"}
    page = (out / "report.html").read_text()
    assert not re.search(
        r'(?:src|href)="(?!#|data:)', page.replace('xlink:href="data:', 'href="data:')
    )
    assert "url(http" not in page
    assert "<script" not in page
    assert page.count('role="img" aria-label="') == page.count("<svg") > 20
    assert page.count("<table>") == page.count("<caption>") == 2
    assert page.count("<tbody>") == page.count('scope="rowgroup"') == 4
    assert "Protocol: <strong>judge</strong>" in page
    assert '<th scope="row">' in page
    assert 'tabindex="0"' in page
    identifiers = re.findall(r' id="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize("name", ["x", '"><script>alert(1)</script>'])
def test_names_from_files_are_escaped(name):
    panel = {
        "protocol": name,
        "verdict": [name],
        "data": {"real": None, "synthetic": None, "held_out": None},
        "settings": {name: name},
        "scores": [],
        "seconds": 1,
    }
    panel["data"]["real"] = panel["data"]["synthetic"] = {
        "windows": 1,
        "length": 2,
        "channels": 3,
        "fingerprint": name,
    }
    assert "<script" not in report.page(name, panel, [])


def _save(tmp_path, name, value):
    np.save(tmp_path / name, value)
    return str(tmp_path / name)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: _save(p, "s.npy", waves(60)[..., :3]), "3 channels but real ones have 4"),
        (lambda p: _save(p, "s.npy", waves(60)[:, :8]), "8 steps but real ones have 16"),
        (lambda p: _save(p, "s.npy", waves(4)), "synthetic has 4 windows"),
        (lambda p: _save(p, "s.npy", waves(60) * np.nan), "synthetic has nan"),
        (lambda p: _save(p, "s.npy", np.zeros(5)), "expected (windows, length, channels)"),
        (lambda p: str(p / "nowhere.npy"), "does not exist"),
        (lambda p: str(p / "s.xlsx"), "cannot tell the format"),
    ],
)
def test_bad_files_are_named_errors_and_write_nothing(small, tmp_path, capsys, make, message):
    real = _save(tmp_path, "real.npy", waves(60))
    out = tmp_path / "out"
    assert judge.main([real, make(tmp_path), "--out", str(out)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert message in captured.err
    assert not out.exists()


def test_constant_channel_is_named_by_its_column(small, tmp_path, capsys):
    flat = _table(waves(60))
    flat["c 2"] = 1.0
    flat.to_csv(tmp_path / "real.csv", index=False)
    made = _save(tmp_path, "made.npy", waves(60))
    assert judge.main([str(tmp_path / "real.csv"), made]) == 2
    assert "channel c 2 of the real windows is constant" in capsys.readouterr().err


class _Trap:
    """Unpickling it leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("evil.npy", "pickled objects, which are never loaded"),
        ("evil.npz", "pickled objects, which are never loaded"),
        ("raw.npy", "not a readable array file"),
        ("evil.pkl", "cannot tell the format"),
    ],
)
def test_pickles_are_never_loaded(small, tmp_path, capsys, name, message):
    real = _save(tmp_path, "real.npy", waves(60))
    trap = np.array([_Trap(tmp_path / "sprung")], dtype=object)
    np.save(tmp_path / "evil.npy", trap, allow_pickle=True)
    np.savez(tmp_path / "evil.npz", windows=trap)
    for raw in ("raw.npy", "evil.pkl"):
        (tmp_path / raw).write_bytes(pickle.dumps(trap[0]))
    assert judge.main([real, str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "sprung").exists()
    pickle.loads((tmp_path / "evil.pkl").read_bytes())
    assert (tmp_path / "sprung").exists()  # so the trap does spring


@pytest.mark.parametrize("flag", ["--out", "--cache"])
def test_a_folder_that_cannot_be_written_is_named_before_scoring(
    small, tmp_path, capsys, monkeypatch, flag
):
    monkeypatch.setattr(judge, "score_panel", lambda *_, **__: pytest.fail("scored in vain"))
    monkeypatch.chdir(tmp_path)
    files = [_save(tmp_path, "real.npy", waves(60)), _save(tmp_path, "s.npy", waves(60, seed=1))]
    assert judge.main([*files, flag, files[0]]) == 2
    assert capsys.readouterr().err == f"error: {files[0]} is a file; name a folder to write into.\n"


def test_a_report_that_fails_half_way_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "page", lambda *_: "\ud800")  # cannot be encoded
    monkeypatch.setattr(report, "sections", lambda *_: [])
    panel = {"scores": [], "data": {"channels": []}, "protocol": "judge"}
    with pytest.raises(UnicodeEncodeError):
        report.write(tmp_path / "out", "title", panel, waves(3), waves(3))
    assert list((tmp_path / "out").iterdir()) == []


def test_pictures_take_their_ink_from_the_page_and_speak():
    names = [f"c{i}" for i in range(9)]
    windows = waves(30, channels=9)
    drawn = sections.correlations(windows, windows[..., ::-1], names)
    for picture in drawn.pictures:
        texts = re.findall(r"<text [^>]*>", picture.svg)
        assert len(texts) >= 19  # nine names a side, the title, and the colour bar's numbers
        assert all("fill: currentColor" in text for text in texts)
    assert "They differ most, by" in drawn.text
    spectra = sections.spectra(windows, 2 * windows, names)
    assert "The first 8 of 9 channels" in spectra.text
    assert re.search(r"at most 6(\.0)? dB apart, at bin \d", spectra.pictures[0].caption)
    assert spectra.pictures[0].caption in spectra.pictures[0].svg


def test_tables_are_cut_by_window_column_or_by_length(tmp_path, capsys):
    windows = waves(5)
    frame = _table(windows)
    frame.sample(frac=1, random_state=0).sort_values("date").to_csv(tmp_path / "t.csv", index=False)
    found, names = judge.read_windows(tmp_path / "t.csv", None)
    np.testing.assert_allclose(found, windows, atol=1e-6)
    assert names == ["c 0", "c 1", "c 2", "c 3"]
    assert capsys.readouterr().out == "t.csv: not numbers, so not scored: date\n"
    frame.assign(window="w" + frame["window"].astype(str)).to_csv(tmp_path / "v.csv", index=False)
    np.testing.assert_array_equal(judge.read_windows(tmp_path / "v.csv", None)[0], found)
    frame.drop(columns="window").to_csv(tmp_path / "u.csv", index=False)
    found, _ = judge.read_windows(tmp_path / "u.csv", 16)
    assert found.shape == (5 * 16 - 15, 16, 4)
    np.testing.assert_allclose(found[16], windows[1], atol=1e-6)


@pytest.mark.parametrize(
    ("edit", "length", "message"),
    [
        (lambda f: f.drop(columns="window"), None, "no 'window' column"),
        (lambda f: f.drop(columns="window"), 1000, "--length=1000 does not fit"),
        (lambda f: f.iloc[:-1], None, "windows differ in length"),
        (lambda f: f.assign(window=f["window"].where(f.index != 3)), None, "empty in row 4"),
        (lambda f: f[["window", "date"]], None, "no column of numbers"),
    ],
)
def test_tables_without_windows_are_named_errors(tmp_path, edit, length, message):
    edit(_table(waves(5))).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(judge.PacodiError, match=message):
        judge.read_windows(tmp_path / "t.csv", length)


def test_channels_must_agree_by_name(small, tmp_path, capsys):
    _table(waves(60)).to_csv(tmp_path / "a.csv", index=False)
    _table(waves(60)).rename(columns={"c 0": "z"}).to_csv(tmp_path / "b.csv", index=False)
    assert judge.main([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]) == 2
    assert "name and order must agree" in capsys.readouterr().err
