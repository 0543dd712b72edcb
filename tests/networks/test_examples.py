"""The examples of the docstrings run as they stand."""

import doctest
import importlib

import pytest

from pacodi_jax.core.guidance import fold
from pacodi_jax.networks import DualBranch, SingleBranch
from pacodi_jax.networks.products import matmul_flops


@pytest.mark.parametrize(
    ("documented", "least"), [(DualBranch, 4), (SingleBranch, 4), (fold, 2), (matmul_flops, 3)]
)
def test_example_of_the_docstring_runs_by_itself(documented, least):
    module = importlib.import_module(documented.__module__)
    (example,) = doctest.DocTestFinder(recurse=False).find(
        documented, documented.__name__, module=module, globs={}
    )
    assert len(example.examples) >= least
    assert doctest.DocTestRunner().run(example).failed == 0
