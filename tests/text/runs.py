"""Runs of a few seconds, and the command in this process."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import jax
import pytest

from pacodi_jax.cli import main
from pacodi_jax.configs import text as text_config
from pacodi_jax.text.encoders.hashed import Hashed

LENGTH = 8
#: What the files of these tests say made their vectors.
MODEL = "text-embedding-3-large"
#: How absl reads a config file.
OLD_IMPORT = "ignore:the load_module:DeprecationWarning"


@contextmanager
def compiling_quickly() -> Iterator[None]:
    """For what compiles much and computes little."""
    name = "jax_disable_most_optimizations"
    before = jax.config.read(name)
    jax.config.update(name, True)
    try:
        yield
    finally:
        jax.config.update(name, before)


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


def service(text: str) -> list[float]:
    """The vector that the service of these tests gives a text, as its file holds it."""
    return [round(float(value), 6) for value in Hashed(width=128).encode([text])[0]]


def settings(path, **text):
    """The config of a file of TSFragment's kind."""
    config = text_config.get_config("source=tsfragment,size=tiny").unlock()
    config.data.path, config.sample.steps, config.sample.batch = str(path), 4, 16
    config.text.update(text)
    return config.lock()


def text_command(workdir, path, *arguments) -> int:
    """Runs the command on a file of TSFragment's kind; returns its exit code."""
    return command(
        "--config=configs/text.py:source=tsfragment,size=tiny",
        f"--config.data.path={path}",
        f"--workdir={workdir}",
        "--mode=sample",
        "--samples=3",
        "--config.sample.steps=4",
        *arguments,
    )
