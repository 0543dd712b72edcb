"""The contract of a family: what the engine does with each, and with one of another kind."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from pacodi_jax import models, parallel
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.models import registry
from pacodi_jax.run import export, folder, parts, score, sealed
from pacodi_jax.settings import Config, Evaluation
from pacodi_jax.train import optimiser
from pacodi_jax.train.from_config import train
from pacodi_jax.train.signals import Signals
from tests.models import adversarial

NAMES = [*registry.FAMILIES, adversarial.FAMILY.name]
#: What the data must be for a family that does not read all.
OWN = {"t2s": {"data.channels": ("c0",)}}
QUICK = Budget(encoder_steps=4, discriminative_steps=4, predictive_steps=4, strong_steps=4)


@pytest.fixture(autouse=True)
def with_the_game(monkeypatch):
    """The adversarial family stands in the registry while these tests run."""
    monkeypatch.setitem(registry.FAMILIES, adversarial.FAMILY.name, adversarial.FAMILY)


def _config(name: str, **changes) -> Config:
    plain = {
        "data.length": 8,
        "train.steps": 6,
        "train.batch": 16,
        "train.checkpoint_every": 3,
        "sample.batch": 4,
    }
    return Config.default(name, "tiny").changed(plain | OWN.get(name, {}) | changes)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = np.cumsum(rng.normal(size=(400, 2)), axis=0) + 50
    return pd.DataFrame(values, columns=["c0", "c1"])


def _leaves(tree) -> dict[str, np.ndarray]:
    return {jax.tree_util.keystr(p): np.asarray(x) for p, x in jax.tree.leaves_with_path(tree)}


def _same(first, second) -> None:
    first, second = _leaves(first), _leaves(second)
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


class _Kill(Signals):
    """Asks for the end after the first checkpoint, as a scheduler would."""

    asked = 0

    @property
    def received(self):
        self.asked += 1
        return "SIGTERM" if self.asked > 1 else None

    @received.setter
    def received(self, value):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.fixture(scope="module", params=NAMES)
def done(request, table, tmp_path_factory):
    """A run of each family that was never stopped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.FAMILIES, adversarial.FAMILY.name, adversarial.FAMILY)
        workdir = tmp_path_factory.mktemp(request.param)
        outcome = train(_config(request.param), workdir, table=table)
        yield request.param, outcome, workdir


def test_a_killed_run_resumes_bit_for_bit(done, table, tmp_path):
    name, whole, _ = done
    first = train(_config(name), tmp_path, table=table, signals=_Kill())
    assert first.run.signal is not None
    assert first.run.step < 6
    assert first.model is None
    second = train(_config(name), tmp_path, table=table)
    assert second.run.first == first.run.step
    _same(second.run.state, whole.run.state)
    _same(second.model.weights, whole.model.weights)


def test_training_in_memory_is_training_in_a_folder(done, table):
    name, whole, _ = done
    _same(train(_config(name), table=table).model.weights, whole.model.weights)


def test_a_model_is_saved_and_loaded_without_its_code(done, tmp_path):
    _, outcome, workdir = done
    model = outcome.model
    again = sealed.read(sealed.write(model, tmp_path / "any.pacodi"))
    _same((again.weights, again.arrays), (model.weights, model.arrays))
    assert again.config == model.config == folder.load(workdir).config
    assert again.facts == model.facts
    np.testing.assert_array_equal(again.draw(3).values, model.draw(3).values)


def test_window_i_depends_on_seed_and_i_alone(done):
    model = done[1].model
    few, many = model.draw(3, seed=5), model.draw(7, seed=5)
    np.testing.assert_array_equal(few.values, model.draw(3, seed=5).values)
    np.testing.assert_allclose(few.values, many.values[:3], rtol=1e-5)
    np.testing.assert_allclose(model.draw(7, seed=5, batch=7).values, many.values, rtol=1e-5)
    assert np.abs(model.draw(3, seed=6).values - few.values).max() > 1e-3


def test_a_condition_that_is_not_one_row_per_window_is_refused(done):
    model = done[1].model
    with pytest.raises(PacodiError, match=r"condition has shape \(2, 1\) of float32"):
        model.generator.sample(jax.random.key(0), model.weights, 3, np.ones((2, 1), np.float32))


def _step(generator, state, windows, devices: int):
    """The loss and the optimisers after one step of the same windows, spread over devices."""
    slots = np.arange(len(windows)).reshape(devices, -1)

    def one(windows, slots):
        after, metrics = generator.update(state, models.Batch(windows, slots))
        return after, parallel.average(metrics)["loss"]

    parts_ = windows.reshape(devices, -1, *windows.shape[1:])
    after, loss = jax.jit(jax.vmap(one, axis_name=parallel.AXIS))(parts_, slots)
    moved = [leaf[0] for leaf in jax.tree.leaves(after) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return loss[0], moved


def test_a_training_step_does_not_depend_on_the_number_of_devices(done):
    """The moments of the gradients too: they tell a wrong average that Adam's step would hide."""
    name, outcome, _ = done
    config, windows = _config(name), outcome.dataset.train.values()[:16]
    model = outcome.model
    generator = parts.build_generator(config, model.shape, model.arrays, optimiser.build)
    start = outcome.run.state
    (loss, one), (again, two) = (_step(generator, start, windows, n) for n in (1, 2))
    np.testing.assert_allclose(again, loss, rtol=2e-4)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-3 * np.abs(a).max() + 1e-7)


def test_a_model_is_exported_and_draws_the_same(done, tmp_path):
    model = done[1].model
    path = export.export(model, tmp_path / "sampler.stablehlo", 3)
    np.testing.assert_allclose(export.load(path)(5), model.draw(3, seed=5).values, rtol=1e-4)


def test_a_model_is_judged(done):
    _, outcome, _ = done
    wanted = Evaluation(windows=40, seeds=1)
    verdict = score.score(outcome.model, outcome.dataset, wanted, seed=0, budget=QUICK)
    assert "discriminative_v1" in {found.name for found in verdict.panel.scores}
    json.loads(verdict.to_json())


def test_facts_are_those_that_reports_need(done):
    name, outcome, _ = done
    about = outcome.model.generator.facts()
    assert isinstance(about, models.Facts)
    assert about.evaluations >= 1
    assert outcome.model.facts["model"] == name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("setting", "value"), [("model.nam", 1), ("sample.batch", 0), ("sample.stpes", 5)]
)
def test_bad_settings_are_refused_by_name(name, setting, value):
    with pytest.raises(PacodiError, match=setting.replace(".", r"\.")):
        _config(name, **{setting: value})


def test_a_family_that_cannot_be_conditioned_or_calibrated_says_so():
    with pytest.raises(PacodiError, match="'game' cannot be conditioned"):
        _config("game", **{"data.static": ("a",)})
    with pytest.raises(PacodiError, match=r"train\.calibration=100 is not for model\.name='game'"):
        _config("game", **{"train.calibration": 100})


def test_three_phases_move_one_network_each(table):
    """Two steps of autoencoding, two of the critic, two of the game."""
    config = _config("game", **{"train.decay": "constant", "train.warmup": 0})
    states = [train(config.changed({"train.steps": n}), table=table).run.state for n in (2, 4, 6)]
    assert np.abs(states[0].critic["judge"] - states[1].critic["judge"]).max() > 0
    _same(states[0].makers, states[1].makers)
    _same(states[1].critic, states[2].critic)
    assert np.abs(states[1].makers["make"] - states[2].makers["make"]).max() > 0
