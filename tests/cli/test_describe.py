"""The describe command shows what there is, on one screen, and draws it."""

import subprocess
import sys

import numpy as np

from pacodi_jax import data
from pacodi_jax.cli.describe import main
from tests.data import tables


def _describe(capsys, *arguments):
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_a_constant_channel_is_allowed_named_and_comes_back(tmp_path, capsys):
    frame = tables.hourly(200).assign(limit=7)
    frame.to_csv(tmp_path / "t.csv", index=False)
    text = _describe(
        capsys, "--source=table", f"--path={tmp_path / 't.csv'}", "--time=when", "--length=12",
        f"--png={tmp_path / 'd.png'}",
    )  # fmt: skip
    assert "constant    limit" in text
    assert (tmp_path / "d.png").read_bytes().startswith(b"\x89PNG")
    assert len(text.splitlines()) <= 24


def test_the_period_of_a_daily_rhythm_is_found(tmp_path, capsys):
    hours = np.arange(2000)
    rhythm = np.sin(2 * np.pi * hours / 24) + 0.1 * np.random.default_rng(0).normal(size=2000)
    np.save(tmp_path / "t.npy", rhythm[:, None])
    text = _describe(
        capsys, "--source=table", f"--path={tmp_path / 't.npy'}", "--length=48",
        f"--png={tmp_path / 'd.png'}",
    )  # fmt: skip
    assert text.splitlines()[-3].endswith("  24")


def test_the_paper_protocol_is_shouted(tmp_path, capsys):
    text = _describe(
        capsys, "--source=sines", "--length=8", "--protocol=paper", f"--png={tmp_path / 'd.png'}"
    )
    assert "PAPER PROTOCOL" in text
    assert "fitted on ALL windows" in text


def test_gaps_are_reported(tmp_path, capsys):
    tables.mixed().to_parquet(tmp_path / "t.parquet")
    text = _describe(
        capsys, "--source=table", f"--path={tmp_path / 't.parquet'}", "--time=when", "--id=site",
        "--static=grade", "--length=6", f"--png={tmp_path / 'd.png'}",
    )  # fmt: skip
    assert "3 rows skipped by the clock" in text
    assert "561 in 3 series, every h" in text
    assert "Europe/Berlin" in text


def test_a_config_is_described_and_flags_override_it(tmp_path, capsys):
    config = tmp_path / "c.py"
    config.write_text(
        "from ml_collections import ConfigDict\n"
        "def get_config():\n"
        "  data = dict(source='sines', length=8, path='')\n"
        "  return ConfigDict(dict(data=data, seed=7))\n"
    )
    png = f"--png={tmp_path / 'd.png'}"
    text = _describe(capsys, f"--config={config}", png)
    assert "each 8 steps" in text
    assert data.load(data.DataSettings(source="sines", length=8), seed=7).fingerprint in text
    assert "each 12 steps" in _describe(capsys, f"--config={config}", "--length=12", png)
    override = "--config.data.length=10"
    assert "each 10 steps" in _describe(capsys, f"--config={config}", override, png)


def test_the_command_prints_no_traceback(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pacodi_jax.data", "describe", "--source=etth9", "--length=4"],
        capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: data.source='etth9' is unknown")
    assert done.stdout == ""
