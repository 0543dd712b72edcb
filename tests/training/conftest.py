"""What the tests of training share."""

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """A folder of compiled programs and of what processes complained of."""
    return tmp_path_factory.mktemp("cache")
