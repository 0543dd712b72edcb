"""Facts about the two backbones: shapes, symmetries, what depends on what."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.networks import DualBranch, SingleBranch, choices
from pacodi_jax.networks.blocks import Stepwise
from pacodi_jax.networks.steps import from_steps, to_steps
from pacodi_jax.types import Quadratures
from tests.networks.parameters import apply, awake, quick

BATCH, CHANNELS, WIDTH, DEPTH = 3, 2, 16, 2
KEY = jax.random.key(0)


def dual(**options) -> DualBranch:
    return DualBranch(CHANNELS, WIDTH, DEPTH, heads=2, **options)


def inputs(length: int, batch: int = BATCH):
    """A state, times from 0 to 1, and the mask of a window of this length."""
    bins = length // 2 + 1
    real, imag = jax.random.normal(KEY, (2, batch, bins, CHANNELS))
    alone = np.zeros(bins, bool)
    alone[0] = True
    alone[-1] |= length % 2 == 0
    live = Quadratures(jnp.ones((bins, 1)), jnp.asarray(~alone, jnp.float32)[:, None])
    return Quadratures(real, imag), jnp.linspace(0.0, 1.0, batch), live


def close(first, second, tolerance=1e-6):
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=tolerance, rtol=0), first, second
    )


def test_untrained_network_returns_zero_though_all_branches_differ():
    arguments = inputs(8)
    result, params = quick(dual().init_with_output)(KEY, *arguments)
    close(result, jax.tree.map(jnp.zeros_like, arguments[0]), 0.0)
    kernel = params["params"]["blocks"]["attention"]["qkv"]["kernel"]
    assert np.unique(np.round(kernel.mean(axis=(2, 3)), 9)).size == 2 * DEPTH


@pytest.mark.parametrize("length", [1, 2, 7, 8])
def test_any_length_keeps_its_shape_and_dead_slots_stay_zero(length):
    state, t, live = inputs(length)
    result = apply(dual(), awake(dual(), state, t, live), state, t, live)
    assert result.real.shape == result.imag.shape == state.real.shape
    assert jnp.all(jnp.where(live.imag > 0, 0.0, result.imag) == 0)
    assert jnp.all(result.real != 0)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_patches_that_do_not_divide_the_bins_keep_every_bin(size):
    arguments = inputs(9)
    network = dual(patch_size=size)
    result = apply(network, awake(network, *arguments), *arguments)
    assert result.real.shape == (BATCH, 5, CHANNELS)
    assert jnp.all(result.real != 0)


def test_permuting_the_batch_permutes_the_output():
    state, t, live = inputs(8)
    order = jnp.array([2, 0, 1])
    params = awake(dual(), state, t, live)
    result = apply(dual(), params, state, t, live)
    shuffled = jax.tree.map(lambda x: x[order], state)
    expected = jax.tree.map(lambda x: x[order], result)
    close(apply(dual(), params, shuffled, t[order], live), expected)


@pytest.mark.parametrize("junk", [3.0, jnp.nan])
def test_slot_without_noise_has_no_effect_on_any_output(junk):
    state, t, live = inputs(8)
    params = awake(dual(), state, t, live)
    spoilt = state._replace(imag=state.imag.at[:, 0].set(junk).at[:, -1].set(junk))
    close(apply(dual(), params, spoilt, t, live), apply(dual(), params, state, t, live), 0.0)


def test_a_mask_by_channel_may_leave_the_imaginary_level_slot_alive():
    state, t, live = inputs(8)
    live = live._replace(imag=jnp.broadcast_to(live.imag, (5, CHANNELS)).at[0, 1].set(1.0))
    params = awake(dual(), state, t, live)
    other = apply(dual(), params, state._replace(imag=state.imag.at[:, 0, 1].add(1.0)), t, live)
    result = apply(dual(), params, state, t, live)
    assert jnp.all(result.imag[:, 0, 0] == 0)
    assert jnp.all(result.imag[:, 0, 1] != 0)
    assert jnp.max(jnp.abs(other.real - result.real)) > 1e-3


@pytest.mark.parametrize(
    ("interaction", "couples"), [("none", False), ("iso_flops", True), ("time", True)]
)
def test_real_output_depends_on_the_imaginary_input_only_by_interaction(interaction, couples):
    state, t, live = inputs(5, batch=1)
    network = dual(interaction=interaction)
    params = awake(network, state, t, live)

    def real_of(imag):
        return network.apply({"params": params}, state._replace(imag=imag), t, live).real

    jacobian = quick(jax.jacrev(real_of))(state.imag)[:, :, :, :, 1:]
    assert bool(jnp.any(jacobian != 0)) is couples
    assert bool(jnp.all(jacobian != 0)) is couples


@pytest.mark.parametrize(
    ("interaction", "inputs_of_mlp", "hidden"),
    [("none", 96, 192), ("paper", 192, 192), ("iso_flops", 192, 128)],
)
def test_interaction_sets_the_shape_and_count_of_parameters(interaction, inputs_of_mlp, hidden):
    arguments = inputs(8)
    network = DualBranch(CHANNELS, 96, 5, 4, interaction=interaction)
    params = jax.eval_shape(network.init, KEY, *arguments)["params"]
    mlp = params["blocks"]["mlp"]
    assert mlp["hidden"]["kernel"].shape == (5, 2, inputs_of_mlp, hidden)
    assert mlp["out"]["kernel"].shape == (5, 2, hidden, 96)
    assert {x.shape[:2] for x in jax.tree.leaves(params["blocks"])} == {(5, 2)}
    attention = 96 * (6 + 3 + 1) * (96 + 1)
    of_mlp = hidden * (inputs_of_mlp + 1) + 96 * (hidden + 1)
    assert sum(x.size for x in jax.tree.leaves(params["blocks"])) == 10 * (attention + of_mlp)


def test_meeting_in_time_has_one_mlp_of_time_steps_beside_those_of_the_branches():
    arguments = inputs(8)
    network = DualBranch(CHANNELS, 96, 5, 4, interaction="time")
    blocks = jax.eval_shape(network.init, KEY, *arguments)["params"]["blocks"]
    assert blocks["mlp"]["hidden"]["kernel"].shape == (5, 2, 192, 64)
    assert blocks["stepwise"]["hidden"]["kernel"].shape == (5, 3 * 96, 144)
    assert blocks["stepwise"]["out"]["kernel"].shape == (5, 144, 96)
    attention = 2 * 96 * (6 + 3 + 1) * (96 + 1)
    of_mlps = 2 * (64 * (192 + 1) + 96 * (64 + 1)) + 144 * (3 * 96 + 1) + 96 * (144 + 1)
    assert sum(x.size for x in jax.tree.leaves(blocks)) == 5 * (attention + of_mlps)


@pytest.mark.parametrize("length", [8, 9])
def test_an_mlp_of_time_steps_moves_with_the_window(length):
    """Shifted by one step, the tokens turn in phase, and so does what the MLP makes of them."""
    module = Stepwise(8, length, jnp.float32)
    steps = jax.random.normal(KEY, (1, length, 6))
    turned = [from_steps(jnp.roll(steps, shift, axis=1), 5) for shift in (0, 1)]
    params = module.init(KEY, turned[0])
    still, moved = (to_steps(*module.apply(params, branches), length) for branches in turned)
    close(moved, jnp.roll(still, 1, axis=1), 1e-5)
    assert jnp.max(jnp.abs(moved - still)) > 1e-2


def test_the_length_of_the_windows_must_fit_their_bins():
    with pytest.raises(PacodiError, match="length=9 has 5 bins; the state has 7"):
        jax.eval_shape(dual(length=9).init, KEY, *inputs(12))


def test_scan_equals_the_unrolled_network_and_its_gradient():
    arguments = inputs(8)
    params = awake(dual(), *arguments)

    def loss(network, params):
        return sum(jnp.sum(x**2) for x in network.apply({"params": params}, *arguments))

    results = [
        quick(jax.value_and_grad(partial(loss, dual(**options))))(params)
        for options in ({"unroll": 1}, {"unroll": DEPTH}, {"remat": True})
    ]
    scale = jax.tree.map(lambda x: 1 + jnp.max(jnp.abs(x)), results[0])
    relative = [jax.tree.map(jnp.divide, result, scale) for result in results]
    close(relative[1], relative[0])
    close(relative[2], relative[0])


def test_stacked_branches_equal_two_plain_ones(monkeypatch):
    arguments = inputs(8)
    params = awake(dual(), *arguments)
    plain = apply(dual(), params, *arguments)
    monkeypatch.setattr(choices, "stacks_branches", lambda: True)
    close(quick(dual().apply)({"params": params}, *arguments), plain, 1e-5)


def test_gradient_is_finite_at_both_ends_of_time():
    state, t, live = inputs(8)

    @quick
    @jax.grad
    def gradient(arguments):
        params, t, state = arguments
        return sum(jnp.sum(x**2) for x in dual().apply({"params": params}, state, t, live))

    for time in (0.0, 1.0):
        found = gradient((awake(dual(), state, t, live), jnp.full_like(t, time), state))
        assert all(bool(jnp.all(jnp.isfinite(x))) for x in jax.tree.leaves(found))
        assert jnp.all(found[1] != 0)


def test_one_program_serves_all_inputs_of_a_shape():
    state, t, live = inputs(8)
    params = {"params": awake(dual(), state, t, live)}
    traced = []

    @quick
    def run(params, state, t, live):
        traced.append(1)
        return dual().apply(params, state, t, live)

    for scale in (1.0, 2.0):
        run(params, jax.tree.map(lambda x, s=scale: s * x, state), t / scale, live)
    assert len(traced) == 1


def test_mapping_over_single_windows_equals_the_batch():
    state, t, live = inputs(8)
    params = awake(dual(), state, t, live)
    one = lambda state, t: jax.tree.map(  # noqa: E731
        lambda x: x[0],
        dual().apply({"params": params}, jax.tree.map(lambda x: x[None], state), t[None], live),
    )
    close(quick(jax.vmap(one))(state, t), apply(dual(), params, state, t, live), 2e-6)


@pytest.mark.parametrize("part", ["real", "imag"])
def test_shapes_that_do_not_fit_are_refused_by_name(part):
    state, t, live = inputs(8)
    short = live._replace(**{part: jnp.ones((4, 1))})
    with pytest.raises(PacodiError, match=r"live has shape \(4, 1\); .* 5 slots: \(5, 1\)"):
        jax.eval_shape(dual().init, KEY, state, t, short)
    with pytest.raises(PacodiError, match=r"\(3, 4, 2\)"):
        jax.eval_shape(dual().init, KEY, state._replace(**{part: jnp.ones((3, 4, 2))}), t, live)


def test_program_does_not_grow_with_the_depth():
    state, t, live = inputs(8)

    def size(depth):
        network = DualBranch(CHANNELS, WIDTH, depth, heads=2)
        params = jax.eval_shape(network.init, KEY, state, t, live)
        return len(str(jax.make_jaxpr(network.apply)(params, state, t, live)).splitlines())

    assert size(2) == size(12)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_parameters_and_outputs_are_float32_whatever_the_products_are(dtype):
    arguments = inputs(8)
    network = dual(dtype=dtype)
    params = awake(network, *arguments)
    result = apply(network, params, *arguments)
    assert {x.dtype for x in jax.tree.leaves((params, result))} == {jnp.dtype("float32")}
    text = str(jax.make_jaxpr(network.apply)({"params": params}, *arguments))
    assert ("bf16" in text) is (dtype == "bfloat16")
    for word in (" exp ", " rsqrt "):  # of the softmax and of the norms
        lines = [line for line in text.splitlines() if word in line]
        assert lines
        assert not any("bf16" in line for line in lines)


def test_bfloat16_stays_near_float32():
    arguments = inputs(8)
    params = awake(dual(), *arguments)
    exact = apply(dual(), params, *arguments).real
    rough = apply(dual(dtype="bfloat16"), params, *arguments).real
    assert 0 < jnp.max(jnp.abs(rough - exact)) < 0.05 * jnp.max(jnp.abs(exact))


def test_single_branch_serves_time_steps_and_whole_bins():
    steps = jax.random.normal(KEY, (BATCH, 9, CHANNELS))
    t = jnp.linspace(0.0, 1.0, BATCH)
    network = SingleBranch(CHANNELS, WIDTH, DEPTH, heads=2, patch_size=2)
    params = awake(network, steps, t)
    assert apply(network, params, steps, t).shape == steps.shape
    state, t, live = inputs(8)
    bins, mask = (
        jnp.concatenate(state, -1),
        jnp.concatenate([jnp.ones((5, 2)), live.imag * jnp.ones(2)], -1),
    )
    network = SingleBranch(2 * CHANNELS, WIDTH, DEPTH, heads=2)
    result = apply(network, awake(network, bins, t), bins, t, mask)
    assert jnp.array_equal(result == 0, jnp.broadcast_to(mask == 0, result.shape))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"interaction": "iso_flop"}, "Did you mean 'iso_flops'"),
        ({"dtype": "float16"}, "dtype='float16' is unknown"),
        ({"heads": 3}, "heads=3 must divide width=16"),
        ({"depth": 0}, "depth=0 must be at least 1"),
        ({"channels": 5}, r"\(batch, slots, 5\)"),
        ({"attention": "flash"}, "attention='flash' is unknown; accepted: chunked, cudnn, plain"),
        ({"patch_size": 0}, "patch_size=0 must be at least 1"),
        ({"unroll": -1}, "unroll=-1 must be at least 0"),
    ],
)
def test_what_cannot_work_is_refused_by_name(options, words):
    settings = {"channels": CHANNELS, "width": WIDTH, "depth": DEPTH, "heads": 2} | options
    with pytest.raises(PacodiError, match=words):
        jax.eval_shape(DualBranch(**settings).init, KEY, *inputs(8))
