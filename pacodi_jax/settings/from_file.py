"""Settings as a run wrote them, this version's or an earlier one's."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pacodi_jax.errors import PacodiError
from pacodi_jax.settings.together import Config

#: Sections without which a mapping is not the settings of a run.
_NEEDED = ("data", "model", "train")
#: Settings of the data that runs of version 0.1 had not, as they were.
EARLIER = {"bounds": "none", "calendar": "off", "block": 0, "stream": "off"}


def stored(values: Mapping[str, Any]) -> Config:
    """The settings of a run as it wrote them; what its version had no setting for was off."""
    return Config.make({**values, "data": EARLIER | values.get("data", {})})


def read(path: Path) -> Config:
    """Reads the settings in ``config.json`` of a run.

    Raises:
      PacodiError: if the file is not one.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict):
            raise ValueError("it does not hold settings by section")
        lacking = [name for name in _NEEDED if not isinstance(values.get(name), dict)]
        if lacking:
            raise ValueError(f"it has no section {lacking[0]!r} of settings")
        return stored(values)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise PacodiError(f"{path} cannot be read: {error}") from error
