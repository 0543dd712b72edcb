"""Shared fixtures: double precision where a theorem is checked, and the real data if present."""

import os
from pathlib import Path

import jax
import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture
def x64():
    """Runs the test in double precision."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def data_dir() -> Path:
    """The folder of real data sets; the test is skipped by name where there is none."""
    folder = os.environ.get("PACODI_DATA_DIR")
    if not folder:
        pytest.skip("PACODI_DATA_DIR is not set: no real data here")
    return Path(folder)
