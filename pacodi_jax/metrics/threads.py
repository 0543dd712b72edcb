"""One thread per product of NumPy's or scikit-learn's: small ones wait more than they compute."""

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits


def one_thread() -> AbstractContextManager[object]:
    """Within it, BLAS and OpenMP have one thread: the scores themselves run side by side."""
    return threadpool_limits(1)
