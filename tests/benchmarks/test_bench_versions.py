"""The comparison of two versions: ratios are of one round, and a worker that dies says why."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_a_ratio_is_of_one_round(benchmark):
    versions = benchmark("bench_versions")
    found = versions.row("step, ms", [[0.001, 0.002], [0.004, 0.008], [0.002, 0.004]])
    assert found["after / before"] == "2 (2 to 2)"
    assert found["before"] == "2 (1 to 4)"
    assert not versions.is_before(ROOT)


def test_a_worker_that_dies_says_why(benchmark, tmp_path, monkeypatch):
    versions = benchmark("bench_versions")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SystemExit, match="no answer to the start"):
        list(versions.programs([tmp_path], 24, 2))
