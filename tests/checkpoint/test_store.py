"""What a folder of checkpoints promises beside whole states: it waits, tells and tidies."""

import json
import logging
import warnings

import numpy as np
import pytest

from pacodi_jax.checkpoint import Checkpoints, digest
from pacodi_jax.errors import PacodiError

STATE = {"a": np.arange(3.0)}


def _failing():
    raise OSError("the disk is gone")


def test_a_folder_is_made_with_its_parents_and_holds_nothing_but_steps(tmp_path):
    with Checkpoints(tmp_path / "run" / "checkpoints") as store:
        for step in range(1, 6):
            store.save(step, STATE, {})
    assert sorted(path.name for path in store.folder.iterdir()) == ["3", "4", "5"]


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path):
    place = tmp_path / "checkpoints"
    place.write_text("")
    with pytest.raises(PacodiError, match="no folder to write into: it is a file"):
        Checkpoints(place)


def test_a_file_named_like_an_unfinished_save_does_not_stop_a_run(tmp_path):
    (tmp_path / "7.orbax-checkpoint-tmp").write_text("")
    with Checkpoints(tmp_path) as store:
        store.save(1, STATE, {})
    assert store.steps() == [1]


def test_saving_tells_nothing_that_sounds_like_a_loss(tmp_path):
    """Orbax warns at every save by one process that it has nothing to merge."""
    heard = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record.getMessage())
    logger = logging.getLogger("absl")
    logger.addHandler(handler)
    try:
        with Checkpoints(tmp_path) as store:
            store.save(1, STATE, {})
        logger.warning("something else")
    finally:
        logger.removeHandler(handler)
    assert [line for line in heard if "merge" in line] == []
    assert "something else" in heard


def test_asking_for_the_newest_step_waits_only_once_it_is_written(tmp_path, monkeypatch):
    waited = []
    with Checkpoints(tmp_path) as store:
        store.save(1, STATE, {})
        store.finish()
        store.save(2, STATE, {})
        wait = store._manager.wait_until_finished
        monkeypatch.setattr(
            store._manager, "wait_until_finished", lambda: (waited.append(store._pending), wait())
        )
        monkeypatch.setattr(store._manager, "is_saving_in_progress", lambda: True)
        assert store.check() == 1
        assert not waited
        monkeypatch.setattr(store._manager, "is_saving_in_progress", lambda: False)
        assert store.check() == 2
        assert waited == [2]
        assert store.check() == 2
        assert waited == [2]


def test_leaving_tells_of_a_save_that_failed_and_hides_no_other_error(tmp_path, monkeypatch):
    store = Checkpoints(tmp_path)
    store.save(1, STATE, {})
    monkeypatch.setattr(store._manager, "wait_until_finished", _failing)
    with pytest.raises(PacodiError, match=r"step 1 could not be written .*: the disk is gone"):
        store.__exit__(None, None, None)
    monkeypatch.setattr(store._manager, "close", _failing)
    store.__exit__(KeyError, KeyError("the first error"), None)  # which is then heard of


def test_a_warning_names_the_line_that_restores(tmp_path):
    with Checkpoints(tmp_path) as store:
        for step in (1, 2):
            store.save(step, STATE, {})
    (tmp_path / "2").rename(tmp_path / "3")
    with warnings.catch_warnings(record=True) as caught, Checkpoints(tmp_path) as store:
        warnings.simplefilter("always")
        store.restore(STATE)
    assert [w.filename for w in caught if "damaged" in str(w.message)] == [__file__]


def test_a_seal_does_not_depend_on_the_order_in_which_json_was_read():
    sealed = digest.seal(STATE, {"step": 1, "metric": None})
    turned = json.loads(json.dumps(sealed), object_pairs_hook=lambda pairs: dict(pairs[::-1]))
    assert list(turned["metadata"]) == ["metric", "step"]
    assert digest.open_seal(turned) == sealed


def test_bytes_that_are_too_few_are_named():
    sealed = digest.seal(STATE, {})
    with pytest.raises(digest.Damaged, match="the array a is cut short"):
        digest.unpack(digest.pack(STATE)[:-8], sealed)
