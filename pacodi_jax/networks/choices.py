"""The one place that decides what differs between platforms; parameters never do.

Figures are of CPUs; docs/efficiency.md has those of attention and of the unrolled scan and how
they were taken, the others stand only here. Nothing was run on a GPU or TPU.
"""

from typing import Any

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


def device() -> Any:
    """Returns the first device that programs will run on."""
    return jax.devices()[0]


def stacks_branches() -> bool:
    """Whether both branches run as one batched product instead of two plain ones.

    On CPU two plain products are faster: ``python benchmarks/bench_networks.py branches`` compares
    them. Elsewhere one launch replaces two, and it is not measured.
    """
    return platform() != "cpu"


#: Blocks that are written out at most: what is compiled must not grow with the depth.
UNROLLED = 4


def unroll(depth: int, remat: bool) -> int:
    """Returns how many blocks a step of the scan has.

    On CPU the copies into and out of a scan take a tenth to a sixth of a training step, and four
    blocks compile about as fast as one. Elsewhere it is not measured. Blocks that are recomputed
    go one by one: within a step XLA finds what is computed twice and keeps it after all.
    """
    return min(depth, UNROLLED) if platform() == "cpu" and not remat else 1


def writes_transposes() -> bool:
    """Whether the backward pass of attention writes a transpose to memory before its product.

    XLA's batched product with a transposed left side is slow on CPU, up to 4 times at 13 tokens.
    """
    return platform() == "cpu"


#: Up to this many bins the way to time steps is a product with a matrix, above an FFT. On CPU the
#: two are level at 129 bins, and the FFT takes a fourth at 257. Elsewhere it is not measured.
PRODUCT_BINS = 160


def transform(bins: int) -> str:
    """Returns which form of the transform to time steps to use: ``"product"`` or ``"fft"``."""
    return "product" if bins <= PRODUCT_BINS else "fft"


def copies_matrices() -> bool:
    """Whether a matrix that all examples share is copied for each, to make a batched product.

    On CPU the products of the transform (13 to 129 bins) take 0.7 to 0.9 of the time so;
    elsewhere it is not measured, and the copies would only take memory.
    """
    return platform() == "cpu"


#: The widest head that cuDNN's fused attention takes on every GPU that has it.
FUSED_WIDTH = 128


def fuses(dim: int, dtype: jnp.dtype) -> bool:
    """Whether cuDNN's fused attention takes heads of width ``dim`` in ``dtype`` here.

    It takes half precision and widths that are multiples of 8, on NVIDIA's GPUs from compute
    capability 8.0 on. AMD's are a ``"gpu"`` too; JAX tells them apart by the client's version.
    """
    if platform() != "gpu" or "cuda" not in device().client.platform_version:
        return False
    fits = dim % 8 == 0 and dim <= FUSED_WIDTH and dtype in (jnp.bfloat16, jnp.float16)
    return fits and float(device().compute_capability) >= 8.0


def attention(tokens: int, dim: int, dtype: jnp.dtype) -> str:
    """Returns which form of attention to use: ``"plain"``, ``"chunked"`` or ``"cudnn"``.

    Args:
      tokens: of a window.
      dim: width of a head.
      dtype: of the products.
    """
    if fuses(dim, dtype):
        return "cudnn"
    few = tokens <= PLAIN_TOKENS.get(platform(), PLAIN_TOKENS_ELSEWHERE)
    return "plain" if few else "chunked"
