"""The judge at a budget for tests: scores without training, and a cache of its own."""

import pytest

from pacodi_jax.metrics import registry
from pacodi_jax.report import judgement, sections
from tests.metrics.windows import SMALL


@pytest.fixture
def untrained(monkeypatch, tmp_path):
    """No score that trains; two seeds; a report without pictures."""
    further = registry.further_metrics
    monkeypatch.setattr(judgement, "Budget", lambda **_: SMALL._replace(seeds=(0, 1)))
    monkeypatch.setattr(registry, "paper_metrics", lambda *_: ())
    monkeypatch.setattr(registry, "further_metrics", lambda budget: further(budget)[1:])
    monkeypatch.setattr(sections, "sections", lambda *_: [])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
