"""Which windows fill a canvas: every blank cell once, in an order that can be drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacodi_jax.series.canvas import Canvas, Pane, plan


def _filled(known: np.ndarray, length: int, overlap: int) -> tuple[np.ndarray, list[Pane]]:
    """What is known after all panes of a plan, in their order."""
    known, panes = known.copy(), plan(known, length, overlap)
    for pane in panes:
        low, high = pane.accept
        assert pane.start <= low < high <= pane.start + length <= len(known) + 0
        known[low:high] = True
    return known, panes


masks = st.tuples(
    st.integers(4, 9), st.integers(0, 60), st.floats(0, 1), st.integers(0, 2**16), st.booleans()
)


@given(masks, st.integers(1, 8))
@settings(max_examples=300, deadline=None)
def test_every_blank_cell_is_filled_and_windows_stay_on_the_canvas(case, overlap):
    length, more, share, seed, rows = case
    rng = np.random.default_rng(seed)
    known = rng.random((length + more, 2)) < share
    if rows:
        known[:, 1] = known[:, 0]
    whole, _ = _filled(known, length, min(overlap, length - 1))
    assert whole.all()


@given(masks)
@settings(max_examples=100, deadline=None)
def test_jobs_of_one_turn_do_not_touch(case):
    length, more, share, seed, _ = case
    known = np.random.default_rng(seed).random((length + more, 2)) < share
    panes = plan(known, length, length // 2)
    for turn in {pane.turn for pane in panes}:
        starts = sorted(pane.start for pane in panes if pane.turn == turn)
        assert (np.diff(starts) >= length).all()


def test_a_blank_canvas_is_chained_with_the_overlap():
    panes = plan(np.zeros((20, 1), bool), 8, 4)
    assert [(pane.start, pane.accept) for pane in panes] == [
        (0, (0, 8)),
        (4, (8, 12)),
        (8, (12, 16)),
        (12, (16, 20)),
    ]
    assert [pane.turn for pane in panes] == [0, 1, 2, 3]


def test_a_gap_longer_than_a_window_is_filled_from_both_ends():
    known = np.ones((40, 1), bool)
    known[10:30] = False
    panes = plan(known, 8, 4)
    assert [pane.accept for pane in panes] == [(10, 14), (26, 30), (14, 18), (22, 26), (18, 22)]
    assert panes[-1].start == 16  # the last one sees both sides
    assert [pane.turn for pane in panes] == [0, 0, 1, 1, 2]


def test_a_forecast_sees_as_much_of_the_past_as_fits():
    known = np.ones((11, 2), bool)
    known[8:] = False
    assert plan(known, 8, 4) == [Pane(3, (3, 11), 0)]


def test_short_gaps_see_both_sides_and_apart_ones_are_drawn_together():
    known = np.ones((60, 1), bool)
    known[[20, 50]] = False
    first, second = plan(known, 8, 4)
    assert first.start <= 18
    assert first.start + 8 >= 22
    assert first.turn == second.turn == 0


def test_nothing_blank_needs_no_window():
    assert plan(np.ones((20, 3), bool), 8, 4) == []


def test_a_canvas_keeps_what_is_known_and_takes_what_was_drawn():
    values = np.arange(12.0).reshape(6, 2)
    mask = np.ones((6, 2), bool)
    mask[4:, 1] = False
    canvas = Canvas(values, mask, np.array([0.0, 0.5]), draws=3)
    window, seen, noise = canvas.window(2, 4)
    assert window.shape == (3, 4, 2)
    np.testing.assert_array_equal(seen, mask[2:])
    np.testing.assert_array_equal(noise, np.where(mask[2:], [0.0, 0.5], 0))
    drawn = np.full((3, 4, 2), -1.0)
    canvas.accept(Pane(2, (3, 6), 0), drawn)
    np.testing.assert_array_equal(canvas.values[0, 3:, 0], values[3:, 0])
    np.testing.assert_array_equal(canvas.values[:, 3:, 1], -1.0)  # noisy cells are drawn anew
    np.testing.assert_array_equal(canvas.values[0, 2], values[2])
    assert canvas.known[3:].all()
    assert not canvas.known[2, 1]


@pytest.mark.parametrize("overlap", [1, 7])
def test_extreme_overlaps_still_fill(overlap):
    whole, _ = _filled(np.zeros((33, 1), bool), 8, overlap)
    assert whole.all()
