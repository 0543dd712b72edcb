"""The examples of the docstrings run as they stand."""

import doctest

import pytest

from pacodi_jax.networks import DualBranch, SingleBranch, backbones


@pytest.mark.parametrize("network", [DualBranch, SingleBranch])
def test_example_of_the_docstring_runs_by_itself(network):
    (example,) = doctest.DocTestFinder(recurse=False).find(
        network, network.__name__, module=backbones, globs={}
    )
    assert len(example.examples) > 3
    assert doctest.DocTestRunner().run(example).failed == 0
