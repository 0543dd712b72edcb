"""Another history: weeks of train drawn again, whole."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

LAUNCH = Path(__file__).parent.parent / "launch"


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(LAUNCH))
    yield importlib.import_module("bench_history")
    sys.path.remove(str(LAUNCH))


def test_windows_of_a_block_come_as_often_as_it_does(bench):
    starts = np.arange(100)
    seen = np.bincount(bench.other_history(starts, 10, 100, seed=0), minlength=100)
    assert seen.sum() == 100
    weeks = seen.reshape(10, 10)
    assert (weeks == weeks[:, :1]).all()  # a week is drawn whole
    assert (weeks[:, 0] == 0).any()  # some are not drawn
    assert weeks[:, 0].max() > 1  # others again


def test_histories_differ_by_their_seed_and_gaps_make_no_blocks(bench):
    starts = np.concatenate([np.arange(20), 1000 + np.arange(20)])
    first, second = (bench.other_history(starts, 5, 40, seed=s) for s in (0, 1))
    assert sorted(first) != sorted(second)
    assert len(np.unique(starts[first] // 5)) <= 8


def test_a_short_history_is_drawn_from_with_replacement(bench):
    rows = bench.other_history(np.arange(6), 3, 50, seed=0)
    assert rows.shape == (50,)
    assert set(rows) <= set(range(6))
