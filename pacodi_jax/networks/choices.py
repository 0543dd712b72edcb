"""The one place that decides what differs between platforms. Parameters never differ.

All figures were measured on CPUs; docs/experiments/efficiency.md says how those of attention and
of the unrolled scan were taken, the others are recorded only here. Nothing was run on a GPU or TPU.
"""

from typing import Any

import jax
import jax.numpy as jnp

#: Above this many tokens attention scores are not kept, but recomputed block by block. On CPU the
#: reason is cache: blocks are 1.3 times faster at 257 tokens and 1.6 times slower at 129. Elsewhere
#: the reason is memory, and it is not measured.
PLAIN_TOKENS = {"cpu": 192}
PLAIN_TOKENS_ELSEWHERE = 1024


def platform() -> str:
    """Returns where programs will run: ``"cpu"``, ``"gpu"`` or ``"tpu"``."""
    return jax.default_backend()


def device() -> Any:
    """Returns the first device that programs will run on."""
    return jax.devices()[0]


def stacks_branches() -> bool:
    """Whether both branches run as one batched product instead of two plain ones.

    On CPU two plain products are faster: ``python benchmarks/bench_networks.py branches`` compares
    them. Elsewhere one launch replaces two, and it is not measured.
    """
    return platform() != "cpu"


#: At most this many blocks are unrolled, so that the compiled program does not grow with the depth.
UNROLLED = 4


def unroll(depth: int, remat: bool) -> int:
    """Returns the number of blocks per scan step.

    On CPU the copies into and out of a scan take a tenth to a sixth of a training step, and four
    blocks compile about as fast as one. Elsewhere it is not measured. Recomputed blocks (``remat``)
    go one by one: within a step XLA would find what is computed twice and keep it.
    """
    return min(depth, UNROLLED) if platform() == "cpu" and not remat else 1


def writes_transposes() -> bool:
    """Whether the backward pass of attention writes a transpose to memory before its product.

    XLA's batched product with a transposed left side is slow on CPU, up to 4 times at 13 tokens.
    """
    return platform() == "cpu"


#: Up to this many bins the transform to time steps is a matrix product, above it an FFT. On CPU the
#: two are equally fast at 33 bins; at 65 the FFT takes 0.65 to 0.8 of the time, at 129 0.4 to 0.5
#: (there and back, one core). Elsewhere it is not measured.
PRODUCT_BINS = 32


def transform(bins: int) -> str:
    """Returns which form of the transform to time steps to use: ``"product"`` or ``"fft"``."""
    return "product" if bins <= PRODUCT_BINS else "fft"


def copies_matrices() -> bool:
    """Whether a matrix that all examples share is copied per example, to make a batched product.

    On CPU this takes 0.7 to 0.9 of the time for the products of the transform (13 to 129 bins).
    Elsewhere it is not measured, and the copies would take memory.
    """
    return platform() == "cpu"


#: The widest head that cuDNN's fused attention accepts on every GPU that supports it.
FUSED_WIDTH = 128


def fuses(dim: int, dtype: jnp.dtype) -> bool:
    """Whether cuDNN's fused attention accepts heads of width ``dim`` in ``dtype`` on this device.

    It needs half precision, a width that is a multiple of 8, and an NVIDIA GPU of compute
    capability 8.0 or more. AMD GPUs are ``"gpu"`` too; the client's version tells them apart.
    """
    if platform() != "gpu" or "cuda" not in device().client.platform_version:
        return False
    fits = dim % 8 == 0 and dim <= FUSED_WIDTH and dtype in (jnp.bfloat16, jnp.float16)
    return fits and float(device().compute_capability) >= 8.0


def attention(tokens: int, dim: int, dtype: jnp.dtype) -> str:
    """Returns which form of attention to use: ``"plain"``, ``"chunked"`` or ``"cudnn"``.

    Args:
      tokens: per window.
      dim: width of a head.
      dtype: of the products.
    """
    if fuses(dim, dtype):
        return "cudnn"
    few = tokens <= PLAIN_TOKENS.get(platform(), PLAIN_TOKENS_ELSEWHERE)
    return "plain" if few else "chunked"
