"""All forms of attention are one function."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.networks import attention, choices
from tests.networks.parameters import quick


def arrays(tokens, dim=4):
    return jax.random.normal(jax.random.key(0), (3, 2, 2, tokens, dim))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(attention, "CHUNK", 4)


@pytest.mark.parametrize("tokens", [1, 3, 4, 9])
def test_chunked_attention_equals_plain_with_its_gradient(tokens):
    def value(form, inputs):
        return jnp.sum(jnp.sin(attention.attend(*inputs, form=form)))

    inputs = arrays(tokens)
    plain = quick(jax.value_and_grad(lambda x: value("plain", x)))(inputs)
    chunked = quick(jax.value_and_grad(lambda x: value("chunked", x)))(inputs)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-6), chunked, plain)


def test_plain_attention_equals_the_one_of_jax():
    query, key, value = arrays(9)
    swap = lambda x: jnp.swapaxes(x, 1, 2)  # noqa: E731
    expected = swap(jax.nn.dot_product_attention(swap(query), swap(key), swap(value)))
    np.testing.assert_allclose(attention.plain(query, key, value), expected, atol=1e-6)


def test_huge_scores_give_the_largest_value_and_no_overflow():
    query, key, value = arrays(5)
    best = jnp.argmax(jnp.einsum("bhqd,bhkd->bhqk", query, key), axis=-1)
    expected = jnp.take_along_axis(value, best[..., None], axis=2)
    np.testing.assert_allclose(attention.plain(1e4 * query, key, value), expected, atol=1e-5)


@pytest.mark.parametrize("tokens", [3, 9])  # fewer and more than a head is wide
def test_transposes_written_or_not_give_one_gradient(tokens, monkeypatch):
    gradient = jax.grad(lambda inputs: jnp.sum(jnp.sin(attention.plain(*inputs))))
    results = []
    for writes in (True, False):
        monkeypatch.setattr(choices, "writes_transposes", lambda writes=writes: writes)
        program = quick(lambda inputs: gradient(inputs))
        assert ("optimization_barrier" in program.lower(arrays(tokens)).as_text()) is writes
        results.append(program(arrays(tokens)))
    np.testing.assert_allclose(*results, atol=2e-6)


def test_long_sequences_are_chunked(monkeypatch):
    float32 = jnp.dtype("float32")
    assert choices.attention(24, 32, float32) == "plain"
    assert choices.attention(513, 32, float32) == "chunked"
    monkeypatch.setattr(choices, "platform", lambda: "tpu")
    assert choices.attention(513, 32, float32) == "plain"
    assert choices.attention(100_000, 32, float32) == "chunked"


def gpu(version, capability):
    return SimpleNamespace(
        client=SimpleNamespace(platform_version=version), compute_capability=capability
    )


NVIDIA, AMD = ("PJRT C API\ncuda 12090", "9.0"), ("PJRT C API\nrocm 70000", "gfx942")


@pytest.mark.parametrize(
    ("device", "dim", "dtype", "form"),
    [
        (NVIDIA, 32, "bfloat16", "cudnn"),
        (NVIDIA, 128, "bfloat16", "cudnn"),
        (NVIDIA, 32, "float32", "plain"),
        (NVIDIA, 12, "bfloat16", "plain"),
        (NVIDIA, 136, "bfloat16", "plain"),
        ((NVIDIA[0], "7.5"), 32, "bfloat16", "plain"),
        (AMD, 32, "bfloat16", "plain"),
    ],
)
def test_attention_is_fused_only_where_cudnn_takes_it(device, dim, dtype, form, monkeypatch):
    monkeypatch.setattr(choices, "platform", lambda: "gpu")
    monkeypatch.setattr(choices, "device", lambda: gpu(*device))
    assert choices.attention(24, dim, jnp.dtype(dtype)) == form


def test_fused_attention_is_refused_where_there_is_none():
    with pytest.raises(PacodiError, match=r"needs an NVIDIA GPU.* 'cpu', 'float32' and 4: take"):
        attention.attend(*arrays(3), form="cudnn")


def test_unknown_form_is_refused_by_name():
    with pytest.raises(PacodiError, match=r"attention='chunk' is unknown.*'chunked'"):
        attention.attend(*arrays(3), form="chunk")
