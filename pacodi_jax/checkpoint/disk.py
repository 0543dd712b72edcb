"""An early check for free disk space."""

import errno
import os
import tempfile
from pathlib import Path

from pacodi_jax.errors import PacodiError


def require_room(folder: Path, size: int) -> None:
    """Reserves and frees ``size`` bytes in ``folder``, so that a full disk shows at once.

    Quotas and file size limits show as well, which the free space of the disk does not tell.

    Raises:
      PacodiError: if there is no room.
    """
    try:
        with tempfile.TemporaryFile(dir=folder, prefix=".room.") as file:
            os.posix_fallocate(file.fileno(), 0, max(size, 1))
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):
            return
        raise PacodiError(
            f"no room for a checkpoint of {size / 1e6:.1f} MB in {folder}: {error.strerror}. "
            "Earlier checkpoints are intact; make room and run the same command again."
        ) from error
