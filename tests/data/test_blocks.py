"""Blocks: parts that share one law, and that no window or gap filling looks across."""

import itertools

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import data
from pacodi_jax.data import splits
from pacodi_jax.data.blocks import WINDOWS, by_blocks
from pacodi_jax.errors import PacodiError

SHARES = (0.8, 0.1, 0.1)


def runs(parts):
    """``(part, rows)`` of each unbroken run."""
    edges = np.flatnonzero(np.diff(parts)) + 1
    pieces = np.split(parts, edges)
    return [(int(piece[0]), len(piece)) for piece in pieces]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("rows", "block"), [(2000, 0), (2017, 37), (900, 12)])
def test_shares_of_blocks_are_those_asked_for_and_stand_evenly(rows, block, seed):
    length = 10
    parts = by_blocks(np.array([0, rows]), SHARES, length, block, seed)
    own = block or WINDOWS * length
    count = rows // own
    found = runs(parts)
    for part in (splits.VALIDATION, splits.HELD_OUT):
        held = [size for kind, size in found if kind == part]
        assert abs(len(held) - 0.1 * count) <= 1
        assert all(size >= own for size in held)
    begins = np.cumsum([0, *(size for _, size in found)])[:-1]
    kept = [b for b, (kind, _) in zip(begins, found, strict=True) if kind > splits.TRAIN]
    assert np.ptp(np.diff(kept)) <= own + length


@pytest.mark.parametrize("seed", range(4))
def test_a_window_of_rows_lies_between_any_two_parts(seed):
    parts = by_blocks(np.array([0, 1000, 1500]), (0.6, 0.2, 0.2), 7, 25, seed)
    for series in (parts[:1000], parts[1000:]):
        found = runs(series)
        assert len(found) > 5
        for (one, _), (other, _) in itertools.pairwise(found):
            assert splits.GAP in (one, other)
        assert all(size == 7 for kind, size in found if kind == splits.GAP)


def test_the_seed_says_which_blocks_are_held_out():
    bounds = np.array([0, 4000])
    found = [by_blocks(bounds, SHARES, 10, 40, seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


def test_no_held_out_value_reaches_train():
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=1200)})
    options = data.DataSettings(source="table", length=8, split="blocks", block=40)
    first = data.load(options, table=frame)
    train = np.unique(first.train.starts[:, None] + np.arange(8))
    others = np.setdiff1d(np.arange(len(frame)), train)
    frame.loc[others, "a"] = 1e6
    frame.loc[others[::3], "a"] = np.nan
    second = data.load(options, table=frame)
    assert first.recipe.split == "blocks"
    np.testing.assert_array_equal(first.train.values(), second.train.values())


def test_parts_share_the_law_of_a_drifting_series():
    drift = pd.DataFrame({"a": np.arange(4000.0) + np.random.default_rng(0).normal(size=4000)})
    means = {}
    for split in ("time", "blocks"):
        found = data.load(data.DataSettings(source="table", length=10, split=split), table=drift)
        means[split] = abs(found.held_out.values().mean() - found.train.values().mean())
    assert means["blocks"] < 0.35 < 1.5 < means["time"]


@pytest.mark.parametrize(
    ("rows", "length", "block", "words"),
    [
        (1000, 50, 20, r"data\.block=20 rows hold no window of data\.length=50"),
        (1000, 100, 0, r"no (validation|held-out) block: 1,000 rows make 2 blocks of 400 rows"),
        (60, 100, 0, r"60 rows make 1 blocks.*data\.length of 2 or less"),
        (1000, 10, 250, r"1,000 rows make 4 blocks.*data\.block=50 would give 20"),
    ],
)
def test_blocks_that_cannot_work_are_refused_with_what_would_fit(rows, length, block, words):
    with pytest.raises(PacodiError, match=words):
        by_blocks(np.array([0, rows]), SHARES, length, block, seed=0)


@pytest.mark.parametrize("seed", range(6))
def test_what_the_error_advises_works(seed):
    parts = by_blocks(np.array([0, 1000]), SHARES, 10, 50, seed)
    assert {splits.TRAIN, splits.VALIDATION, splits.HELD_OUT} < set(parts.tolist())


def test_windows_without_a_split_of_blocks_keep_their_fingerprint():
    frame = pd.DataFrame({"a": np.arange(400.0)})
    options = data.DataSettings(source="table", length=8)
    prints = {
        data.load(options.replace(**change), table=frame).fingerprint
        for change in ({}, {"block": 0}, {"split": "blocks"}, {"split": "blocks", "block": 20})
    }
    assert len(prints) == 3
