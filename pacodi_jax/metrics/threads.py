"""One thread per product of NumPy's: many small ones spin more than they compute on more."""

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits


def one_thread() -> AbstractContextManager[object]:
    """Within it, BLAS has one thread: the scores themselves run side by side."""
    return threadpool_limits(1, user_api="blas")
