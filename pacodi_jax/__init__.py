"""Synthetic time series by parallel complex diffusion of their Fourier spectrum."""

__version__ = "0.1.0"
