"""Batches: a pure function of seed and step, the same resident and streamed, disjoint by host."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacodi_jax import data
from pacodi_jax.data import batches, stream, writing
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


def test_stream_and_resident_give_the_same_batches(labelled, tmp_path):
    reader = stream.Stream(stream.write(labelled, tmp_path / "s"), seed=4, batch=16)
    held = batches.resident(labelled)
    for step in range(2 * len(labelled) // 16):
        expected = held.take(batches.indices(4, step, 16, held.size))
        for streamed, resident in zip(next(reader), expected, strict=True):
            np.testing.assert_array_equal(streamed, resident)


def test_a_restored_stream_goes_on_where_it_was(labelled, tmp_path):
    def fresh():
        return stream.Stream(tmp_path / "s", seed=1, batch=8, threads=3)

    stream.write(labelled, tmp_path / "s")
    first = fresh()
    for _ in range(5):
        next(first)
    state = first.state()
    expected = [np.asarray(next(first)[0]) for _ in range(3)]
    second = fresh()
    second.restore(state)
    for windows in expected:
        np.testing.assert_array_equal(next(second)[0], windows)


@pytest.mark.parametrize(("count", "hosts"), [(10, 3), (64, 4), (7, 7)])
def test_no_two_hosts_hold_the_same_example(count, hosts):
    parts = [batches.part(count, host, hosts) for host in range(hosts)]
    assert len({len(p) for p in parts}) == 1
    together = np.concatenate(parts)
    assert len(set(together.tolist())) == len(together) == count - count % hosts


def test_hosts_of_a_stream_read_disjoint_windows(labelled, tmp_path):
    stream.write(labelled, tmp_path / "s")
    seen = []
    for host in range(2):
        reader = stream.Stream(tmp_path / "s", seed=0, batch=10, host=host, hosts=2)
        seen.append({window.tobytes() for _ in range(4) for window in next(reader)[0]})
    assert not seen[0] & seen[1]
    resident = batches.resident(labelled, host=1, hosts=2)
    everything = {window.tobytes() for window in labelled.take(batches.part(len(labelled), 1, 2))}
    windows, _ = resident.take(np.arange(resident.size))
    assert {np.asarray(window).tobytes() for window in windows} == everything


def test_a_stream_is_written_whole_or_not_at_all(labelled, tmp_path, monkeypatch):
    monkeypatch.setattr(stream.json, "dumps", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stream.write(labelled, tmp_path / "s")
    assert list(tmp_path.iterdir()) == []


def test_mistakes_with_batches_are_named(labelled, tmp_path):
    with pytest.raises(PacodiError, match="host=2 of 2"):
        batches.part(10, 2, 2)
    with pytest.raises(PacodiError, match="cannot be shared"):
        batches.part(1, 0, 2)
    with pytest.raises(PacodiError, match="batch=0"):
        batches.indices(0, 0, 0, 10)
    with pytest.raises(PacodiError, match="not a folder of streamed windows"):
        stream.Stream(tmp_path, seed=0, batch=1)
    (tmp_path / "s").mkdir()
    with pytest.raises(PacodiError, match="exists already"):
        stream.write(labelled, tmp_path / "s")
