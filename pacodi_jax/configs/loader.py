"""Finds and loads a preset: the user's file, or the packaged one of that name."""

import importlib
import importlib.util
import pkgutil
from pathlib import Path
from types import ModuleType

from ml_collections import ConfigDict

from pacodi_jax import configs
from pacodi_jax.errors import PacodiError, nearest

_SHARED = ("arguments", "common", "loader", "presets")


def names() -> list[str]:
    """The packaged presets."""
    return sorted(m.name for m in pkgutil.iter_modules(configs.__path__) if m.name not in _SHARED)


def load(spec: str) -> ConfigDict:
    """Loads the settings of ``FILE.py``, ``FILE.py:ARGUMENTS``, ``NAME`` or ``NAME:ARGUMENTS``.

    A file that is there is run. One that is not there but is called ``configs/NAME.py``, as in a
    clone, stands for the packaged preset NAME.

    Raises:
      PacodiError: if there is neither, the file has no ``get_config``, or what it runs fails.
    """
    try:
        return _load(spec)
    except PacodiError:
        raise
    except Exception as error:
        told = " ".join(str(error).split())
        raise PacodiError(f"config {spec}: {type(error).__name__}: {told}") from error


def _load(spec: str) -> ConfigDict:
    path, arguments = _split(spec)
    module = _module(path)
    if not hasattr(module, "get_config"):
        raise PacodiError(f"{path} has no function get_config() that returns the settings.")
    found = module.get_config(arguments) if arguments else module.get_config()
    if not isinstance(found, ConfigDict):
        raise PacodiError(f"get_config() of {path} returned {type(found).__name__}, no ConfigDict.")
    return found.lock()


def _split(spec: str) -> tuple[str, str]:
    """The file and what follows its colon; a file name may hold colons before ``.py``."""
    head, ending, rest = spec.partition(".py:")
    if ending:
        return f"{head}.py", rest
    if spec.endswith(".py"):
        return spec, ""
    head, _, rest = spec.partition(":")
    return head, rest


def _module(path: str) -> ModuleType:
    file = Path(path)
    if file.is_file():
        spec = importlib.util.spec_from_file_location(f"pacodi_config_{file.stem}", file)
        if spec is None or spec.loader is None:
            raise PacodiError(f"{path} is not a Python file.")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    name = file.name.removesuffix(".py")
    if name in names() and str(file.parent) in (".", "configs"):
        return importlib.import_module(f"pacodi_jax.configs.{name}")
    raise PacodiError(
        f"there is no config {path!r}: no such file, and the packaged presets are "
        f"{', '.join(names())}.{nearest(name, names())}"
    )
