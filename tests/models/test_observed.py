"""Windows drawn given observed values, by a generator: masks, groups, exactness, refusals."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.core.conditioning import Observed
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import observed, spectral_drawing
from tests.models import small

KEY = jax.random.key(5)


def _observed(mask: np.ndarray, noise: float = 0.0) -> Observed:
    values = np.asarray(small.windows(len(mask), seed=3))
    return Observed(np.where(mask, values, np.nan), mask, np.full(small.CHANNELS, noise))


def _mask(count: int, seed: int = 0, share: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((count, small.LENGTH, small.CHANNELS)) < share


@pytest.mark.parametrize("name", ["pacodi", "temporal"])
def test_observed_cells_come_back_to_the_bit_and_the_rest_is_drawn(name):
    model, mask = small.build(name), _mask(6)
    given = _observed(mask)
    windows = model.sample(KEY, small.params(name), 6, observed=given)
    np.testing.assert_array_equal(windows[mask], given.values[mask].astype(np.float32))
    free = model.sample(KEY, small.params(name), 6)
    assert np.abs(windows - free)[~mask].min() > 0


def test_with_nothing_observed_draws_are_unconditional_to_the_bit():
    model = small.build()
    free = model.sample(KEY, small.params(), 5)
    nothing = _observed(np.zeros((5, small.LENGTH, small.CHANNELS), bool))
    given = model.sample(KEY, small.params(), 5, observed=nothing, batch=5)
    np.testing.assert_array_equal(given, model.sample(KEY, small.params(), 5, batch=8))
    np.testing.assert_allclose(given, free, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("statistics", ["none", "generated"])
def test_window_i_depends_on_its_own_mask_and_number_alone(statistics):
    model, mask = small.build(statistics=statistics), _mask(6)
    mask[[1, 4]] = mask[0]  # three windows share a mask
    mask[3] = False
    given = _observed(mask)
    whole = model.sample(KEY, small.params(), 6, observed=given)
    part = Observed(given.values[:2], given.mask[:2], given.noise)
    first = model.sample(KEY, small.params(), 2, observed=part, batch=1)
    np.testing.assert_allclose(first, whole[:2], rtol=1e-4, atol=1e-5)


def test_a_mask_pulls_draws_towards_what_was_observed():
    """Random walks: the step beside an observed one is near it, and spreads less than before."""
    model = small.silent(small.build(steps=20))
    mask = np.zeros((400, small.LENGTH, small.CHANNELS), bool)
    mask[:, 3] = True
    given = Observed(np.full(mask.shape, 9.0), mask, np.zeros(small.CHANNELS))
    drawn = model.sample(KEY, {}, 400, observed=given)
    free = model.sample(KEY, {}, 400)
    assert (drawn[:, 4].mean(0) - free[:, 4].mean(0) > 3).all()
    assert (drawn[:, 4].std(0) < 0.8 * free[:, 4].std(0)).all()
    np.testing.assert_array_equal(drawn[:, 3], 9.0)


def test_noisy_observations_are_not_copied():
    model, mask = small.build(), _mask(4)
    given = _observed(mask, noise=0.5)
    drawn = model.sample(KEY, small.params(), 4, observed=given)
    assert np.abs(drawn - given.values)[mask].max() > 1e-3


def test_windows_are_grouped_by_mask_and_noise():
    mask = _mask(7)
    mask[[2, 5, 6]] = mask[0]
    noise = np.zeros(mask.shape, np.float32)
    noise[5] = 0.1
    found = observed.groups(observed.Known(mask.astype(np.float32), mask, noise))
    assert sorted(sorted(rows.tolist()) for rows in found) == [[0, 2, 6], [1], [3], [4], [5]]


def test_gains_of_the_last_masks_are_kept_as_far_as_memory_allows(monkeypatch):
    """However many are kept, the windows are the same."""
    given, found = _observed(_mask(4)), []
    size = 4 * 4 * (small.LENGTH * small.CHANNELS) ** 2  # four times of single precision
    for most, kept in ((5 * size, 4), (2.5 * size, 2), (0, 1)):
        monkeypatch.setattr(spectral_drawing, "_KEPT", most)
        model = dataclasses.replace(small.build())  # with no table yet
        found.append(model.sample(KEY, small.params(), 4, observed=given))
        assert len(model._tables) == kept
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


def test_progress_counts_all_windows():
    told = []
    mask = _mask(5)
    small.build().sample(
        KEY,
        small.params(),
        5,
        observed=_observed(mask),
        progress=lambda n, of: told.append((n, of)),
    )
    assert told[-1] == (5, 5)
    assert [n for n, _ in told] == sorted(n for n, _ in told)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": np.zeros((2, 3, 2))}, "observed values has shape"),
        ({"mask": np.zeros((5, small.LENGTH, 9), bool)}, "mask of observed values has shape"),
        ({"mask": np.ones((5, small.LENGTH, small.CHANNELS))}, "of float64; expected .* of bool"),
        ({"noise": np.array([0.1, -1.0])}, "0 or more"),
        ({"noise": np.zeros(5)}, "2 numbers of 0"),
        ({"values": np.full((5, small.LENGTH, small.CHANNELS), np.nan)}, "not finite"),
    ],
)
def test_impossible_observations_are_refused(change, words):
    given = _observed(_mask(5))._replace(**change)
    with pytest.raises(PacodiError, match=words):
        small.build().sample(KEY, small.params(), 5, observed=given)


def test_a_model_without_a_covariance_says_why():
    model = small.build(statistics="oracle", loss="noise")
    with pytest.raises(PacodiError, match="oracle"):
        model.sample(KEY, small.params(), 4, observed=_observed(_mask(4)))


def test_the_covariance_travels_with_the_arrays():
    from pacodi_jax.models.fitted import Fitted

    model = small.build()
    again = Fitted.from_arrays(model.fitted.to_arrays())
    jax.tree.map(np.testing.assert_array_equal, again.covariance, model.fitted.covariance)
    flat = np.asarray(small.windows()).reshape(64, -1)
    full = model.fitted.covariance
    np.testing.assert_allclose(
        full.basis * full.values @ full.basis.T,
        np.cov(flat, rowvar=False, bias=True),
        atol=1e-3 * float(jnp.max(full.values)),
    )
