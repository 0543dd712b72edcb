"""Shared fixtures: double precision, the scripts of benchmarks/, real data if present."""

import contextlib
import ctypes
import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import jax
import matplotlib
import pytest

from pacodi_jax import files
from tests.compiling import compiling_quickly

matplotlib.use("Agg")


@pytest.fixture(scope="session", autouse=True)
def kept_programs() -> None:
    """Keeps compiled programs between runs of the tests: most of their time is compiling."""
    if not os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        jax.config.update("jax_compilation_cache_dir", str(files.cache_folder("tests")))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


@pytest.fixture(scope="module", autouse=True)
def dropped_programs() -> Iterator[None]:
    """Drops compiled programs after each module, and gives their memory back to the system.

    A worker would grow by gigabytes otherwise: commands let glibc keep what is freed.
    """
    yield
    jax.clear_caches()
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # no glibc
        ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="module")
def quick_compiles() -> Iterator[None]:
    """Compiles with little effort."""
    with compiling_quickly():
        yield


@pytest.fixture
def x64():
    """Runs the test in double precision."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def benchmark() -> Iterator[Callable[[str], ModuleType]]:
    """Imports a script of ``benchmarks/`` by its name; they import one another like this too."""
    folder = str(Path(__file__).parent.parent / "benchmarks")
    sys.path.insert(0, folder)
    yield importlib.import_module
    sys.path.remove(folder)


@pytest.fixture
def data_dir() -> Path:
    """The folder of real data sets; the test is skipped by name where there is none."""
    folder = os.environ.get("PACODI_DATA_DIR")
    if not folder:
        pytest.skip("PACODI_DATA_DIR is not set: no real data here")
    return Path(folder)


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """A folder of compiled programs and of what processes complained of."""
    return tmp_path_factory.mktemp("cache")
