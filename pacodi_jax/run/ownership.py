"""One command at a time writes into a folder, and never through a link to somewhere else."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pacodi_jax.errors import PacodiError

#: The file whose lock says that a command is at work; the file itself stays.
LOCK = ".lock"
#: The folders that a run makes inside its own.
INSIDE = ("checkpoints", "samples", "scores", "tensorboard")
#: What a file system answers that knows no locks.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Makes a folder and holds it for this process alone.

    The system lets go of the lock when the process ends, however it ends, so a killed command
    leaves nothing to clear away. Where a file system has no locks, nothing is held.

    Raises:
      PacodiError: if it is no folder, cannot be written into, leads elsewhere by a link, or is in
        use by another command.
    """
    is_new = not folder.exists()
    _make(folder)
    _refuse_links(folder)
    handle = _open(folder / LOCK)
    try:
        _hold(handle, folder)
        yield
    finally:
        if is_new:
            _remove_empty(folder)
        os.close(handle)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "it is a file" if folder.is_file() else error.strerror
        if folder.is_symlink():
            reason = f"it is a symbolic link to {os.readlink(folder)}, which is no folder"
        raise PacodiError(f"{folder} is no folder to write into: {reason}.") from error


def _remove_empty(folder: Path) -> None:
    """Leaves no folder behind that a refused command made and wrote nothing into."""
    with suppress(OSError):
        if os.listdir(folder) == [LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()


def _refuse_links(folder: Path) -> None:
    """Refuses links, and files where folders belong, at the places that a run writes to."""
    checkpoints = folder / "checkpoints"
    steps = checkpoints.iterdir() if checkpoints.is_dir() else ()
    for place in (*(folder / name for name in INSIDE), folder / "metrics.jsonl", *steps):
        if place.is_symlink():
            raise PacodiError(
                f"{place} is a symbolic link to {os.readlink(place)}, and a run writes into its "
                "own folder only. Put what it links to in its place, or use another folder."
            )
    for place in (folder / name for name in INSIDE):
        if place.exists() and not place.is_dir():
            raise PacodiError(f"{place} is a file where a folder belongs; move it away.")


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise PacodiError(f"{path.parent} cannot be written into: {error.strerror}.") from error


def _hold(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()} on {os.uname().nodename}".encode(), 0)
    except BlockingIOError as error:
        owner = os.pread(handle, 200, 0).decode(errors="replace") or "unknown"
        owner = "".join(letter for letter in owner if letter.isprintable())
        raise PacodiError(
            f"{folder} is in use by another command (process {owner}). Wait for it to end, or use "
            "another folder."
        ) from error
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise PacodiError(f"{folder} cannot be locked: {error.strerror}.") from error
