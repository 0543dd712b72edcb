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


LOAD = """
import sys
from pacodi_jax import load
slow = {"matplotlib", "sklearn", "scipy.signal", "scipy.stats", "pacodi_jax.train"}
assert not slow & set(sys.modules), slow & set(sys.modules)
"""


def test_loading_a_model_waits_for_nothing_that_only_draws_scores_or_trains():
    subprocess.run([sys.executable, "-c", LOAD], check=True)


def test_importing_is_light_and_everything_is_exported():
    subprocess.run([sys.executable, "-c", LIGHT], check=True)
