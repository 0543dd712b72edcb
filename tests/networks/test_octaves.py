"""Means over octaves of tokens."""

import jax
import numpy as np
import pytest

from pacodi_jax.networks import DualBranch
from pacodi_jax.networks.cost import count
from pacodi_jax.networks.octaves import ALONE, octaves, summarise, summary_count

COUNTS = [1, ALONE, ALONE + 1, 65, 96, 97, 129, 500]


@pytest.mark.parametrize("tokens", COUNTS)
def test_octaves_cover_every_token_once_and_double_in_width(tokens):
    found = octaves(tokens)
    assert found[0][0] == 0
    assert found[-1][1] == tokens
    assert [b for b, _, _ in found[1:]] == [e for _, e, _ in found[:-1]]
    assert [size for _, _, size in found] == [2**i for i in range(len(found))]


@pytest.mark.parametrize("tokens", COUNTS)
def test_a_summary_has_the_mean_of_every_patch(tokens):
    values = np.asarray(jax.random.normal(jax.random.key(tokens), (2, tokens, 3)))
    edges = [b for begin, end, size in octaves(tokens) for b in range(begin, end, size)]
    means = [values[:, b:e].mean(1) for b, e in zip(edges, [*edges[1:], tokens], strict=True)]
    found = summarise(values)
    assert summary_count(tokens) == found.shape[1] == len(means)
    np.testing.assert_allclose(found, np.stack(means, 1), atol=1e-6)


def test_the_summary_grows_by_half_of_the_first_octave_per_doubling():
    assert [summary_count(32 * 2**i) for i in range(9)] == [32 + 16 * i for i in range(9)]


def test_attention_to_octaves_grows_no_faster_than_windows_by_more_than_a_logarithm():
    network = DualBranch(7, 64, 1, 4, interaction="long")
    short, long = (count(network, length).attention for length in (256, 4096))
    assert 16 < long / short < 16 * 2
