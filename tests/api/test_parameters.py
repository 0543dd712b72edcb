"""The estimator's arguments, and the settings that they stand for."""

import inspect

import pytest
from sklearn.base import clone

import pacodi_jax as pj
from pacodi_jax.api import parameters
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.models import FAMILIES
from pacodi_jax.settings import Config, Evaluation
from tests.api.shops import estimator, shops


def test_it_has_the_habits_of_scikit_learn(fitted):
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert "not fitted" in repr(fresh)
    assert "trained on table: 6 steps" in repr(fitted)
    assert repr(pj.PaCoDi()) == "PaCoDi() <not fitted>"
    assert fresh.set_params(length=24).length == 24
    with pytest.raises(pj.PacodiError, match="no argument 'lenght'"):
        fresh.set_params(lenght=3)
    with pytest.raises(pj.PacodiError, match=r"not fitted yet; call fit\(data\)"):
        fresh.sample(3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"train.stesp": 3}}, "no setting 'train.stesp'. Did you mean 'train.steps'"),
        ({"settings": {"train.steps": 0}}, "train.steps=0; accepted: 1, 2, 3"),
        ({"settings": {"train.warmup": float("inf")}}, "train.warmup=inf; accepted: 0, a share"),
        ({"settings": {"train.log_every": float("inf")}}, "train.log_every=inf; accepted: a share"),
        ({"settings": {"train.weight_decay": float("inf")}}, "train.weight_decay=inf; accepted"),
        ({"settings": {"model.name": "timegan"}}, "name the family by model= alone"),
        ({"model": "pacodo"}, "Did you mean 'pacodi'"),
        ({"size": "huge"}, "accepted: base, large, small, tiny"),
        ({"length": 1}, "data.length=1"),
        ({"seed": -1}, "seed=-1"),
        ({"time": "day"}, "'day'"),
        ({"static": "colour"}, "'colour'"),
    ],
)
def test_a_mistake_is_named_before_anything_is_trained(changes, message):
    with pytest.raises(pj.PacodiError) as error:
        estimator(**changes).fit(shops(), progress=False)
    assert message in str(error.value)


def test_an_argument_and_a_setting_that_disagree_are_refused():
    with pytest.raises(PacodiError, match=r"length=12 and settings=\{'data.length': 30\}"):
        _ = pj.PaCoDi(length=12, settings={"data.length": 30}).config
    assert pj.PaCoDi(length=12, settings={"data.length": 12}).config.data.length == 12
    assert pj.PaCoDi(settings={"data.length": 30}).config.data.length == 30


def test_a_default_that_stands_twice_is_the_same():
    """The judge lies below the settings of a run and cannot read them."""
    drawn, full = Evaluation(), Budget()
    told = {n: p.default for n, p in inspect.signature(pj.judge).parameters.items()}
    assert drawn.windows == full.windows == told["windows"]
    assert drawn.seeds == len(full.seeds) == told["seeds"]
    made = {n: p.default for n, p in inspect.signature(pj.PaCoDi).parameters.items()}
    assert (made["length"], made["seed"]) == (pj.PaCoDi().config.data.length, 0)
    assert pj.PaCoDi().config == Config.default(made["model"], made["size"]) == Config.default()


@pytest.mark.parametrize("family", FAMILIES)
def test_arguments_and_settings_are_made_from_each_other(family):
    """A loaded estimator is the one that was fitted, whatever its family."""
    plain = pj.PaCoDi().get_params()
    for changes in ({}, {"length": 12, "settings": {"train.steps": 7}}):
        asked = plain | {"model": family} | changes
        config = parameters.settings(asked, plain, {"data.source": "etth1"})
        again = pj.PaCoDi(**parameters.params(config))
        assert again.config == config
        assert again.length == asked["length"]
