"""A trained model's samples keep the bounds of the table that it learnt from."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from pacodi_jax.run import export
from pacodi_jax.settings import Config
from pacodi_jax.train.from_config import train
from tests.compiling import compiling_quickly
from tests.text.runs import tiny


@pytest.fixture(scope="module")
def sales():
    """Daily sales of a shop, whole and often 0, and the share of a product among them."""
    rng = np.random.default_rng(0)
    days = np.arange(900)
    sold = rng.poisson(np.maximum(3 + 3 * np.sin(days * 2 * np.pi / 7), 0.2))
    share = rng.beta(0.7, 0.7, 900).round(3)
    return pd.DataFrame({"sold": sold, "share": share, "trend": rng.normal(size=900)})


def _drawn(frame, bounds):
    config = Config.default("pacodi", "tiny").changed(
        {"data.source": "table", "data.bounds": bounds}
    )
    with compiling_quickly():
        model = train(tiny(config, 60), table=frame).model
        return model, model.draw(1000, seed=1, batch=500).values


def test_sales_that_touch_0_are_never_negative_and_shares_stay_shares(sales):
    model, drawn = _drawn(sales, "auto")
    sold, share, trend = drawn.reshape(-1, 3).T
    assert sold.min() == 0
    assert (sold == np.rint(sold)).all()
    assert share.min() >= 0
    assert share.max() <= 1
    assert trend.min() < 0  # what train does not bound is not bounded
    scaled = np.random.default_rng(0).normal(0, 2, (7, 8, 3)).astype(np.float32)
    shown = export.unscale(model.recipe.scaler, jnp.asarray(scaled))
    np.testing.assert_allclose(shown, model.recipe.scaler.unscale(scaled), atol=1e-5)
    free, loose = _drawn(sales, "none")
    assert (loose[..., 0] < 0).mean() > 0.01
    assert ((loose[..., 1] < 0) | (loose[..., 1] > 1)).mean() > 0.01
    assert not free.recipe.scaler.links()
