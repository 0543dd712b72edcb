"""All forms of attention are one function."""

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


def test_long_sequences_are_chunked_and_half_precision_on_gpu_is_fused(monkeypatch):
    float32, bfloat16 = jnp.dtype("float32"), jnp.dtype("bfloat16")
    assert choices.attention(24, float32) == "plain"
    assert choices.attention(513, float32) == "chunked"
    monkeypatch.setattr(choices, "platform", lambda: "gpu")
    assert choices.attention(24, bfloat16) == "cudnn"
    assert choices.attention(513, float32) == "plain"
    assert choices.attention(100_000, float32) == "chunked"


def test_unknown_form_is_refused_by_name():
    with pytest.raises(PacodiError, match=r"attention='chunk' is unknown.*'chunked'"):
        attention.attend(*arrays(3), form="chunk")
