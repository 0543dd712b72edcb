"""Parts of a request, drawn alone: joined they are the whole, bit for bit."""

import numpy as np
import pandas as pd
import pytest

import pacodi_jax as pj
from pacodi_jax import parallel
from pacodi_jax.cli import pacodi
from pacodi_jax.errors import PacodiError
from pacodi_jax.run.shards import Shard

COUNT = 23


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with labels and dates."""
    hours = pd.date_range("2024-01-01", periods=300, freq="h")
    load = np.sin(np.arange(300) / 4) + 0.1 * np.random.default_rng(0).standard_normal(300)
    grade = np.repeat(["low", "high", "low"], 100)
    table = pd.DataFrame({"when": hours, "load": load, "grade": grade})
    settings = {"train.steps": 2, "model.width": 16, "model.depth": 1, "model.heads": 2}
    settings |= {"sample.steps": 2, "sample.batch": 5, "data.calendar": "day"}
    folder = tmp_path_factory.mktemp("shards") / "run"
    pj.PaCoDi(length=8, time="when", static=["grade"], settings=settings).fit(table, workdir=folder)
    return folder


@pytest.mark.parametrize("parts", [2, 5, 23])
def test_shards_joined_are_the_whole(run, parts):
    model = pj.load(run).trained_
    whole = model.draw(COUNT, seed=3)
    drawn = [model.draw(COUNT, seed=3, shard=Shard(i, parts)) for i in range(parts)]
    assert all(len(one.values) in (COUNT // parts, COUNT // parts + 1) for one in drawn)
    np.testing.assert_array_equal(np.concatenate([one.values for one in drawn]), whole.values)
    tables = [model.recipe.to_table(d.values, stamps=d.stamps, static=d.columns, first=d.first)
              for d in [*drawn, whole]]  # fmt: skip
    pd.testing.assert_frame_equal(pd.concat(tables[:-1], ignore_index=True), tables[-1])


def test_a_shard_alone_computes_few_rows_beyond_its_own():
    rows = parallel.rows_of_blocks(Shard(3, 10).rows(1000), 1000, 7)
    assert rows[0] % 7 == 0
    assert rows[0] <= 300 < rows[0] + 7
    assert len(rows) <= 100 + 2 * 7
    last = parallel.rows_of_blocks(Shard(9, 10).rows(1000), 1000, 7)
    assert last[-1] == 999
    assert len(last) % 7 == 0


def test_the_command_writes_each_shard_to_a_folder_of_its_own(run):
    assert pacodi.main(["sample", str(run), "-n", str(COUNT), "--out", str(run / "all")]) == 0
    for i in range(3):
        assert pacodi.main(["sample", str(run), "-n", str(COUNT), "--shard", f"{i}/3"]) == 0
    parts = [run / f"samples-{i}-of-3" for i in range(3)]
    arrays = [np.load(part / "samples.npy") for part in parts]
    np.testing.assert_array_equal(np.concatenate(arrays), np.load(run / "all/samples.npy"))
    texts = [(part / "samples.csv").read_text().splitlines() for part in parts]
    joined = texts[0] + [line for text in texts[1:] for line in text[1:]]
    assert joined == (run / "all/samples.csv").read_text().splitlines()


@pytest.mark.parametrize("text", ["", "3", "4/4", "-1/4", "1/0", "a/b", "1/2/3"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(PacodiError, match="write i/n"):
        Shard.parse(text)


def test_more_shards_than_windows_are_refused():
    with pytest.raises(PacodiError, match="3 windows cannot be shared by 4"):
        Shard.parse("0/4").rows(3)
