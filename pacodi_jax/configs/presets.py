"""The settings for a source: those of its preset, or those of a table for the user's own file."""

from collections.abc import Mapping
from pathlib import Path

from pacodi_jax.configs import loader
from pacodi_jax.errors import PacodiError, nearest
from pacodi_jax.settings import Config


def config_of(source: str, arguments: Mapping[str, str | None]) -> Config:
    """The settings of a preset such as ``etth1``, or of the table in a file.

    Args:
      source: a name of :func:`loader.names`, a config file, or the path of a table.
      arguments: of the preset, such as ``{"model": "temporal"}``; None leaves one out.

    Raises:
      PacodiError: if the source is neither.
    """
    given = ",".join(f"{name}={value}" for name, value in arguments.items() if value is not None)
    path = Path(source).expanduser()
    if source in loader.names() or source.endswith(".py"):
        return Config.make(loader.load(f"{source}:{given}").to_dict())
    if not path.exists():
        known = loader.names()
        raise PacodiError(
            f"there is no file {source!r}, and no preset of that name; known: "
            f"{', '.join(known)}.{nearest(source, known)}"
        )
    table = Config.make(loader.load(f"table:{given}").to_dict())
    return table.changed({"data.path": str(path)})
