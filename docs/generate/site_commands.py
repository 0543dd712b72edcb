"""The page of every command, made of what their parsers say."""

import contextlib
import importlib
import io
import os
import re
import sys

from absl import flags

from pacodi_jax.cli import pacodi

INTRODUCTION = """# Commands

What every command says of itself. Each also answers `--help`. A mistake ends in one `error:` line
and exit code 2, and nothing is written.

"""
MAIN = """## python -m pacodi_jax.main

The command for presets, pods and scripts. It takes any setting as `--config.section.name=value`.

"""


def commands_page() -> dict[str, str]:
    """The page by its name."""
    parts = [INTRODUCTION]
    for name, command in pacodi.COMMANDS.items():
        parts.append(f"## pacodi {name}\n\n```text\n{help_of(name, command.module)}\n```\n")
    return {"reference/commands.md": "\n".join([*parts, MAIN + flags_of("pacodi_jax.cli.main")])}


def help_of(name: str, module: str) -> str:
    """What ``pacodi NAME --help`` prints on a screen of 96 columns."""
    before, os.environ["COLUMNS"] = os.environ.get("COLUMNS"), "96"
    stream = io.StringIO()
    try:
        with contextlib.redirect_stdout(stream), contextlib.suppress(SystemExit):
            importlib.import_module(f"pacodi_jax.cli.{module}").main(["--help"], f"pacodi {name}")
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    return stream.getvalue().rstrip()


def flags_of(module: str) -> str:
    """The flags that a module defines, as a table."""
    importlib.import_module(module)
    rows = ["| flag | default | effect |", "|---|---|---|"]
    for flag in flags.FLAGS.get_flags_for_module(sys.modules[module]):
        words = re.sub(r"^<[^>]*>: ", "", flag.help)
        choices = getattr(flag.parser, "enum_values", None)
        if choices:
            words += f" One of {', '.join(f'`{choice}`' for choice in choices)}."
        default = "" if flag.default is None else f"`{flag.default}`"
        rows.append(f"| `--{flag.name}` | {default} | {' '.join(words.split())} |")
    return "\n".join(rows) + "\n"
