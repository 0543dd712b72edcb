"""Batches from the devices' memory and from the host's: one order, one training."""

from dataclasses import replace

import jax
import numpy as np
import pandas as pd
import pytest

from pacodi_jax import parallel
from pacodi_jax.data import batches, mapped
from pacodi_jax.data.batches import Order
from pacodi_jax.models.fitted import fit
from pacodi_jax.parallel import AXIS
from pacodi_jax.run import parts, room
from pacodi_jax.settings import Config
from pacodi_jax.train import from_config, sources
from pacodi_jax.train.from_config import train
from pacodi_jax.train.sources import OnDevices, Streamed, source_of

CHANGES = {
    "data.source": "table",
    "data.length": 8,
    "data.time": "when",
    "data.static": "grade",
    "data.calendar": "day",
    "train.batch": 6,
    "train.steps": 9,
    "train.checkpoint_every": 4,
    "train.validate_every": 5,
}


def frame(rows=120):
    noise = np.random.default_rng(0).standard_normal((rows, 2)).cumsum(axis=0)
    return pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=rows, freq="h"),
            "grade": np.repeat(["low", "high"], rows // 2),
            "a": noise[:, 0],
            "b": noise[:, 1],
        }
    )


def config(**changes):
    return Config.default(size="tiny").changed(CHANGES | changes)


def told():
    """Short windows with texts, some of them oversampled, and a condition of two parts."""
    rows = 160
    told = np.repeat(["a calm day", "a storm"], rows // 2)
    table = frame(rows).drop(columns="b").assign(said=told)
    changes = CHANGES | {"data.text": "said", "text.encoder": "hashed", "text.dropout": 0.3}
    wanted = Config.default(size="tiny").changed(changes)
    train = parts.load_data(wanted, table).train
    return wanted, replace(train, rare=np.arange(len(train)) % 5 == 0)


def on_two_devices(source):
    """The batches of a step, from data with a leading axis of two devices."""
    share = lambda data, step: source.batch(data, step)  # noqa: E731
    return jax.jit(jax.vmap(share, in_axes=(0, None), axis_name=AXIS))


@pytest.fixture
def two_devices(monkeypatch):
    """Two devices by name; batches of both are computed on one."""
    devices = jax.devices() * 2
    monkeypatch.setattr(sources.jax, "devices", lambda: [*map(_Named, devices, range(2))])
    monkeypatch.setattr(sources.jax, "local_devices", lambda: sources.jax.devices())


class _Named:
    def __init__(self, device, number):
        self.device, self.number = device, number

    def __eq__(self, other):
        return self.number == other.number

    __hash__ = None


def test_both_sources_give_the_same_batches_with_their_conditions(two_devices, monkeypatch):
    wanted, windows = told()
    monkeypatch.setattr(sources, "_STEPS", 3)
    order = Order(wanted.seed, wanted.train.batch, len(windows))
    dropout = batches.part_dropout(windows, wanted.text.dropout, wanted.seed)
    streamed = Streamed(windows, order, dropout)
    rows = batches.resident(windows, dropout=wanted.text.dropout, seed=wanted.seed)
    resident = OnDevices(rows, order)
    held = jax.tree.map(lambda leaf: np.stack([leaf] * 2), rows)
    ahead, here = on_two_devices(streamed), on_two_devices(resident)
    rare = left_out = 0
    for step in range(2 * len(windows) // wanted.train.batch + 1):
        found, expected = ahead(streamed.read(step // 3), step), here(held, step)
        jax.tree.map(np.testing.assert_array_equal, found, expected)
        rare += int(found.oversampled.sum())
        left_out += int((found.condition[..., 0] == 0).sum())
    assert rare
    assert left_out


def test_a_streamed_run_is_the_resident_one_bit_for_bit(tmp_path):
    """Also when it is stopped in the middle and goes on."""
    resident = train(config(**{"data.stream": "off"}), tmp_path / "off", table=frame()).run
    streamed = config(**{"data.stream": "on"})
    short = streamed.changed({"train.chunk": 2})
    stopped = train(short, tmp_path / "on", table=frame(), signals=_After(4)).run
    assert stopped.signal is not None
    assert 0 < stopped.step < 9
    again = train(streamed, tmp_path / "on", table=frame()).run
    assert again.first == stopped.step
    jax.tree.map(np.testing.assert_array_equal, resident.state, again.state)


class _After:
    """Asks for the end after a number of looks, as a signal would."""

    def __init__(self, looks):
        self.looks = looks

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    @property
    def received(self):
        self.looks -= 1
        return "SIGTERM" if self.looks < 0 else None


@pytest.mark.parametrize("backend", parallel.BACKENDS)
def test_blocks_are_read_one_after_another_and_from_any_step(backend, monkeypatch):
    monkeypatch.setattr(sources, "_STEPS", 4)
    windows = parts.load_data(config(), frame()).train
    source = Streamed(windows, Order(0, 6, len(windows)))
    for step in (0, 1, 3, 4, 9, 13, 2, 40):
        block = parallel.unreplicate(source.data(step, backend), backend)
        expected = jax.tree.map(lambda leaf: leaf[0], source.read(step // 4))
        found = block if backend == "pmap" else jax.tree.map(lambda leaf: leaf[0], block)
        jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_what_outgrows_the_device_is_streamed(monkeypatch):
    windows = parts.load_data(config(), frame()).train
    assert isinstance(source_of(windows, config()), OnDevices)
    monkeypatch.setattr(room, "of_device", lambda: 4 * windows.series.nbytes)
    assert isinstance(source_of(windows, config()), Streamed)
    assert isinstance(source_of(windows, config(**{"data.stream": "off"})), OnDevices)
    assert not mapped.is_mapped(windows.series)


def test_a_block_keeps_within_its_room(monkeypatch):
    windows = parts.load_data(config(), frame()).train
    size = 4 * 6 * 8 * 2
    for room_, steps in ((10 * size, 10), (10 * size - 1, 9), (1, 1), (1 << 30, 128)):
        monkeypatch.setattr(sources, "_BYTES", room_)
        assert Streamed(windows, Order(0, 6, len(windows))).steps == steps


def test_moments_of_many_windows_are_of_every_row(monkeypatch):
    """Beyond a number of windows, what is fitted is completed by one pass over all rows."""
    table = frame(600).drop(columns="grade")
    wanted = config(**{"data.static": (), "data.calendar": "off"})
    dataset = parts.load_data(wanted, table)
    train = dataset.train
    side_by_side = train.take(np.arange(0, len(train), 8))
    np.testing.assert_array_equal(np.concatenate(list(train.touching())), side_by_side)
    whole = fit("none", side_by_side)[1].to_arrays()["moments"]
    monkeypatch.setattr(from_config, "_MANY", 16 * 2 * 8 * 20)
    changed = wanted.changed({"diffusion.statistics": "none"})
    found = from_config._prepare(changed, dataset)[0]["moments"]
    some = fit("none", train.spread(16 * 2 * 8 * 20).values())[1].to_arrays()["moments"]
    assert len(train.spread(16 * 2 * 8 * 20)) == 20
    for ours, theirs, guess in zip(*map(jax.tree.leaves, (found, whole, some)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
        assert np.abs(ours - guess).max() > 1e-2
