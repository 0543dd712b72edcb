"""Another history: blocks of train drawn again, whole."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def bench(benchmark):
    return benchmark("bench_history")


def test_windows_of_a_block_come_as_often_as_it_does(bench):
    seen = np.bincount(bench.other_history(np.arange(100), 10, seed=0), minlength=100)
    assert seen.sum() == 100
    blocks = seen.reshape(10, 10)
    assert (blocks == blocks[:, :1]).all()  # a block is drawn whole
    assert (blocks[:, 0] == 0).any()  # some are not drawn
    assert blocks[:, 0].max() > 1  # others again


def test_gaps_are_no_blocks_and_histories_differ_by_their_seed(bench):
    starts = np.concatenate([np.arange(20), 1000 + np.arange(20)])
    first, second = (bench.other_history(starts, 5, seed=s) for s in (0, 1))
    seen = np.bincount(first, minlength=40).reshape(8, 5)
    assert (seen == seen[:, :1]).all()
    assert len(first) == 40
    assert sorted(first) != sorted(second)


def test_a_history_is_at_least_as_long_as_train_where_blocks_are_uneven(bench):
    starts = np.arange(25)  # blocks of 10, 10 and 5
    lengths = [len(bench.other_history(starts, 10, seed=s)) for s in range(20)]
    assert min(lengths) == 25
    assert max(lengths) < 35


def test_longer_windows_have_a_record_of_their_own_beside_the_first(bench):
    assert bench.parse(["air"]).length == 24
    assert bench.key("air", 24) == "air"
    assert bench.key("air", bench.parse(["air", "--length", "128"]).length) == "air-128"


def test_all_sets_unless_some_are_named(bench, capsys):
    assert bench.parse([]).data == ["etth1", "stocks", "sines", "air"]
    assert bench.parse(["air", "--histories", "3"]).data == ["air"]
    with pytest.raises(SystemExit):
        bench.parse(["nosuch"])
    assert "nosuch is none of etth1, stocks, sines, air" in capsys.readouterr().err
    for few in ("--histories=0", "--windows=5"):
        with pytest.raises(SystemExit):
            bench.parse(["air", few])
        assert "at least one history, and 20 windows of it" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        bench.parse(["air", "--length=1"])
    assert "--length of 2 or more" in capsys.readouterr().err
