"""Runs of a few seconds, and the command in this process."""

import sys

import pytest

from pacodi_jax import main

LENGTH = 8
#: How absl reads a config file.
OLD_IMPORT = "ignore:the load_module:DeprecationWarning"


def tiny(config, steps: int):
    """The config as a run of a few seconds."""
    config = config.unlock()
    config.data.length = LENGTH
    config.model.update({"width": 16, "depth": 1})
    config.train.update({"steps": steps, "batch": 16, "warmup": 2, "chunk": steps, "ema": 0.9})
    config.sample.update({"steps": 4, "batch": 16})
    return config.lock()


def command(*arguments) -> int:
    """Runs the command in this process; returns its exit code."""
    argv = ["main", *arguments]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", argv)  # where overrides of a config are looked for
        patch.setattr(main, "_cache_programs", lambda: None)
        for name in [name for name in main.flags.FLAGS if name.startswith("config.")]:
            delattr(main.flags.FLAGS, name)  # overrides of the command before
        main.flags.FLAGS.unparse_flags()
        try:
            main.main(main._parse(argv))
        except SystemExit as stop:
            return stop.code
    return 0
