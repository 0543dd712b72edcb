"""The attack with the model at hand: chance without a network, and drift taken out."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from pacodi_jax.models.window_loss import window_losses
from pacodi_jax.run.membership import loss_attack
from pacodi_jax.settings import Config
from pacodi_jax.train.from_config import train
from tests.compiling import compiling_quickly
from tests.run import copycat
from tests.text.runs import tiny


@pytest.fixture(scope="module")
def fresh():
    """A model whose weights are set to zero, and its data."""
    values = np.random.default_rng(0).standard_normal((900, 2))
    config = Config.default("pacodi", "tiny").changed({"data.source": "table"})
    with compiling_quickly():
        outcome = train(tiny(config, 10), table=values)
    zero = jax.tree.map(np.zeros_like, outcome.model.weights)
    return replace(outcome.model, weights=zero), outcome.dataset


def test_a_network_without_weights_is_the_linear_denoiser_and_gives_nothing_away(fresh):
    model, dataset = fresh
    own, linear = window_losses(
        model.generator, model.weights, dataset.train.take(range(7)), seed=0
    )
    assert own.shape == (7,)
    np.testing.assert_allclose(own, linear, rtol=1e-5)
    # In Wiener coordinates a zero network scores 1 per slot on train.
    many = window_losses(model.generator, model.weights, dataset.train.values(), seed=0)[1]
    assert many.mean() == pytest.approx(1.0, abs=0.1)
    attack = loss_attack(model, dataset, seed=0)
    assert attack.kind == "loss"
    assert not attack.succeeds


def test_a_family_without_such_a_loss_is_not_attacked_by_it(tmp_path):
    found = copycat.load(tmp_path)
    assert loss_attack(copycat.trained(found), found, seed=0) is None
