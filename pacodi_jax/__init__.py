"""Synthetic time series by parallel complex diffusion of their Fourier spectrum."""

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(workdir: str) -> Any:
    """Loads a trained generator; see :func:`pacodi_jax.run.load`."""
    from pacodi_jax.run import load as load_run

    return load_run(workdir)
