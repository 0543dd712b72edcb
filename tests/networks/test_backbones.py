"""Facts about the two backbones: shapes, symmetries, what depends on what."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.networks import DualBranch, SingleBranch, embedding
from pacodi_jax.networks.blocks import Block
from pacodi_jax.networks.meeting import Stepwise
from pacodi_jax.networks.steps import from_steps, to_steps
from tests.networks.parameters import (
    BATCH,
    CHANNELS,
    DEPTH,
    KEY,
    WIDTH,
    apply,
    awake,
    close,
    dual,
    inputs,
    quick,
)


def test_untrained_network_returns_zero_though_all_branches_differ():
    arguments = inputs(8)
    result, params = quick(dual().init_with_output)(KEY, *arguments)
    close(result, jax.tree.map(jnp.zeros_like, arguments[0]), 0.0)
    kernel = params["params"]["blocks"]["attention"]["qkv"]["kernel"]
    assert np.unique(np.round(kernel.mean(axis=(2, 3)), 9)).size == 2 * DEPTH


@pytest.mark.parametrize("interaction", ["time", "long"])
def test_modulation_is_zero_at_first_so_that_every_block_starts_as_the_identity(interaction):
    params = quick(dual(interaction=interaction).init)(KEY, *inputs(8))["params"]
    silent = [params["blocks"]["attention"]["modulation"], params["project"]["modulation"]]
    assert all(jnp.all(leaf == 0) for leaf in jax.tree.leaves(silent))
    blocks = {name: part for name, part in params["blocks"].items() if name != "attention"}
    found = jax.tree.leaves_with_path(blocks)
    kernels = [leaf for path, leaf in found if path[-1].key == "kernel"]
    assert len(kernels) == 4
    assert all(jnp.std(kernel) > 0.1 for kernel in kernels)


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


@pytest.mark.parametrize("coded", [True, False])
def test_a_code_of_position_alone_tells_tokens_apart(coded, monkeypatch):
    """Without it a network whose branches meet bin by bin only permutes with its tokens."""
    if not coded:
        monkeypatch.setattr(embedding, "position_code", lambda tokens, width: 0.0)
    state, t, live = inputs(9)
    live = jax.tree.map(jnp.ones_like, live)
    network, order = dual(interaction="iso_flops"), jnp.array([3, 0, 4, 1, 2])
    params = {"params": awake(network, state, t, live)}
    run = quick(lambda state: network.apply(params, state, t, live))
    permuted = run(jax.tree.map(lambda x: x[:, order], state))
    expected = jax.tree.map(lambda x: x[:, order], run(state))
    for found, other in zip(permuted, expected, strict=True):
        assert bool(jnp.max(jnp.abs(found - other)) > 1e-2) is coded
        assert bool(jnp.max(jnp.abs(found - other)) > 1e-5) is coded


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


@pytest.mark.parametrize("part", ["real", "imag"])
@pytest.mark.parametrize(
    ("interaction", "couples"),
    [("none", False), ("paper", True), ("iso_flops", True), ("time", True), ("long", True)],
)
def test_a_part_depends_on_the_input_of_the_other_only_by_interaction(interaction, couples, part):
    state, t, live = inputs(5, batch=1)
    network = dual(interaction=interaction)
    params = awake(network, state, t, live)
    other = {"real": "imag", "imag": "real"}[part]

    def part_of(given):
        arguments = state._replace(**{other: given}), t, live
        return getattr(network.apply({"params": params}, *arguments), part)

    jacobian = quick(jax.jacrev(part_of))(getattr(state, other))
    # The imaginary part of bin 0 is no slot, be it an output or an input.
    jacobian = jacobian[:, 1:] if part == "imag" else jacobian[:, :, :, :, 1:]
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


def test_long_attends_to_octaves_and_halves_the_mlp_of_time_steps():
    arguments = inputs(8)
    network = DualBranch(CHANNELS, 96, 5, 4, interaction="long")
    blocks = jax.eval_shape(network.init, KEY, *arguments)["params"]["blocks"]
    assert blocks["stepwise"]["hidden"]["kernel"].shape == (5, 3 * 96, 72)
    assert blocks["mlp"]["hidden"]["kernel"].shape == (5, 2, 192, 64)
    assert blocks["attention"]["query"]["kernel"].shape == (5, 2, 96, 96)
    assert blocks["attention"]["pairs"]["kernel"].shape == (5, 2, 96, 192)


def test_bins_above_the_lowest_have_no_mlp_of_their_own():
    """With attention and time steps at rest a block changes the lowest bins alone."""
    tokens = tuple(jax.random.normal(key, (2, 20, 24)) for key in jax.random.split(KEY))
    block = Block(4, "long", 39, "plain", jnp.float32)
    code = jnp.ones((2, 24))
    params = awake(block, tokens, code)
    resting = [("attention", "out"), ("stepwise", "out")]
    for part, name in resting:
        params[part][name] = jax.tree.map(jnp.zeros_like, params[part][name])
    changed, _ = block.apply({"params": params}, tokens, code)
    for after, before in zip(changed, tokens, strict=True):
        close(after[:, 12:], before[:, 12:], 0.0)
        assert jnp.all(jnp.any(after[:, :12] != before[:, :12], axis=-1))


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


def test_mapping_over_single_windows_equals_the_batch():
    state, t, live = inputs(8)
    params = awake(dual(), state, t, live)
    one = lambda state, t: jax.tree.map(  # noqa: E731
        lambda x: x[0],
        dual().apply({"params": params}, jax.tree.map(lambda x: x[None], state), t[None], live),
    )
    close(quick(jax.vmap(one))(state, t), apply(dual(), params, state, t, live), 2e-6)


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
