"""Runs of a few seconds, and the command in this process."""

from typing import Any

import pytest
from ml_collections import ConfigDict

from pacodi_jax.cli import main, work
from pacodi_jax.configs import text as text_config
from pacodi_jax.settings import Config
from pacodi_jax.text.encoders.hashed import Hashed

LENGTH = 8
#: What the files of these tests say made their vectors.
MODEL = "text-embedding-3-large"


def made(preset: ConfigDict, changes: dict[str, Any] | None = None) -> Config:
    """The settings of a preset, some changed by full name."""
    return Config.make(preset.to_dict()).changed(changes or {})


def tiny(config: Config, steps: int) -> Config:
    """The settings as a run of a few seconds."""
    return config.changed(
        {
            "data.length": LENGTH,
            "model.width": 16,
            "model.depth": 1,
            "train.steps": steps,
            "train.batch": 16,
            "train.warmup": 2,
            "train.chunk": steps,
            "train.ema": 0.9,
            "sample.steps": 4,
            "sample.batch": 16,
        }
    )


def command(*arguments: str) -> int:
    """Runs the command in this process; returns its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "cache_programs", lambda: None)
        main.flags.FLAGS.unparse_flags()
        try:
            return main.main(main.parse(["main", *arguments]))
        except SystemExit as stop:
            return stop.code


def service(text: str) -> list[float]:
    """The vector that the service of these tests gives a text, as its file holds it."""
    return [round(float(value), 6) for value in Hashed(width=128).encode([text])[0]]


def settings(path, **text) -> Config:
    """The settings of a file of TSFragment's kind."""
    changes = {"data.path": str(path), "sample.steps": 4, "sample.batch": 16}
    changes |= {f"text.{name}": value for name, value in text.items()}
    return made(text_config.get_config("source=tsfragment,size=tiny"), changes)


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
