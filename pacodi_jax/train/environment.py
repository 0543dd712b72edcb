"""Where a run happened: versions, devices, commit, seed and the fingerprint of its data."""

import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

_PACKAGES = ("pacodi-jax", "jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "numpy")


def commit() -> str | None:
    """Returns the git commit of this code, with ``+`` if files were changed, or None."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
        dirty = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True)
    except OSError:
        return None
    return head.stdout.strip() + ("+" if dirty.stdout else "") if head.returncode == 0 else None


def describe(seed: int, data: str) -> dict[str, Any]:
    """Returns what ``environment.json`` says.

    Args:
      seed: the seed of the run.
      data: the fingerprint of its training data.
    """
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: metadata.version(name) for name in _PACKAGES},
        "commit": commit(),
        "command": sys.argv,
        "devices": [str(device) for device in jax.devices()],
        "device_kind": jax.devices()[0].device_kind,
        "processes": jax.process_count(),
        "seed": seed,
        "data": data,
    }
