"""What ends a command in one line: mistakes of the user's, the disk and the memory."""

import errno

from jax.errors import JaxRuntimeError

from pacodi_jax.errors import PacodiError, printable

#: Everything else is a fault of this package and keeps its traceback.
TOLD = (PacodiError, OSError, MemoryError, JaxRuntimeError)
_LESS = "Lower train.batch, sample.batch, model.width or data.length, or use a larger machine."


def told(error: BaseException) -> str | None:
    """The line for an error; None for one that needs its traceback."""
    line = _line(error)
    return None if line is None else printable(line)


def _line(error: BaseException) -> str | None:
    if isinstance(error, PacodiError):
        return str(error)
    if isinstance(error, MemoryError) or _is_out_of_memory(error):
        cause = (str(error).strip().splitlines() or [""])[0][:200]
        return f"out of memory{f' ({cause})' if cause else ''}. {_LESS}"
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        places = " to ".join(str(name) for name in (error.filename, error.filename2) if name)
        reason = error.strerror or str(error) or type(error).__name__
        return f"{places}: {reason}." if places else f"{reason}."
    return None


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(error)
