import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import properties
from pacodi_jax.text.properties import Yardsticks
from pacodi_jax.text.segments import segments

UNIT = Yardsticks(
    level=np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]),
    spread=np.array([1.0, 2.0, 3.0, 4.0]),
    volatility=np.array([0.1, 0.2, 0.3, 0.4]),
    unit=1.0,
)
TIME = np.linspace(0.0, 1.0, 48)


def _bumps(*places, height=2.0):
    return sum(height * np.exp(-(((TIME - place) / 0.06) ** 2)) for place in places)


@pytest.mark.parametrize(
    ("climb", "direction", "strength"),
    [(0.3, "flat", 0), (-0.7, "flat", 1), (1.5, "up", 2), (-1.5, "down", 2), (4.0, "up", 3)],
)
def test_trend_grades_the_climb_of_the_line(climb, direction, strength):
    found = properties.trend(5.0 + climb * TIME, UNIT)
    assert found.direction == direction
    assert found.strength == strength
    assert found.change == pytest.approx(climb)


def test_trend_is_in_units_of_the_channel():
    line = 1.5 * TIME
    assert properties.trend(line, UNIT).direction == "up"
    assert properties.trend(line, UNIT._replace(unit=2.0)).direction == "flat"


@pytest.mark.parametrize("places", [(0.5,), (0.25, 0.75), (0.2, 0.5, 0.8)])
def test_peaks_are_counted_and_placed(places):
    found = properties.peaks(_bumps(*places), UNIT)
    assert found.places == pytest.approx(places, abs=0.02)
    assert found.sure
    assert properties.dips(-_bumps(*places), UNIT) == found


def test_a_peak_near_the_threshold_is_unsure():
    found = properties.peaks(_bumps(0.25) + _bumps(0.75, height=0.66), UNIT)
    assert len(found.places) == 2
    assert not found.sure


def test_a_line_and_a_faint_wave_have_no_peaks():
    assert properties.peaks(TIME, UNIT).places == ()
    assert properties.peaks(0.05 * np.sin(20 * TIME), UNIT).places == ()


def test_a_constant_series_is_flat_and_calm_without_warnings():
    constant = np.full(24, 7.0)
    assert properties.trend(constant, UNIT).strength == 0
    assert properties.peaks(constant, UNIT).places == ()
    assert properties.cycles(constant, UNIT) == 0
    assert properties.volatility(constant, UNIT) == "low"
    assert [piece.direction for piece in segments(constant, UNIT)] == ["flat"]


def test_roughness_ignores_straight_lines_and_sees_zigzag():
    assert properties.roughness(3.0 * TIME) == pytest.approx(0.0, abs=1e-12)
    zigzag = np.where(np.arange(24) % 2 == 0, 0.5, -0.5)
    assert properties.roughness(zigzag) == pytest.approx(1.0)
    assert properties.volatility(zigzag, UNIT) == "high"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_cycles_of_a_sine_are_counted_through_a_trend(count):
    steps = np.arange(48) / 48
    assert properties.cycles(2.0 * np.sin(2 * np.pi * count * steps) + steps, UNIT) == count


def test_white_noise_has_no_dominant_period():
    noise = np.random.default_rng(0).normal(size=96)
    assert properties.cycles(noise, UNIT) == 0


def test_landmarks_of_a_line_are_its_values_there():
    inner = properties.landmarks(np.linspace(0.0, 4.0, 81))[1:4]
    np.testing.assert_allclose(inner, [1.0, 2.0, 3.0], atol=1e-12)


def test_fitted_edges_split_train_as_their_quantiles_say(windows, yardsticks):
    grades = [properties.volatility_grade(window, yardsticks) for window in windows]
    shares = np.bincount(grades, minlength=5) / len(grades)
    np.testing.assert_allclose(shares, [0.1, 0.25, 0.3, 0.25, 0.1], atol=0.01)
    assert yardsticks.unit == pytest.approx(np.sqrt(windows.var(axis=1).mean()))


@pytest.mark.parametrize(
    ("windows", "said"),
    [
        (np.zeros((3, 24)), "constant"),
        (np.full((3, 24), np.nan), "finite"),
        (np.zeros(24), "shape"),
        (np.zeros((2, 24, 7)), "one channel at a time"),
    ],
)
def test_statistics_refuse_what_cannot_be_described(windows, said):
    with pytest.raises(PacodiError, match=said):
        properties.fit(windows)


def test_story_of_a_slow_rise_and_a_sharp_drop():
    series = np.interp(TIME, [0.0, 0.85, 0.95, 1.0], [0.0, 3.0, 0.0, 0.0])
    rise, drop, *rest = segments(series, UNIT)
    assert (rise.direction, rise.pace) == ("up", "slow")
    assert (drop.direction, drop.pace) == ("down", "sharp")
    assert drop.centre > 0.85
    assert all(piece.direction == "flat" for piece in rest)


def test_story_pieces_cover_the_window_in_order(windows, yardsticks):
    for window in windows[:50]:
        pieces = segments(window, yardsticks)
        assert 1 <= len(pieces) <= 4
        assert sum(piece.share for piece in pieces) == pytest.approx(1.0)
        assert list(pieces) == sorted(pieces, key=lambda piece: piece.centre)


def test_story_of_a_flat_stretch_before_a_climb():
    first, second = segments(np.interp(TIME, [0.0, 0.5, 1.0], [0.0, 0.0, 3.0]), UNIT)
    assert first.direction == "flat"
    assert second.direction == "up"
    assert first.share == pytest.approx(0.5, abs=0.06)
