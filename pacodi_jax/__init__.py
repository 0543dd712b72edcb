"""Synthetic time series by parallel complex diffusion of their Fourier spectrum.

    import pacodi_jax as pj

    model = pj.PaCoDi(length=48, time="date").fit("mine.csv")
    new = model.sample(1000)
    model.save("mine.pacodi")

What is exported here is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacodi_jax.api import PaCoDi, load
    from pacodi_jax.errors import PacodiError
    from pacodi_jax.report.judgement import Verdict, judge

__version__ = "0.2.0"
__all__ = ["PaCoDi", "PacodiError", "Verdict", "__version__", "judge", "load"]

_HOMES = {
    "PaCoDi": "pacodi_jax.api",
    "load": "pacodi_jax.api",
    "PacodiError": "pacodi_jax.errors",
    "Verdict": "pacodi_jax.report.judgement",
    "judge": "pacodi_jax.report.judgement",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
