"""These tests compile much and compute little: half the time with the compiler's effort low."""

import jax
import pytest


@pytest.fixture(autouse=True, scope="package")
def quick_compiles():
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
