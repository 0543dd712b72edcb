"""A fitted estimator, compiled quickly."""

import pytest

import pacodi_jax as pj
from tests.api.shops import estimator, shops


@pytest.fixture(scope="module", autouse=True)
def quickly(quick_compiles):
    """All of this room."""


@pytest.fixture(scope="module")
def fitted() -> pj.PaCoDi:
    return estimator().fit(shops(), progress=False)
