"""What commands called in this process need."""

import pytest

from pacodi_jax.cli import work


@pytest.fixture
def no_cache(monkeypatch):
    """Compiled programs of tests stay out of the user's cache."""
    monkeypatch.setattr(work, "cache_programs", lambda: None)
