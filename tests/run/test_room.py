"""What will not fit into memory is refused before it is begun, with both sizes."""

import resource

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax import memory
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Shape
from pacodi_jax.networks.products import largest_result
from pacodi_jax.run import parts, room
from pacodi_jax.settings import Config
from pacodi_jax.train import optimiser, refusals
from tests.run import still
from tests.run.copycat import load, trained


def test_what_needs_more_than_is_free_is_refused(monkeypatch):
    monkeypatch.setattr(room, "available", lambda: 3 * 10**9)
    room.require(3 * 10**9, "work", "")
    with pytest.raises(PacodiError, match=r"^work: that takes 4 TB .* 3 GB are free .* Do less"):
        room.require(4 * 10**12, "work", "Do less.")
    monkeypatch.setattr(room, "available", lambda: None)  # where nothing is known
    room.require(10**30, "work", "")


def test_the_tightest_limit_counts(monkeypatch, tmp_path):
    free = memory.available()
    assert 0 < free < 10**14
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert memory.available() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available() > 3000
    used = memory._fields(memory.Path("/proc/self/status"))["VmSize"]
    monkeypatch.setattr(resource, "getrlimit", lambda which: (used + 10**6, used))
    assert memory.available() < 2 * 10**6


def test_too_many_windows_are_refused_before_the_first_is_drawn(tmp_path):
    with pytest.raises(PacodiError, match=r"^1,000,000,000,000 windows at once: .* another seed"):
        trained(load(tmp_path)).draw(10**12)


def test_samples_beyond_memory_are_refused_before_training_for_them(tmp_path, capfd):
    with still.family():
        assert still.command(tmp_path / "run", count=10**12) == 2
    assert "error: 1,000,000,000,000 windows at once: that takes 128 TB" in capfd.readouterr().err
    assert not (tmp_path / "run/checkpoints").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.width": 10**6}, r"a model of [\d,]{15,} parameters: .* TB .*model\.width"),
        ({"train.batch": 2 * 10**9}, r"train\.batch=2000000000: .* GB .*Lower train\.batch"),
        ({"train.calibration": 10**10}, r"train\.calibration=10000000000: .* TB .*Lower it"),
    ],
)
def test_a_model_or_a_batch_beyond_memory_is_refused_by_name(changes, message):
    config = Config.default(size="tiny").changed({"data.length": 8} | changes)
    windows = np.random.default_rng(0).normal(size=(20, 8, 2)).astype(np.float32)
    arrays = config.model.prepare(config.family, windows, None)
    generator = parts.build_generator(config, Shape(8, 2), arrays, optimiser.build)
    with pytest.raises(PacodiError, match=message):
        refusals.require_room(config, Shape(8, 2), generator)


def test_the_largest_result_is_found_inside_a_loop():
    def body(carry, x):
        return carry + jnp.sum(jnp.outer(x, x)), None

    traced = jax.make_jaxpr(lambda xs: jax.lax.scan(body, 0.0, xs))(jnp.ones((3, 100)))
    assert largest_result(traced.jaxpr) == 4 * 100 * 100
