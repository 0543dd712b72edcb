"""Numbers as people read them."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pacodi_jax.metrics.score import Estimate


def number(value: float) -> str:
    """Three significant digits without powers of ten; what is below 0.00005 is 0."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) < 5e-5:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def plus_minus(estimate: "Estimate") -> str:
    """The mean ± half of its 95 % interval."""
    return f"{number(estimate.value)} ± {number(estimate.half_width)}"


def duration(seconds: float) -> str:
    """Returns ``"1 h 02 min"``, ``"3 min 20 s"``, ``"12 s"`` or ``"1.4 s"``."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"
