"""The transform between bins and time steps inside a network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.networks import choices
from pacodi_jax.networks.steps import from_steps, matrix, step_count, to_steps
from tests.networks.parameters import quick

BINS = [1, 2, 5, 12, 13, 40]


def tokens(bins):
    return jax.random.normal(jax.random.key(bins), (2, 3, bins, 4))


@pytest.mark.parametrize("bins", BINS)
def test_columns_are_orthonormal_but_for_the_imaginary_level(bins):
    gram = np.eye(2 * bins)
    gram[bins, bins] = 0.0
    columns = matrix(bins).astype(np.float64)
    np.testing.assert_allclose(columns.T @ columns, gram, atol=1e-6)


@pytest.mark.parametrize("bins", BINS)
def test_steps_are_those_of_the_inverse_transform_of_the_window(bins):
    real, imag = tokens(bins)
    count = step_count(bins)
    spectrum = np.asarray(real) + 1j * np.asarray(imag)
    spectrum[:, 0] = np.sqrt(2) * spectrum[:, 0].real
    expected = np.fft.irfft(spectrum / np.sqrt(2), n=count, axis=1, norm="ortho")
    np.testing.assert_allclose(quick(to_steps)(real, imag), expected, atol=1e-5)


@pytest.mark.parametrize("bins", BINS)
def test_there_and_back_returns_every_slot_but_the_imaginary_level(bins):
    real, imag = tokens(bins)
    found = quick(lambda real, imag: from_steps(to_steps(real, imag), bins))(real, imag)
    np.testing.assert_allclose(found[0], real, atol=1e-5)
    np.testing.assert_allclose(found[1], imag.at[:, 0].set(0.0), atol=1e-5)


@pytest.mark.parametrize("bins", BINS)
def test_both_forms_are_one_function_with_one_derivative(bins):
    real, imag = tokens(bins)

    def loss(form, real, imag):
        steps = to_steps(real, imag, form)
        back = from_steps(jnp.tanh(steps), bins, form)
        return sum(jnp.sum(jnp.sin(part)) for part in back)

    results = [
        quick(jax.value_and_grad(lambda *given, form=form: loss(form, *given), argnums=(0, 1)))(
            real, imag
        )
        for form in ("product", "fft")
    ]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5), *results)


def test_shared_and_copied_matrices_give_one_result(monkeypatch):
    real, imag = tokens(13)
    copied = quick(to_steps)(real, imag)
    monkeypatch.setattr(choices, "copies_matrices", lambda: False)
    np.testing.assert_allclose(
        quick(lambda *given: to_steps(*given))(real, imag), copied, atol=1e-5
    )


def test_steps_are_enough_for_the_bins_and_a_fast_transform_likes_their_number():
    for bins in range(1, 300):
        count = step_count(bins)
        assert 2 * bins - 1 <= count <= 1.2 * (2 * bins - 1) + 1
        for factor in (2, 3, 5):
            while count % factor == 0:
                count //= factor
        assert count == 1


def test_few_bins_go_by_a_product_and_many_by_a_fast_transform():
    assert choices.transform(13) == "product"
    assert choices.transform(2049) == "fft"
