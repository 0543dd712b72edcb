"""What enters a family: a wrong shape or dtype is named, where it would have broadcast."""

import jax
import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.models import FAMILIES, conditions
from pacodi_jax.settings import Config
from tests.models import small

WINDOWS = np.zeros((64, 12, 3), np.float32)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(
    ("windows", "condition", "message"),
    [
        (WINDOWS[0], None, r"windows has shape \(12, 3\) of float32; expected \(N, L, C\)"),
        (WINDOWS.astype(int), None, r"windows has shape \(64, 12, 3\) of int"),
        (WINDOWS, np.ones((63, 2), np.float32), r"\(63, 2\) of float32; expected \(64, E\)"),
        (WINDOWS, np.ones(64, np.float32), r"condition has shape \(64,\)"),
        (WINDOWS, np.ones((64, 2), bool), r"condition has shape \(64, 2\) of bool"),
    ],
)
def test_training_examples_are_windows_and_a_condition_each(name, windows, condition, message):
    with pytest.raises(PacodiError, match=message):
        FAMILIES[name].prepare(Config.default(name, "tiny").family, windows, condition)


@pytest.mark.parametrize(
    ("key", "condition", "message"),
    [
        (jax.random.split(jax.random.key(0), 3), None, r"key has shape \(3,\); expected one key"),
        (jax.random.key(0), np.ones((3, 1), np.float32), r"\(3, 1\) of float32; expected \(4, E\)"),
        (jax.random.key(0), np.ones(1, np.float32), r"condition has shape \(1,\)"),
        (jax.random.key(0), np.ones((4, 1), int), r"condition has shape \(4, 1\) of int"),
    ],
)
def test_a_draw_has_a_condition_per_window(key, condition, message):
    """JAX would repeat the last row of one that is too short."""
    model = small.silent(small.build())
    with pytest.raises(PacodiError, match=message):
        model.sample(key, {}, 4, condition)
    if condition is not None:
        with pytest.raises(PacodiError, match=message):
            model.traceable({}, 4, condition)


def test_one_number_does_not_stand_for_a_whole_condition():
    rows = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    arrays = conditions.fit(rows)
    scaled = conditions.standard(arrays, rows)
    np.testing.assert_allclose(np.asarray(scaled), (rows - rows.mean(0)) / rows.std(), atol=1e-5)
    with pytest.raises(PacodiError, match=r"has 1 numbers; this model was trained with 3"):
        conditions.standard(arrays, rows[:, :1])
