"""Batches: a pure function of seed and step, the same on the devices and on the host."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacodi_jax import data
from pacodi_jax.data import batches, writing
from pacodi_jax.errors import PacodiError
from tests.data import tables

draw = jax.jit(batches.indices, static_argnums=(0, 2, 3))


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    path = writing.write_table(tables.mixed(), tmp_path_factory.mktemp("t") / "t.parquet")
    return data.load(
        data.DataSettings(
            source="table", path=path, length=6, time="when", id="site", static=["grade"]
        )
    ).train


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**40),
    batch=st.integers(1, 70),
    count=st.integers(1, 300),
    epoch=st.integers(0, 5),
)
def test_every_epoch_sees_every_example_once(seed, batch, count, epoch):
    first, last = epoch * count // batch, ((epoch + 1) * count - 1) // batch
    seen = np.concatenate(
        [batches.host_indices(seed, s, batch, count) for s in range(first, last + 1)]
    )
    offset = epoch * count - first * batch
    assert sorted(seen[offset : offset + count]) == list(range(count))


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 4097])
def test_device_and_host_agree_on_the_order(count):
    for step in (0, 1, 77, 2_000_000_000):
        np.testing.assert_array_equal(
            draw(5, step, 32, count), batches.host_indices(5, step, 32, count)
        )


def test_epochs_and_seeds_have_orders_of_their_own():
    orders = [batches.host_indices(seed, step, 500, 500) for seed in (0, 1) for step in (0, 1)]
    for i, a in enumerate(orders):
        for b in orders[i + 1 :]:
            assert (a == b).mean() < 0.02
        assert abs(np.corrcoef(a, np.arange(500))[0, 1]) < 0.15
        assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) < 0.15


def test_places_in_an_epoch_are_uniform():
    count, epochs = 20, 4000
    seen = batches.host_indices(9, 0, epochs * count, count).reshape(epochs, count)
    table = np.stack([np.bincount(column, minlength=count) for column in seen.T])
    expected = epochs / count
    chi = ((table - expected) ** 2 / expected).sum()
    freedom = (count - 1) ** 2
    assert abs(chi - freedom) < 5 * np.sqrt(2 * freedom)


def test_resident_windows_are_gathered_inside_jit(labelled):
    resident = batches.resident(labelled)
    chosen = np.array([3, 0, len(labelled) - 1])
    windows, condition = jax.jit(lambda d, i: d.take(i))(resident, chosen)
    np.testing.assert_array_equal(windows, labelled.take(chosen))
    np.testing.assert_array_equal(condition, labelled.condition()[chosen])


@pytest.mark.parametrize(("number", "steps"), [(0, 4), (3, 7), (50_000_000, 40)])
def test_a_block_holds_the_windows_of_its_steps(number, steps):
    order = batches.Order(5, 8, 61)
    block = order.block(number, steps)
    for row in range(steps):
        np.testing.assert_array_equal(block[row], order(number * steps + row))


def test_mistakes_with_batches_are_named():
    for take in (batches.indices, batches.host_indices):
        with pytest.raises(PacodiError, match="batch=0"):
            take(0, 0, 0, 10)
        with pytest.raises(PacodiError, match=r"count=1073741824"):
            take(0, 0, 1, 2**30)
