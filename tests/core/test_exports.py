"""What ``pacodi_jax.core`` exports, and that each of its modules can be imported first."""

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

from pacodi_jax import core

#: Modules that only their neighbours import.
INNER = {"checks"}


def test_every_public_module_of_the_room_is_exported_as_a_module():
    found = {module.name for module in pkgutil.iter_modules(core.__path__)} - INNER
    assert found <= set(core.__all__)
    assert all(isinstance(getattr(core, name), ModuleType) for name in found)


def test_every_exported_name_exists_once_and_is_the_one_of_its_module():
    assert len(set(core.__all__)) == len(core.__all__)
    for name in core.__all__:
        value = getattr(core, name)
        home = getattr(value, "__module__", None)
        if home and home.startswith("pacodi_jax.core."):
            assert getattr(importlib.import_module(home), name) is value


def test_no_module_of_the_room_depends_on_the_order_of_imports():
    names = [m.name for m in pkgutil.walk_packages(core.__path__, "pacodi_jax.core.")]
    program = """
import importlib, sys
for name in sys.argv[1:]:
    for loaded in [m for m in sys.modules if m.startswith("pacodi_jax")]:
        del sys.modules[loaded]
    importlib.import_module(name)
"""
    subprocess.run([sys.executable, "-c", program, *names], check=True, timeout=300)
