import pytest

from pacodi_jax.metrics import registry
from tests.metrics.windows import SMALL


@pytest.fixture
def budget(monkeypatch, tmp_path):
    """A budget without scores that train: what is shown is what is scored, under which name."""
    further = registry.further_metrics
    monkeypatch.setattr(registry, "paper_metrics", lambda *_: ())
    monkeypatch.setattr(registry, "further_metrics", lambda budget: further(budget)[1:])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return SMALL
