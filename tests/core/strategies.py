"""What property tests in this folder draw, and how much of it."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

#: The same few examples on every run, however slow the first compile.
MODEST = settings(max_examples=12, deadline=None, derandomize=True, database=None)

LENGTHS = st.integers(1, 40)
CHANNELS = st.integers(1, 4)
DTYPES = st.sampled_from([np.float32, np.float64])
SEEDS = st.integers(0, 2**16)


def draw_window(seed: int, length: int, channels: int, dtype: type) -> np.ndarray:
    """A window of the given size whose channels differ in level and scale."""
    random = np.random.default_rng(seed)
    level, scale = random.normal(size=channels), random.uniform(0.1, 10.0, channels)
    return (level + scale * random.normal(size=(length, channels))).astype(dtype)


def tolerance(dtype: type) -> float:
    """The tolerance of a round trip: rounding alone."""
    return 1e-5 if dtype == np.float32 else 1e-12
