import json
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.cli import judge
from pacodi_jax.report import judgement
from tests.metrics.windows import SMALL, waves
from tests.report.frames import table


@pytest.fixture
def small(monkeypatch, tmp_path):
    """The command at a budget that only shows that everything is wired up."""
    monkeypatch.setattr(judgement, "_budget", lambda *_: SMALL._replace(seeds=(0, 1)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_two_files_give_scores_and_a_self_contained_report(small, tmp_path, capsys):
    table(waves(400)).to_csv(tmp_path / "real.csv", index=False)
    table(waves(200, seed=1)).to_parquet(tmp_path / "made.parquet", index=False)
    np.save(tmp_path / "held.npy", waves(200, seed=2))
    out = tmp_path / "out"
    command = [str(tmp_path / "real.csv"), str(tmp_path / "made.parquet"), "--out", str(out)]
    assert judge.main([*command, "--held-out", str(tmp_path / "held.npy")]) == 0
    assert sorted(p.name for p in out.iterdir()) == ["report.html", "scores.csv", "scores.json"]
    scores = json.loads((out / "scores.json").read_text())
    assert scores["data"]["channels"] == ["c 0", "c 1", "c 2", "c 3"]
    shown = capsys.readouterr()
    assert scores["verdict"][0] in shown.out
    assert "numbers to measure: about" in shown.err
    assert "first look, before anything is trained: " in shown.err
    assert [attack["kind"] for attack in scores["privacy"]["attacks"]] == ["distance"]
    assert len(scores["privacy"]["most"]) == 10
    rows = pd.read_csv(out / "scores.csv")
    assert len(rows) == len(scores["scores"]) == 29
    assert set(rows["split"]) == {"train", "held_out"}
    page = (out / "report.html").read_text()
    assert not re.search(
        r'(?:src|href)="(?!#|data:)', page.replace('xlink:href="data:', 'href="data:')
    )
    assert "url(http" not in page
    assert "<script" not in page
    assert page.count('role="img" aria-label="') == page.count("<svg") > 20
    assert page.count("<table>") == page.count("<caption>") == 3
    assert page.count("<tbody>") == page.count('scope="rowgroup"') + 1 == 5
    assert "Protocol: <strong>judge</strong>" in page
    assert page.count("<figcaption>Synthetic window ") == 10
    assert "Membership, by distance" in page
    assert '<th scope="row">' in page
    assert 'tabindex="0"' in page
    identifiers = re.findall(r' id="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))


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
    flat = table(waves(60))
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
    monkeypatch.setattr(judgement, "score_panel", lambda *_, **__: pytest.fail("scored in vain"))
    monkeypatch.chdir(tmp_path)
    files = [_save(tmp_path, "real.npy", waves(60)), _save(tmp_path, "s.npy", waves(60, seed=1))]
    assert judge.main([*files, flag, files[0]]) == 2
    assert capsys.readouterr().err == f"error: {files[0]} is a file; name a folder to write into.\n"


def test_channels_must_agree_by_name(small, tmp_path, capsys):
    table(waves(60)).to_csv(tmp_path / "a.csv", index=False)
    table(waves(60)).rename(columns={"c 0": "z"}).to_csv(tmp_path / "b.csv", index=False)
    assert judge.main([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]) == 2
    assert "names and order must agree" in capsys.readouterr().err
