"""How this process holds memory on the host; for commands, which own their process."""

import ctypes
import os

#: glibc's names for: pools of memory, blocks that come straight from the system, and how much
#: free memory at the end of a pool goes back to it.
M_ARENA_MAX, M_MMAP_MAX, M_TRIM_THRESHOLD = -8, -4, -1


def reuse_memory() -> bool:
    """Lets this process keep the memory that a program on CPU has used for the next one.

    XLA asks for all of a program's temporary memory at every call. glibc takes such blocks from
    the system and gives them back at once, and the system clears every page again: a sixth of
    the CPU time of a training step. One pool that keeps up to 2 GiB avoids it; no number changes.
    It is for commands, before JAX first computes: it holds for the whole process.

    Returns:
      False where there is no glibc, or where the user has set its allocator by ``MALLOC_…`` or
      ``GLIBC_TUNABLES``; then nothing has changed.
    """
    if any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    settings = ((M_ARENA_MAX, 1), (M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1))
    return all(mallopt(*setting) == 1 for setting in settings)
