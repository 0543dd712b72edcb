"""These tests compile much and compute little: half the time with the compiler's effort low."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def quickly(quick_compiles):
    """All of this room."""
