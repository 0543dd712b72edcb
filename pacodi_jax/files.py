"""Files that are written whole or not at all, and the folder of what is kept between runs."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs

from pacodi_jax.errors import PacodiError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a new, empty neighbour of ``path`` that takes its place once it is written.

    The neighbour is created exclusively under a random name, so a planted link is never followed.
    If writing fails, it is removed and ``path`` stays as it was.

    Raises:
      PacodiError: if the file cannot be written, with the system's reason.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:64]}.")
        temporary = Path(name)
        os.close(handle)
        yield temporary
        temporary.chmod(0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise PacodiError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def write(path: Path, save: Callable[[Path], object]) -> Path:
    """Writes a file whole or not at all: ``save`` is given the name to write to."""
    with replacing(path) as temporary:
        save(temporary)
    return path


def write_text(path: Path, text: str) -> Path:
    """Writes a text as UTF-8, whole or not at all; bytes that are no text become ``\\udc…``."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path


def cache_folder(*parts: str) -> Path:
    """The user's cache folder of this package, or a folder in it; not made here.

    ``$XDG_CACHE_HOME/pacodi_jax`` where that is set, else what the platform uses.
    """
    root = os.environ.get("XDG_CACHE_HOME") or platformdirs.user_cache_dir()
    return Path(root, "pacodi_jax", *parts)
