"""Text beside series: captions of any window, text encoders, and the TSFragment-600K reader."""
