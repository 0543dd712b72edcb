"""Presets: settings for every data set that was tuned, importable after an install."""
