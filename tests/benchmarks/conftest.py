"""The web service on loopback and the windows of the tests of texts, for benchmarks of texts."""

from tests.text.conftest import loopback, windows, yardsticks

__all__ = ["loopback", "windows", "yardsticks"]
