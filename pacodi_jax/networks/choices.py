"""The one place that decides what differs between platforms; parameters never do."""

import jax
import jax.numpy as jnp

#: Above this many tokens the scores of a whole window are not kept, but remade block by block.
PLAIN_TOKENS = 1024


def platform() -> str:
    """Returns where programs will run: ``"cpu"``, ``"gpu"`` or ``"tpu"``."""
    return jax.default_backend()


def stacks_branches() -> bool:
    """Whether both branches run as one batched product instead of two plain ones.

    On CPU two plain products are faster (docs/efficiency.md); elsewhere one launch replaces two.
    """
    return platform() != "cpu"


def attention(tokens: int, dtype: jnp.dtype) -> str:
    """Returns which form of attention to use: ``"plain"``, ``"chunked"`` or ``"cudnn"``."""
    if platform() == "gpu" and dtype in (jnp.bfloat16, jnp.float16):
        return "cudnn"
    return "plain" if tokens <= PLAIN_TOKENS else "chunked"
