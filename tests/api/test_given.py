"""Data as users give them."""

import numpy as np
import polars as pl
import pytest

import pacodi_jax as pj
from pacodi_jax.api import given
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


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two tables of the same shops, the second with ten times the load."""
    folder = tmp_path_factory.mktemp("tables")
    for name, factor in (("old.csv", 1), ("new.csv", 10)):
        shops().assign(load=lambda t, by=factor: by * t["load"]).to_csv(folder / name, index=False)
    return folder


@pytest.fixture(scope="module")
def of_file(files):
    return estimator().fit(files / "old.csv", progress=False)


def mean_load(model):
    return float(model._dataset.recipe.deliver(model._dataset.train.values())[..., 1].mean())


def test_a_model_of_a_file_takes_frames_and_names_of_the_catalogue_too(of_file):
    given.windows(of_file.trained_, shops())
    assert given.dataset(of_file.trained_, shops()).recipe.channels == ("sales", "load")
    with pytest.raises(pj.PacodiError, match="sines knows its own"):
        given.windows(of_file.trained_, "sines")


def test_data_that_are_given_go_before_those_that_a_model_was_trained_on(of_file, files):
    again = pj.PaCoDi(**of_file.get_params())
    assert mean_load(again.fit(files / "new.csv", progress=False)) > 5 * mean_load(of_file)
    path = of_file.save(files / "old.pacodi")
    loaded = pj.load(path)
    assert mean_load(loaded.fit(files / "new.csv", progress=False)) > 5 * mean_load(of_file)
    of_frame = pj.load(path).fit(shops(), progress=False)
    assert mean_load(of_frame) == pytest.approx(mean_load(of_file), rel=1e-6)


def test_unseen_columns_are_found_by_name_and_others_are_refused(of_file):
    table = shops()
    turned = table[["load", "date", "grade", "sales", "shop"]]
    usual = given.windows(of_file.trained_, table)
    np.testing.assert_array_equal(given.windows(of_file.trained_, turned), usual)
    with pytest.raises(pj.PacodiError, match="held_out has the channels sales, weight; the model"):
        given.windows(of_file.trained_, table.rename(columns={"load": "weight"}))


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(pj.PacodiError, match="is not there"):
        pj.load(tmp_path / "nothing.pacodi")
    with pytest.raises(pj.PacodiError, match="is not a trained run"):
        pj.load(tmp_path)
    with pytest.raises(pj.PacodiError, match=r"no file 'ett.csv', and no data set"):
        pj.PaCoDi().fit("ett.csv")
