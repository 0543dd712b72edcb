"""The transform between bins and time steps inside a network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core.spectrum import noise_variance, to_spectrum
from pacodi_jax.networks import choices
from pacodi_jax.networks.steps import from_steps, matrix, step_count, to_steps
from tests.networks.parameters import quick

#: Bins and the length of their windows, odd and even; 0 where tokens are not a window's bins.
CASES = [(1, 1), (2, 2), (2, 3), (5, 8), (12, 23), (13, 24), (13, 25), (13, 0), (40, 0)]
cases = pytest.mark.parametrize(("bins", "length"), CASES)


def tokens(bins):
    return jax.random.normal(jax.random.key(bins), (2, 3, bins, 4))


def vacant(bins, length):
    """The imaginary slots that Hermitian spectra do not have."""
    return [0, bins - 1] if length and length % 2 == 0 else [0]


@cases
def test_columns_are_orthonormal_but_for_vacant_imaginary_slots(bins, length):
    gram = np.eye(2 * bins)
    for slot in vacant(bins, length):
        gram[bins + slot, bins + slot] = 0.0
    columns = matrix(bins, step_count(bins, length)).astype(np.float64)
    np.testing.assert_allclose(columns.T @ columns, gram, atol=1e-6)


@pytest.mark.parametrize("length", [1, 2, 3, 8, 23, 24, 25])
def test_a_moment_of_the_window_is_a_moment_of_the_steps(length):
    window = jax.random.normal(jax.random.key(length), (length, 4))
    spectrum = to_spectrum(window)
    white = jax.tree.map(
        lambda x, v: x / np.sqrt(np.where(v > 0, v, 1.0)), spectrum, noise_variance(length)
    )
    steps = quick(lambda *given: to_steps(*given, length))(white.real[None], white.imag[None])
    np.testing.assert_allclose(steps[0], window, atol=1e-5)


@cases
def test_steps_are_those_of_the_inverse_transform_of_the_window(bins, length):
    real, imag = tokens(bins)
    count = step_count(bins, length)
    spectrum = (np.asarray(real) + 1j * np.asarray(imag)) / np.sqrt(2)
    spectrum[:, vacant(bins, length)] = np.sqrt(2) * spectrum[:, vacant(bins, length)].real
    expected = np.fft.irfft(spectrum, n=count, axis=1, norm="ortho")
    found = quick(lambda *given: to_steps(*given, count))(real, imag)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@cases
def test_there_and_back_returns_every_slot_but_the_vacant_ones(bins, length):
    real, imag = tokens(bins)
    count = step_count(bins, length)
    found = quick(lambda *given: from_steps(to_steps(*given, count), bins))(real, imag)
    np.testing.assert_allclose(found[0], real, atol=1e-5)
    expected = imag.at[:, np.asarray(vacant(bins, length))].set(0.0)
    np.testing.assert_allclose(found[1], expected, atol=1e-5)


@cases
def test_both_forms_are_one_function_with_one_derivative(bins, length):
    real, imag = tokens(bins)
    count = step_count(bins, length)

    def loss(form, real, imag):
        steps = to_steps(real, imag, count, form)
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
    copied = quick(lambda *given: to_steps(*given, 24))(real, imag)
    monkeypatch.setattr(choices, "copies_matrices", lambda: False)
    np.testing.assert_allclose(
        quick(lambda *given: to_steps(*given, 24))(real, imag), copied, atol=1e-5
    )


def test_steps_of_tokens_that_are_no_bins_are_enough_and_of_a_fast_number():
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
