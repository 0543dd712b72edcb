"""Checkpoints are restored whole, or refused by name."""

import json
import resource
import shutil
import warnings
from pathlib import Path
from typing import NamedTuple

import jax
import ml_dtypes
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from pacodi_jax import checkpoint
from pacodi_jax.checkpoint import Checkpoints, Stored, model_file
from pacodi_jax.checkpoint import store as store_module
from pacodi_jax.errors import PacodiError


class State(NamedTuple):
    step: np.ndarray
    params: dict
    moments: tuple


def state_at(step: int) -> State:
    rng = np.random.default_rng(step)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    return State(
        np.asarray(step, np.int32),
        {"dense": {"kernel": draw(16, 8), "bias": -np.zeros(8, np.float32)}, "scale": draw()},
        (draw(3).astype(ml_dtypes.bfloat16), np.asarray([np.nan, np.inf], np.float32)),
    )


def assert_bitwise(left, right):
    assert jax.tree.structure(left) == jax.tree.structure(right)
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder with the steps 1 and 2."""
    folder = tmp_path_factory.mktemp("stored") / "checkpoints"
    with Checkpoints(folder) as store:
        store.save(1, state_at(1), {"note": "one"})
        store.save(2, state_at(2), {"note": "two"})
    return folder


@pytest.fixture
def folder(stored, tmp_path):
    return Path(shutil.copytree(stored, tmp_path / "checkpoints"))


def test_restore_is_bitwise_in_the_structure_of_the_template(folder):
    with Checkpoints(folder) as store:
        found = store.restore(state_at(0))
    assert found.step == 2
    assert found.metadata == {"note": "two"}
    assert_bitwise(found.state, state_at(2))


def test_empty_folder_restores_nothing(tmp_path):
    with Checkpoints(tmp_path / "none") as store:
        assert store.restore(state_at(0)) is None
        assert store.check() is None


def test_last_ones_and_the_best_are_kept_across_restarts(tmp_path):
    for steps in ([1, 2, 3], [4, 5, 6]):
        with Checkpoints(tmp_path, keep=2) as store:
            for step in steps:
                store.save(step, state_at(step), {}, metric=abs(step - 2.0))
    assert store.steps() == [2, 5, 6]


def test_saving_a_stored_step_again_changes_nothing(folder):
    with Checkpoints(folder) as store:
        store.save(2, state_at(7), {})
        assert_bitwise(store.restore(state_at(0)).state, state_at(2))


WAYS = ["truncate", "empty", "delete", "append", "zero", "first-bit", "middle-bit", "last-bit"]


def faults(folder: Path):
    """Every file of step 2, by every way to break it."""
    files = [p for p in sorted((folder / "2").rglob("*")) if p.is_file()]
    for file in files:
        for way in WAYS:
            yield file, way


def break_file(file: Path, way: str) -> None:
    content = bytearray(file.read_bytes())
    if way == "delete":
        file.unlink()
        return
    middle = len(content) // 2
    if way.endswith("bit"):
        content[{"first-bit": 0, "middle-bit": middle, "last-bit": -1}[way]] ^= 1
        file.write_bytes(content)
        return
    broken = {
        "truncate": content[:middle],
        "empty": b"",
        "append": content + b"\0",
        "zero": content[:middle] + bytes(len(content) - middle),
    }
    file.write_bytes(broken[way])


def test_no_fault_of_any_file_restores_a_wrong_state_silently(stored, tmp_path):
    seen = {"passed over": 0, "harmless": 0}
    for number, (original, way) in enumerate(faults(stored)):
        folder = Path(shutil.copytree(stored, tmp_path / str(number)))
        break_file(folder / original.relative_to(stored), way)
        with warnings.catch_warnings(record=True) as caught, Checkpoints(folder) as store:
            warnings.simplefilter("always")
            found = store.restore(state_at(0))
        assert_bitwise(found.state, state_at(found.step))
        if found.step == 1:
            assert any("step 2 is damaged" in str(w.message) for w in caught), (original, way)
        seen["passed over" if found.step == 1 else "harmless"] += 1
    assert sum(seen.values()) >= 60
    assert seen["passed over"] >= 30


def test_damaged_step_is_set_aside_and_can_be_saved_again(folder):
    break_file(folder / "2/state/checkpoint/0", "middle-bit")
    with Checkpoints(folder) as store:
        with pytest.warns(UserWarning, match="step 2 is damaged"):
            assert store.restore(state_at(0)).step == 1
        store.save(2, state_at(9), {})
        assert_bitwise(store.restore(state_at(0)).state, state_at(9))
    assert (folder / "2.damaged").is_dir()


def test_reading_only_changes_nothing_in_the_folder(folder):
    break_file(folder / "2/state/checkpoint/0", "middle-bit")
    before = sorted(folder.rglob("*"))
    with Checkpoints(folder, read_only=True) as store, pytest.warns(UserWarning, match="damaged"):
        assert store.restore(state_at(0)).step == 1
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("whole", ["seal", "state", "."])
def test_steps_without_a_whole_one_are_an_error_and_not_a_fresh_start(folder, whole):
    for step in (1, 2):
        target = folder / str(step) / whole
        shutil.rmtree(target)
        if whole == ".":
            target.mkdir()
    with Checkpoints(folder) as store, pytest.raises(PacodiError, match="no checkpoint in"):
        store.restore(state_at(0))


def test_exchanged_steps_are_recognised(folder):
    (folder / "2").rename(folder / "3")
    with Checkpoints(folder) as store, pytest.warns(UserWarning, match="another step"):
        assert store.restore(state_at(0)).step == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s._replace(step=np.asarray(0, np.int64)), "step is int32"),
        (lambda s: s._replace(moments=(*s.moments, s.step)), r"moments\.2 is absent there"),
        (
            lambda s: s._replace(params=s.params | {"scale": np.zeros(2, np.float32)}),
            r"params\.scale is float32\[\] there and float32\[2\] here",
        ),
    ],
)
def test_another_model_is_refused_by_the_name_of_the_array(folder, change, message):
    with Checkpoints(folder) as store, pytest.raises(PacodiError, match=message):
        store.restore(change(state_at(0)))


def test_unfinished_save_never_counts(folder):
    shutil.copytree(folder / "2", folder / "3.orbax-checkpoint-tmp")
    with Checkpoints(folder) as store:
        assert store.check() == 2
    assert not (folder / "3.orbax-checkpoint-tmp").exists()


def test_no_room_is_an_error_at_once_and_earlier_steps_stay(folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    store = Checkpoints(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        with pytest.raises(PacodiError, match=r"no room for a checkpoint of .* MB"):
            store.save(3, state_at(3), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert_bitwise(store.restore(state_at(0)).state, state_at(2))
    store.close()


def save_and_listen(store, step):
    """Starts a save and only asks after it, as the training loop does."""
    store.save(step, state_at(step), {})
    while store.check() != step:
        pass


def test_failure_in_the_background_is_heard_of_without_another_save(folder, monkeypatch):
    monkeypatch.setattr(store_module, "require_room", lambda folder, size: None)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    store = Checkpoints(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        with pytest.raises(PacodiError, match=r"step 3 could not be written .*make room"):
            save_and_listen(store, 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with Checkpoints(folder) as again:
        assert_bitwise(again.restore(state_at(0)).state, state_at(2))
        again.save(3, state_at(3), {})
        assert_bitwise(again.restore(state_at(0)).state, state_at(3))


def test_a_model_file_round_trips_with_its_header(tmp_path):
    weights = {
        "kernel": state_at(3).params["dense"]["kernel"],
        "inner": {"0": np.arange(3), "b": np.ones(2)},
    }
    header = {"facts": {"parameters": 137}, "recipe": {"scale": [0.1, 1e-300]}}
    place = checkpoint.save(tmp_path / "any.pacodi", Stored({"weights": weights}, header))
    loaded = checkpoint.load(place)
    assert_bitwise(loaded.arrays["weights"], weights)
    assert loaded.header == header
    assert [path.name for path in tmp_path.iterdir()] == ["any.pacodi"]


def _resealed(place, change) -> None:
    """Writes the file again with another header, as an editor of safetensors would."""
    with safe_open(place, "numpy") as file:
        sealed = json.loads(file.metadata()["seal"])
    arrays = load_file(place)
    change(sealed, arrays)
    save_file(arrays, place, metadata={"seal": json.dumps(sealed)})


def _scale(sealed, arrays):
    sealed["metadata"]["recipe"]["scale"] = 1000


def _array(sealed, arrays):
    arrays["weights.kernel"] = arrays["weights.kernel"] + 1


def _more(sealed, arrays):
    arrays["weights.more"] = np.zeros(1)


def _deep(sealed, arrays):
    sealed.clear()
    inner = sealed
    for _ in range(400):
        inner["a"] = inner = {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_scale, "its seal does not match its own digest"),
        (_array, "weights.kernel is not the one that was saved"),
        (_more, "arrays were added or removed"),
        (_deep, "its seal cannot be read"),
    ],
)
def test_a_model_file_that_was_edited_is_refused(tmp_path, change, said):
    weights = {"weights": {"kernel": state_at(3).params["dense"]["kernel"]}}
    stored = Stored(weights, {"recipe": {"scale": 1}})
    place = checkpoint.save(tmp_path / "any.pacodi", stored)
    _resealed(place, change)
    with pytest.raises(PacodiError, match=said):
        checkpoint.load(place)


def test_a_model_file_that_is_absent_damaged_or_newer_is_refused(tmp_path, monkeypatch):
    weights = {"weights": {"kernel": state_at(3).params["dense"]["kernel"]}}
    with pytest.raises(PacodiError, match="cannot be read"):
        checkpoint.load(tmp_path / "absent.pacodi")
    for way in WAYS:
        place = checkpoint.save(tmp_path / "any.pacodi", Stored(weights, {}))
        break_file(place, way)
        with pytest.raises(PacodiError, match="cannot be read"):
            checkpoint.load(place)
    monkeypatch.setattr(model_file, "FORMAT", 2)
    checkpoint.save(place, Stored(weights, {}))
    monkeypatch.undo()
    with pytest.raises(PacodiError, match="newer version"):
        checkpoint.load(place)


def test_a_file_of_weights_without_a_seal_is_no_model(tmp_path):
    save_file({"a": np.zeros(1)}, tmp_path / "any.pacodi")
    with pytest.raises(PacodiError, match="it has no seal"):
        checkpoint.load(tmp_path / "any.pacodi")
