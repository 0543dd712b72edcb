import json
import re

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import judge, report
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


def test_pickles_are_never_loaded(small, tmp_path, capsys):
    real = _save(tmp_path, "real.npy", waves(60))
    np.save(tmp_path / "evil.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert judge.main([real, str(tmp_path / "evil.npy")]) == 2
    assert "pickled objects, which are never loaded" in capsys.readouterr().err


def test_tables_are_cut_by_window_column_or_by_length(tmp_path):
    windows = waves(5)
    frame = _table(windows)
    frame.sample(frac=1, random_state=0).sort_values("date").to_csv(tmp_path / "t.csv", index=False)
    found, names = judge.read_windows(tmp_path / "t.csv", None)
    np.testing.assert_allclose(found, windows, atol=1e-6)
    assert names == ["c 0", "c 1", "c 2", "c 3"]
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
