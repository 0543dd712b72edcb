"""The one place that decides what differs between platforms; parameters never do."""

import ctypes
import os

import jax
import jax.numpy as jnp

#: Above this many tokens the scores of a whole window are not kept, but remade block by block.
#: On CPU that is a matter of cache: at 257 tokens a block at a time is 1.3 times faster, at 129
#: 1.6 times slower. Elsewhere it is a matter of memory, and not measured.
PLAIN_TOKENS = {"cpu": 192}
PLAIN_TOKENS_ELSEWHERE = 1024


def platform() -> str:
    """Returns where programs will run: ``"cpu"``, ``"gpu"`` or ``"tpu"``."""
    return jax.default_backend()


def stacks_branches() -> bool:
    """Whether both branches run as one batched product instead of two plain ones.

    On CPU two plain products are faster (docs/efficiency.md); elsewhere one launch replaces two.
    """
    return platform() != "cpu"


def writes_transposes() -> bool:
    """Whether the backward pass of attention writes Wᵀ to memory before its product.

    XLA's batched product with a transposed left side is slow on CPU, up to 4 times at 13 tokens.
    """
    return platform() == "cpu"


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


def attention(tokens: int, dtype: jnp.dtype) -> str:
    """Returns which form of attention to use: ``"plain"``, ``"chunked"`` or ``"cudnn"``."""
    if platform() == "gpu" and dtype in (jnp.bfloat16, jnp.float16):
        return "cudnn"
    few = tokens <= PLAIN_TOKENS.get(platform(), PLAIN_TOKENS_ELSEWHERE)
    return "plain" if few else "chunked"
