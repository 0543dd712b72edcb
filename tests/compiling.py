"""Compiling with little effort, for tests that compile much and compute little."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax


@contextmanager
def compiling_quickly() -> Iterator[None]:
    """For what compiles much and computes little."""
    name = "jax_disable_most_optimizations"
    before = jax.config.read(name)
    jax.config.update(name, True)
    try:
        yield
    finally:
        jax.config.update(name, before)
