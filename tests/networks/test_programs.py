"""Facts about the programs: one for all forms, in size, memory and precision."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest

from pacodi_jax.networks import DualBranch, choices
from tests.networks.parameters import (
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


def loss(network, params, arguments):
    return sum(jnp.sum(x**2) for x in network.apply({"params": params}, *arguments))


def test_scan_equals_the_unrolled_network_and_its_gradient():
    arguments = inputs(8)
    params = awake(dual(), *arguments)

    results = [
        quick(jax.value_and_grad(partial(loss, dual(**options))))(params, arguments)
        for options in ({"unroll": 1}, {"unroll": DEPTH}, {"remat": True})
    ]
    scale = jax.tree.map(lambda x: 1 + jnp.max(jnp.abs(x)), results[0])
    relative = [jax.tree.map(jnp.divide, result, scale) for result in results]
    close(relative[1], relative[0])
    close(relative[2], relative[0])


def test_stacked_branches_equal_two_plain_ones_in_value_and_gradient(monkeypatch):
    arguments = inputs(8)
    params = awake(dual(), *arguments)
    results = []
    for stacks in (False, True):
        monkeypatch.setattr(choices, "stacks_branches", lambda stacks=stacks: stacks)
        run = quick(jax.value_and_grad(lambda params: loss(dual(), params, arguments)))
        results.append(run(params))
    scale = jax.tree.map(lambda x: 1 + jnp.max(jnp.abs(x)), results[0])
    close(*(jax.tree.map(jnp.divide, result, scale) for result in results), 1e-5)


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


def test_program_of_the_gradient_does_not_grow_with_the_depth():
    arguments = inputs(8)

    def size(depth):
        network = DualBranch(CHANNELS, WIDTH, depth, heads=2)
        params = jax.eval_shape(network.init, KEY, *arguments)["params"]
        program = jax.jit(jax.grad(lambda params: loss(network, params, arguments)))
        return len(program.lower(params).as_text().splitlines())

    assert size(8) == size(12)


def test_remat_needs_less_memory():
    arguments = inputs(24, batch=32)

    def held(remat):
        network = DualBranch(CHANNELS, 32, 4, heads=2, interaction="iso_flops", remat=remat)
        params = jax.eval_shape(network.init, KEY, *arguments)["params"]
        program = quick(jax.grad(lambda params: loss(network, params, arguments)))
        return program.lower(params).compile().memory_analysis().temp_size_in_bytes

    assert 0 < held(remat=True) < 0.6 * held(remat=False)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_parameters_and_outputs_are_float32_whatever_the_products_are(dtype):
    arguments = inputs(8)
    network = dual(dtype=dtype)
    params = awake(network, *arguments)
    result = apply(network, params, *arguments)
    assert {x.dtype for x in jax.tree.leaves((params, result))} == {jnp.dtype("float32")}
    text = str(jax.make_jaxpr(network.apply)({"params": params}, *arguments))
    assert ("bf16" in text) is (dtype == "bfloat16")


@pytest.mark.parametrize("attention", ["plain", "chunked"])
@pytest.mark.parametrize("trains", [False, True])
def test_softmax_and_norms_stay_float32_while_products_do_not(attention, trains):
    arguments = inputs(8)
    network = dual(dtype="bfloat16", attention=attention)
    params = jax.eval_shape(network.init, KEY, *arguments)["params"]
    value = lambda params: loss(network, params, arguments)  # noqa: E731
    text = str(jax.make_jaxpr(jax.grad(value) if trains else value)(params))
    assert "bf16" in text
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
