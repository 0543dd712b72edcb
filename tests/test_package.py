"""The package as a whole: what it exports, and what importing it costs."""

import subprocess
import sys

LIGHT = """
import sys, pacodi_jax
heavy = {"jax", "pandas", "flax", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
assert callable(pacodi_jax.judge)
assert set(pacodi_jax.__all__) <= set(dir(pacodi_jax))
"""


def test_importing_is_light_and_everything_is_exported():
    subprocess.run([sys.executable, "-c", LIGHT], check=True)
