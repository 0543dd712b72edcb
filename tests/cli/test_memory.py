"""How the process holds memory."""

import os
import platform
import subprocess
import sys

import pytest

from pacodi_jax.cli.memory import reuse_memory

FAULTS = """
import resource, sys
import numpy as np
from pacodi_jax.cli.memory import reuse_memory
if sys.argv[1] == "reuse":
    assert reuse_memory()
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
np.ones(2**24)
start = faults()
np.ones(2**24)
print(faults() - start)
"""


def faults(mode):
    """Page faults of 128 MiB that were used and freed before."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    # NumPy asks for huge pages by itself, where the system has them.
    environ["NUMPY_MADVISE_HUGEPAGE"] = "0"
    command = [sys.executable, "-c", FAULTS, mode]
    return int(subprocess.run(command, env=environ, capture_output=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_freed_memory_is_used_again():
    assert faults("leave") > 10_000
    assert faults("reuse") < 100


@pytest.mark.parametrize("name", ["MALLOC_ARENA_MAX", "GLIBC_TUNABLES"])
def test_the_users_own_allocator_settings_stay(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert not reuse_memory()
