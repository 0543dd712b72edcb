"""A text, static columns, the calendar and observed values in one request; each may be left out."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import pacodi_jax as pj
from pacodi_jax.data import condition_parts
from pacodi_jax.data.condition_parts import PartDropout
from pacodi_jax.run import sealed

LENGTH = 8
LEVEL = {"low": 0.0, "high": 20.0}
pytestmark = pytest.mark.usefixtures("quick_compiles")


def houses() -> pd.DataFrame:
    """Eight houses whose grade sets the level, with ramps that a note describes."""
    rng, found = np.random.default_rng(0), []
    for number in range(8):
        grade = ["low", "high"][number % 2]
        up = np.repeat((np.arange(20) + number // 2) % 2 == 0, LENGTH)
        ramp = np.tile(np.arange(LENGTH) - 3.5, 20)
        found.append(
            pd.DataFrame(
                {
                    "day": pd.date_range("2024-01-01", periods=160, freq="D"),
                    "house": f"h{number}",
                    "grade": grade,
                    "note": np.where(up, "it rises", "it falls"),
                    "load": LEVEL[grade] + np.where(up, ramp, -ramp) + rng.normal(0, 0.3, 160),
                }
            )
        )
    return pd.concat(found, ignore_index=True)


@pytest.fixture(scope="module")
def model() -> pj.PaCoDi:
    settings = {
        "data.text": "note",
        "data.calendar": "week",
        "data.split": "series",
        "text.encoder": "hashed",
        "text.width": 32,
        "train.steps": 400,
        "sample.steps": 8,
    }
    made = pj.PaCoDi(
        length=LENGTH, time="day", id="house", static="grade", size="tiny", settings=settings
    )
    return made.fit(houses(), progress=False)


def _level_and_trend(drawn: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    windows = drawn["load"].to_numpy().reshape(-1, LENGTH)
    return windows.mean(axis=1), windows[:, -1] - windows[:, 0]


@pytest.mark.parametrize("grade", LEVEL)
@pytest.mark.parametrize(("text", "sign"), [("it rises", 1), ("it falls", -1)])
def test_a_text_and_a_static_column_are_both_obeyed(model, grade, text, sign):
    drawn = model.sample(40, text=text, static={"grade": grade}, start="2024-03-04")
    assert set(drawn["grade"]) == {grade}
    assert set(drawn["note"]) == {text}
    level, trend = _level_and_trend(drawn)
    assert (np.abs(level - LEVEL[grade]) < 8).mean() > 0.9
    assert (sign * trend > 0).mean() > 0.9


def test_what_is_left_out_is_drawn_and_what_is_drawn_is_what_the_columns_say(model):
    for asked in ({}, {"text": "it rises"}, {"static": {"grade": "low"}}):
        drawn = model.sample(60, **asked)
        level, trend = _level_and_trend(drawn)
        first = drawn.groupby("window").first()
        assert ((level > 10) == (first["grade"] == "high")).mean() > 0.9
        assert ((trend > 0) == (first["note"] == "it rises")).mean() > 0.9
        assert set(first["grade"]) == ({"low"} if "static" in asked else {"low", "high"})
        assert set(first["note"]) == ({"it rises"} if "text" in asked else {"it rises", "it falls"})


def test_a_text_joins_observed_values_and_static_columns(model):
    """One step at the level of a house of each grade is known; a text says what follows."""
    known = houses().query("house in ('h0', 'h1')")
    known = known.assign(load=known["grade"].map(LEVEL))
    request = {"horizon": 7, "overlap": 1, "draws": 50, "output": "numpy", "progress": False}
    ahead = {text: model.forecast(known, text=text, **request) for text in ("it rises", "it falls")}
    trend = {text: (draws[..., -1, 0] - draws[..., 0, 0]).mean() for text, draws in ahead.items()}
    assert trend["it rises"] > trend["it falls"] + 1
    for draws in ahead.values():
        low, high = draws.mean(axis=(1, 2, 3))
        assert high - low > 10
    more = model.simulate(4, start=known, count=3, text="it falls", progress=False)
    assert len(more) == 2 * 3 * 4


def test_requests_survive_saving_and_do_not_depend_on_their_number(model, tmp_path):
    again = sealed.read(sealed.write(model.trained_, tmp_path / "m.pacodi"))
    for asked in ({}, {"text": "it falls"}, {"static": {"grade": "high"}}):
        few, many = again.request(3, 5, **asked), model.trained_.request(3, 9, **asked)
        np.testing.assert_array_equal(few.vectors, many.vectors[:5])
        pd.testing.assert_frame_equal(few.columns, many.columns[:5])


def test_texts_and_static_columns_complete_one_another_by_the_windows_of_train(model):
    """Notes go with grades in this law: rises with high, falls with low."""
    trained = model.trained_
    law, recipe = trained.texts, trained.recipe
    high = recipe.condition({"grade": "high"})
    rises = np.array([text == "it rises" for text in law.texts])
    tied = law._replace(static=np.where(rises[:, None], high, high[::-1]))
    known = tied.told(recipe, trained.encode("it rises"))
    assert set(known.draw_static(0, 50)["grade"]) == {"high"}
    assert set(tied.draw(0, 50, np.tile(high, (50, 1))).words) == {"it rises"}
    lonely = tied.draw(0, 3, np.full((3, 2), 7.0))  # no window of train has these
    assert not lonely.given.any()
    assert not lonely.vectors.any()
    assert lonely.words == [""] * 3


def test_parts_stand_in_order_and_one_that_is_left_out_is_zero():
    text, static, phases = np.full((2, 2), 5.0), np.full((2, 1), 7.0), np.full((2, 1), 9.0)
    joined = condition_parts.join(text, static, phases, has_text=np.array([True, False]))
    assert joined.tolist() == [[1, 5, 5, 1, 7, 9], [0, 0, 0, 1, 7, 9]]
    assert condition_parts.places(2, 1, 1).astype(int).tolist() == [
        [1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 0],
    ]
    assert condition_parts.join(None, static, phases).tolist() == [[7, 9]] * 2
    assert condition_parts.join(text, None).tolist() == [[5, 5]] * 2
    assert condition_parts.join(None, None) is None


def test_parts_are_left_out_by_themselves_by_seed_step_and_slot():
    places = jnp.asarray(condition_parts.places(2, 1, 1))
    dropout = PartDropout(places, jnp.float32(0.25), jnp.uint32(0))
    count = 20_000
    slots, condition = jnp.arange(count), jnp.ones((count, 6))
    left = dropout.apply(condition, 3, slots, None)
    some = dropout.apply(condition[5:9], 3, slots[5:9], None)
    np.testing.assert_array_equal(some, left[5:9])
    text, static, phases = left[:, :3], left[:, 3:5], left[:, 5]
    assert (text.min(1) == text.max(1)).all()
    assert (static.min(1) == static.max(1)).all()
    assert (phases == 1).all()
    without = np.array([(text[:, 0] == 0).mean(), (static[:, 0] == 0).mean()])
    np.testing.assert_allclose(without, 0.25, atol=4 * np.sqrt(0.25 * 0.75 / count))
    both = float(((text[:, 0] == 0) & (static[:, 0] == 0)).mean())
    np.testing.assert_allclose(both, 0.0625, atol=0.008)
    assert (dropout.apply(condition, 4, slots, None) != left).any()
    kept = jax.jit(dropout.apply)(condition, 3, slots, slots % 2 == 0)
    assert (kept[::2] == 1).all()
    assert (kept[1::2] == left[1::2]).all()
