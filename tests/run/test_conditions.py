"""What is left open is drawn from train's law, written in its columns, and scored as drawn."""

import numpy as np
import pandas as pd
import pytest

from pacodi_jax.run.score import score
from pacodi_jax.run.trained import sample_key
from pacodi_jax.settings import Config, Evaluation
from pacodi_jax.train.from_config import train
from tests.compiling import compiling_quickly
from tests.text.runs import LENGTH, tiny

SIZES = ["small"] * 18 + ["medium"] * 9 + ["large"] * 3
LEVELS = {"small": 10.0, "medium": 60.0, "large": 200.0}
MANY = 600


@pytest.fixture(scope="module")
def shops():
    """A briefly trained model of 30 shops whose sales depend on their size, and its data."""
    rng = np.random.default_rng(0)
    shop = np.repeat(np.arange(30), 3 * LENGTH)
    size = np.array(SIZES)[shop]
    sales = np.array([LEVELS[s] for s in size]) * rng.gamma(50.0, 0.02, len(shop))
    region = np.where(shop % 2, "north", "south")
    frame = pd.DataFrame({"shop": shop, "size": size, "region": region, "sales": sales})
    columns = {"data.id": "shop", "data.static": ("size", "region"), "data.channels": ("sales",)}
    config = Config.default("pacodi", "tiny").changed(
        {"data.source": "table", "data.fractions": (1.0, 0.0, 0.0), **columns}
    )
    with compiling_quickly():
        outcome = train(tiny(config.changed({"train.learning_rate": 1e-2}), 300), table=frame)
        yield outcome.model, outcome.dataset


def test_unasked_samples_have_the_law_of_the_model_under_trains_conditions(shops):
    model, dataset = shops
    drawn = model.draw(MANY, seed=1)
    rows = np.random.default_rng(0).integers(0, len(dataset.train), MANY)
    given = model.draw_scaled(sample_key(2), MANY, dataset.train.condition()[rows])
    means, expected = (
        values.mean(axis=(1, 2)) for values in (drawn.values, model.recipe.deliver(given))
    )
    error = np.hypot(means.std(), expected.std()) / np.sqrt(MANY)
    assert abs(means.mean() - expected.mean()) < 4 * error
    assert means.std() == pytest.approx(expected.std(), rel=0.25)
    null = model.recipe.deliver(model.draw_scaled(sample_key(1), MANY)).mean(axis=(1, 2))
    assert np.abs(null - means).mean() > error  # the null condition is another draw
    shares = drawn.columns["size"].value_counts(normalize=True)
    assert shares["small"] == pytest.approx(0.6, abs=0.08)
    assert shares["large"] == pytest.approx(0.1, abs=0.05)


def test_windows_have_what_stands_in_their_columns(shops):
    model, _ = shops
    drawn = model.draw(40, seed=3)
    scaled = model.draw_scaled(sample_key(3), 40, model.recipe.encode_static(drawn.columns))
    np.testing.assert_array_equal(drawn.values, model.recipe.deliver(scaled))
    table = model.recipe.to_table(drawn.values, static=drawn.columns)
    assert table["size"].tolist() == drawn.columns["size"].repeat(LENGTH).tolist()


def test_columns_that_are_left_out_are_completed(shops):
    model, _ = shops
    drawn = model.draw(64, seed=0, static={"size": "large"})
    assert set(drawn.columns["size"]) == {"large"}
    assert set(drawn.columns["region"]) == {"north", "south"}
    assert drawn.facts["static"] == {"size": "large"}


def test_window_i_depends_on_the_seed_and_i_alone(shops):
    model, _ = shops
    few, many = model.draw(5, seed=4), model.draw(21, seed=4, batch=7)
    pd.testing.assert_frame_equal(few.columns, many.columns[:5])
    np.testing.assert_allclose(few.values, many.values[:5], rtol=1e-4)
    assert not np.allclose(few.values, model.draw(5, seed=5).values)


def test_what_is_scored_is_what_is_drawn(shops, budget):
    model, dataset = shops
    wanted = Evaluation(windows=100, seeds=1)
    verdict = score(model, dataset, wanted, seed=6, budget=budget)
    np.testing.assert_array_equal(verdict.synthetic, model.draw(100, seed=6).values)
