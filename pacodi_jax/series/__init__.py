"""Whole series from a model of windows: simulated, continued, and filled where values lack."""
