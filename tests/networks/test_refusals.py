"""What a network refuses, and how it says so."""

import jax
import jax.numpy as jnp
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.networks import DualBranch, SingleBranch
from pacodi_jax.types import Quadratures
from tests.networks.parameters import BATCH, CHANNELS, DEPTH, KEY, WIDTH, dual, inputs


@pytest.mark.parametrize("part", ["real", "imag"])
def test_shapes_that_do_not_fit_are_refused_by_name(part):
    state, t, live = inputs(8)
    short = live._replace(**{part: jnp.ones((4, 1))})
    with pytest.raises(PacodiError, match=r"live has shape \(4, 1\); .* 5 slots: \(5, 1\)"):
        jax.eval_shape(dual().init, KEY, state, t, short)
    with pytest.raises(PacodiError, match=r"\(3, 4, 2\)"):
        jax.eval_shape(dual().init, KEY, state._replace(**{part: jnp.ones((3, 4, 2))}), t, live)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"interaction": "iso_flop"}, "Did you mean 'iso_flops'"),
        ({"dtype": "float16"}, "dtype='float16' is unknown"),
        ({"heads": 3}, "heads=3 must divide width=16"),
        ({"depth": 0}, "depth=0 must be a whole number and at least 1"),
        ({"channels": 5}, r"\(batch, slots, 5\)"),
        ({"attention": "flash"}, "attention='flash' is unknown; accepted: chunked, cudnn, plain"),
        ({"patch_size": 0}, "patch_size=0 must be a whole number and at least 1"),
        ({"patch_size": 1.5}, "patch_size=1.5 must be a whole number and at least 1"),
        ({"width": 16.0}, "width=16.0 must be a whole number"),
        ({"depth": 2.0}, "depth=2.0 must be a whole number"),
        ({"heads": "2"}, "heads='2' must be a whole number"),
        ({"channels": 0}, "channels=0 must be a whole number and at least 1"),
        ({"condition_width": -1}, "condition_width=-1 must be a whole number and at least 0"),
        ({"attention": "cudnn"}, "attention='cudnn' needs an NVIDIA GPU.* take 'auto'"),
        ({"dtype": jnp.bfloat16}, "is not a name; write dtype='float32' or dtype='bfloat16'"),
        ({"unroll": -1}, "unroll=-1 must be a whole number and at least 0"),
    ],
)
def test_what_cannot_work_is_refused_by_name(options, words):
    settings = {"channels": CHANNELS, "width": WIDTH, "depth": DEPTH, "heads": 2} | options
    with pytest.raises(PacodiError, match=words):
        jax.eval_shape(DualBranch(**settings).init, KEY, *inputs(8))


STATE, T, LIVE = inputs(8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((STATE, T, None), r"live is of type NoneType; pass .* spectrum.noise_variance\(L\)"),
        ((STATE, T, [[1.0]] * 5), r"live is of type list; pass Quadratures\(real, imag\)"),
        ((STATE, T, Quadratures([[1.0]] * 5, [[1.0]] * 5)), "live is of type list; pass an array"),
        ((STATE.real, T, LIVE), r"state is of type .*; pass .* spectrum.to_spectrum"),
        ((inputs(8, batch=0)[0], T[:0], LIVE), r"neither of them 0.* got \(0, 5, 2\), \(0, 5, 2\)"),
        ((Quadratures(STATE.real + 0j, STATE.imag), T, LIVE), "complex64; .* real numbers"),
        ((STATE, 0.5, LIVE), "t is of type float; pass an array"),
        ((STATE, T, LIVE, [[1.0, 2.0]] * BATCH), "condition is of type list; pass an array"),
        ((STATE, T, LIVE, None, jnp.ones(BATCH)), "drop has dtype float32; pass one bool"),
    ],
)
def test_inputs_that_cannot_work_are_refused_by_name(arguments, words):
    with pytest.raises(PacodiError, match=words):
        dual(condition_width=2).init(KEY, *arguments)


@pytest.mark.parametrize("shape", [(5,), (5, CHANNELS), (0, 5, CHANNELS), (BATCH, 0, CHANNELS)])
def test_a_single_branch_refuses_tokens_of_another_shape(shape):
    network = SingleBranch(CHANNELS, WIDTH, DEPTH, heads=2)
    with pytest.raises(PacodiError, match=r"takes \(batch, slots, 2\), neither of them 0"):
        network.init(KEY, jnp.ones(shape), T)


def test_the_length_of_the_windows_must_fit_their_bins():
    with pytest.raises(PacodiError, match="length=9 has 5 bins; the state has 7"):
        jax.eval_shape(dual(length=9).init, KEY, *inputs(12))
