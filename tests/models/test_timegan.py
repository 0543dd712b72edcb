"""TimeGAN: its sizes, its cell, its losses, its three stages, and that it learns."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pacodi_jax import models, parallel
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import phased
from pacodi_jax.models.timegan import generator as timegan
from pacodi_jax.models.timegan.losses import Losses
from pacodi_jax.models.timegan.networks import Layer, Recurrent, five
from pacodi_jax.settings import Config
from tests.models import rivals

BATCH = 8
SLOTS = jnp.arange(BATCH)


@pytest.mark.parametrize(
    ("channels", "expected"), [(6, 48_775), (5, 48_606), (7, 48_944), (13, 49_958)]
)
def test_parameters_are_those_of_the_release(channels, expected):
    networks = five(channels, 24, 3)
    widths = {"embedder": channels, "generator": channels}
    sizes = {
        name: sum(
            leaf.size
            for leaf in jax.tree.leaves(
                jax.eval_shape(
                    network.init, jax.random.key(0), np.zeros((1, 2, widths.get(name, 24)), "f")
                )
            )
        )
        for name, network in networks.items()
    }
    assert sum(sizes.values()) == expected
    if channels == 6:
        assert list(sizes.values()) == [9_888, 10_734, 9_888, 7_656, 10_609]


def test_the_reset_gate_stands_before_the_matrix():
    """One layer, step by step, as TensorFlow writes it."""
    rng, size = np.random.default_rng(0), 5
    x = np.float32(rng.normal(size=(4, 3, 2)))
    names = {"gates": (8, 10), "candidate": (8, 5), "gates_bias": (10,), "candidate_bias": (5,)}
    params = {name: np.float32(rng.normal(size=shape)) for name, shape in names.items()}
    found = jax.jit(Layer(size).apply)({"params": params}, x)
    h = np.zeros((2, size))
    for step, state in zip(np.swapaxes(x, 1, 2), found, strict=True):
        joined = np.concatenate([step, h], axis=-1)
        gates = 1 / (1 + np.exp(-(joined @ params["gates"] + params["gates_bias"])))
        reset, keep = np.split(gates, 2, axis=-1)
        inside = np.concatenate([step, reset * h], axis=-1) @ params["candidate"]
        h = keep * h + (1 - keep) * np.tanh(inside + params["candidate_bias"])
        np.testing.assert_allclose(state.T, h, rtol=1e-4, atol=1e-5)


def test_gates_start_at_one_and_outputs_in_the_unit_interval():
    network = Recurrent(2, 4, 2)
    params = jax.jit(network.init)(jax.random.key(0), np.zeros((1, 3, 2), np.float32))
    assert np.all(params["params"]["gru_1"]["gates_bias"] == 1)
    assert np.all(params["params"]["gru_1"]["candidate_bias"] == 0)
    made = jax.jit(network.apply)(params, 100 * np.ones((1, 3, 2), np.float32))
    assert 0 < made.min() < made.max() < 1


def _windows() -> np.ndarray:
    return np.float32(np.cumsum(np.random.default_rng(0).normal(size=(BATCH, 6, 2)), axis=1))


@functools.cache
def _model(backwards: bool = False) -> timegan.TimeGAN:
    settings = timegan.TimeGANSettings(timegan.Networks(hidden=4, layers=2, backwards=backwards))

    def make(**changes):
        return parallel.average_gradients(optax.sgd(lambda count: 1e-2))

    arrays = timegan.prepare(settings, _windows(), None)
    training = models.Training(make, BATCH, 0.0, 0.1, 30)
    return timegan.build(settings, models.Shape(6, 2), arrays, training)


@functools.cache
def _program(model: timegan.TimeGAN, devices: int):
    def spread(state, windows):
        def one(windows, slots):
            state_after, metrics = model.update(state, models.Batch(windows, slots))
            return state_after, parallel.average(metrics)

        parts = windows.reshape(devices, -1, *windows.shape[1:]), SLOTS.reshape(devices, -1)
        return jax.tree.map(lambda x: x[0], jax.vmap(one, axis_name=parallel.AXIS)(*parts))

    return jax.jit(spread)


def _step(state, model=None, devices: int = 1):
    return _program(model or _model(), devices)(state, jnp.asarray(_windows()))


def _start(step: int, model=None):
    """A state at some step of 30, ten per stage."""
    return _first(model or _model())._replace(step=jnp.int32(step))


@functools.cache
def _first(model):
    return jax.jit(model.init)(jax.random.key(0), models.Batch(_windows(), SLOTS))


def _moved(before, after) -> set[str]:
    """The networks of which not every bit is the same."""
    return {
        name
        for name in before.params
        if any(
            np.any(np.asarray(a) != np.asarray(b))
            for a, b in zip(
                jax.tree.leaves(before.params[name]),
                jax.tree.leaves(after.params[name]),
                strict=True,
            )
        )
    }


def _updates(state) -> dict[str, int]:
    """Updates that each optimiser has made."""
    return {
        name: int(optax.tree.get(optimiser, "count"))
        for name, optimiser in state.optimisers.items()
    }


def test_each_stage_moves_its_networks_and_counts_its_updates():
    everything = {"embedder", "recovery", "generator", "supervisor", "discriminator"}
    rest = dict.fromkeys(_updates(_start(0)), 0)
    for step, moved, counts in (
        (0, {"embedder", "recovery"}, {"embedding": 1}),
        (9, {"embedder", "recovery"}, {"embedding": 1}),
        (10, {"supervisor"}, {"supervision": 1}),
        (20, everything, {"generator": 2, "embedder": 2, "discriminator": 1}),
    ):
        before = _start(step)
        after, metrics = _step(before)
        assert _moved(before, after) == moved
        assert _updates(after) == rest | counts
        assert metrics["stage"] == step // 10 + 1
        assert int(after.step) == step + 1


def test_the_critic_rests_while_its_loss_is_at_most_the_threshold():
    """A critic of zeros has the loss 3 ln 2; scaled to the threshold it no longer moves."""
    before = _start(20)
    params = before.params | {
        "discriminator": jax.tree.map(lambda leaf: 0 * leaf, before.params["discriminator"])
    }
    goal = _model().goals["discriminator"]

    def pursued(scale):
        quiet = goal._replace(loss=lambda *inputs: scale * goal.loss(*inputs))
        state = before._replace(params=params)

        def one(_):
            return phased.pursue(
                state,
                "discriminator",
                quiet,
                jnp.asarray(_windows()),
                jnp.zeros((BATCH, 6, 2)),
                above=timegan.THRESHOLD,
            )

        mapped = jax.jit(jax.vmap(one, axis_name=parallel.AXIS))(jnp.zeros(1))
        after, loss = jax.tree.map(lambda leaf: leaf[0], mapped)
        return _moved(state, after), _updates(after)["discriminator"], float(loss)

    loud = pursued(1.0)
    assert loud[2] == pytest.approx(3 * np.log(2), rel=1e-5)  # three logits of zero
    assert loud[:2] == ({"discriminator"}, 1)
    assert pursued(0.15 / loud[2])[:2] == (set(), 0)


def test_losses_are_those_of_the_paper():
    """By hand, from the networks' outputs."""
    model, state = _model(), _start(0)
    here = Losses(model.losses.networks, jnp.mean)
    real, noise = np.asarray(model.scale.to_unit(_windows())), _windows() % 1

    def run(name, x):
        network = jax.jit(model.losses.networks[name].apply)
        return np.asarray(network({"params": state.params[name]}, x))

    hidden, bare = run("embedder", real), run("generator", noise)
    latent = run("supervisor", bare)
    made, rebuilt = run("recovery", latent), run("recovery", hidden)
    ahead = np.mean((hidden[:, 1:] - run("supervisor", hidden)[:, :-1]) ** 2)
    r = np.mean((real - rebuilt) ** 2)

    def cross(logits, label):
        p = 1 / (1 + np.exp(-logits))
        return -np.mean(np.log(p if label else 1 - p))

    def critic(x, label):
        return cross(run("discriminator", x), label)

    def spread(x):
        return np.sqrt(x.var(0) + 1e-6)

    v = np.abs(spread(made) - spread(real)).mean() + np.abs(made.mean(0) - real.mean(0)).mean()
    g = critic(latent, 1) + critic(bare, 1) + 100 * np.sqrt(ahead) + 100 * v
    e = 10 * np.sqrt(r) + 0.1 * ahead
    d = critic(hidden, 1) + critic(latent, 0) + critic(bare, 0)
    expected = {"embedding": 10 * np.sqrt(r), "supervision": ahead, "generator": g}
    expected |= {"embedder": e, "discriminator": d}
    for name, value in expected.items():
        found = jax.jit(getattr(here, name))(state.params, real, noise)
        np.testing.assert_allclose(found, value, rtol=1e-4, err_msg=name)


@pytest.mark.parametrize("step", [0, 10, 20])
def test_a_step_does_not_depend_on_the_devices(step):
    """Roots and moments are of the whole batch; averages of those of each device would differ."""
    before = _start(step)
    (one, first), (two, second) = (_step(before, devices=devices) for devices in (1, 2))
    np.testing.assert_allclose(first["loss"], second["loss"], rtol=1e-4)
    for name in _moved(before, one):
        for a, b in zip(*(jax.tree.leaves(s.params[name]) for s in (one, two)), strict=True):
            np.testing.assert_allclose(a, b, atol=2e-5)


def test_a_step_that_is_not_finite_is_taken_back_whole():
    before = _start(20)
    broken = _windows()
    broken[0, 0, 0] = np.nan
    after, _ = _program(_model(), 1)(before, jnp.asarray(broken))
    assert (int(after.skipped), int(after.consecutive_skips), int(after.step)) == (1, 1, 21)
    assert not _moved(before, after)
    assert set(_updates(after).values()) == {0}


def test_a_stage_never_comes_back():
    """A run that was in stage 3 stays there when it is given more steps."""
    state = _start(25)._replace(phase=jnp.int32(2))
    assert int(phased.phase_at(state, [100, 100, 100])) == 2
    assert int(phased.phase_at(_start(25), [100, 100, 100])) == 0
    assert phased.lengths((0.25, 7), 20) == [5, 7, 8]


def test_noise_is_uniform_and_its_slots_are_its_own():
    model = _model()
    batch = models.Batch(jnp.zeros((400, 6, 2)), jnp.arange(400))
    noise = np.asarray(model._noise(jax.random.key(0), batch, 3))
    assert noise.shape == (3, 400, 6, 2)
    assert noise.min() >= 0
    assert noise.max() < 1
    assert noise.std() == pytest.approx(1 / np.sqrt(12), abs=0.01)
    some = models.Batch(batch.windows[:2], jnp.array([7, 3]))
    np.testing.assert_array_equal(model._noise(jax.random.key(0), some, 3), noise[:, [7, 3]])


def test_a_model_that_runs_backwards_sees_windows_turned_round():
    forwards, backwards = _model(), _model(backwards=True)
    windows = jnp.asarray(_windows())
    np.testing.assert_array_equal(backwards._turned(windows), forwards._turned(windows)[:, ::-1])
    weights, key = _start(0).params, jax.random.key(3)
    drawn = [
        jax.jit(lambda key, m=m: m.draw_one(m.sampling, weights, key, None))(key)
        for m in (forwards, backwards)
    ]
    np.testing.assert_allclose(drawn[1], drawn[0][::-1], rtol=1e-5)


def test_it_cannot_be_conditioned_and_stages_have_lengths():
    with pytest.raises(PacodiError, match="'timegan' cannot be conditioned"):
        Config.default("timegan").changed({"data.static": ("a",)})
    with pytest.raises(PacodiError, match=r"model\.embedding=-0\.1"):
        Config.default("timegan").changed({"model.embedding": -0.1})


def test_it_learns():
    found = rivals.learn(
        "timegan", rivals.waves(), **{"train.steps": 1500, "train.learning_rate": 5e-3}
    )
    assert found.after < 0.5 * found.before
    assert found.distance < 0.9 * found.surrogate
