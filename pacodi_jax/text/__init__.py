"""Texts about series: captions of windows, text encoders, a chat baseline, TSFragment-600K."""
