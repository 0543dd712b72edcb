"""Data as users give them."""

import numpy as np
import polars as pl
import pytest

import pacodi_jax as pj
from tests.api.shops import estimator, shops


def test_polars_goes_in_and_comes_back():
    table = shops("polars")
    new = estimator().fit(table, progress=False).sample(2)
    assert isinstance(new, pl.DataFrame)
    assert new.schema == {"window": pl.Int64, **table.schema}


def test_arrays_files_and_names_go_in(tmp_path):
    rng = np.random.default_rng(0)
    plain = {"time": (), "id": "", "static": ()}
    for data in (
        np.cumsum(rng.normal(size=(200, 2)), axis=0),
        rng.normal(size=(50, 12, 2)).cumsum(axis=1),
    ):
        model = estimator(**plain).fit(data, progress=False)
        assert model.sample(3, output="numpy").shape == (3, 12, 2)
    shops().to_csv(tmp_path / "mine.csv", index=False)
    file, memory = (estimator().fit(d, progress=False) for d in (tmp_path / "mine.csv", shops()))
    assert file.trained_.facts["channels"] == memory.trained_.facts["channels"]
    assert file.sample(1, output="numpy").shape == (1, 12, 2)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(pj.PacodiError, match="is not there"):
        pj.load(tmp_path / "nothing.pacodi")
    with pytest.raises(pj.PacodiError, match="is not a trained run"):
        pj.load(tmp_path)
    with pytest.raises(pj.PacodiError, match=r"no file 'ett.csv', and no data set"):
        pj.PaCoDi().fit("ett.csv")
