"""How every command begins and ends: Ctrl-C and a closed pipe are no tracebacks.

It imports next to nothing, so that Ctrl-C is answered while the rest is being imported.
"""

import contextlib
import importlib
import io
import os
import resource
import signal
import sys
from types import FrameType
from typing import NoReturn

#: What to do about a limit on memory; JAX reserves much more than it uses.
_MORE = "Allow 4 GB or more; beyond that, lower train.batch, sample.batch or model.width."


def run(module: str) -> None:
    """Runs ``command()`` of a module, ends with its exit code."""
    _survive_a_limit()
    _answer_interrupts(_leave)
    for stream in (sys.stdout, sys.stderr):  # a terminal of few letters shows the rest as \\u2026
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    command = importlib.import_module(module).command
    _answer_interrupts(signal.default_int_handler)
    try:
        code = command()
        sys.stdout.flush()
    except SystemExit as stop:
        code = stop.code
    except KeyboardInterrupt:
        _answer_interrupts(signal.SIG_IGN)
        print("error: interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # the reader has seen enough, as in ``| head``
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    if code:
        _leave_now(code)
    sys.exit(code)


def _survive_a_limit() -> None:
    """Under ``ulimit -v`` runs the rest in a child, and tells it in one line if that is aborted.

    A thread or a library without memory aborts its process; no handler in it is asked.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or not (child := os.fork()):
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: os.kill(child, number))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if -code in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS):
        told = f"error: out of memory: ulimit -v leaves {limit / 1e9:.3g} GB. {_MORE}\n"
        os.write(2, told.encode())
        code = 2
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _leave_now(code: int | str) -> NoReturn:
    """Ends at once after a mistake: a thread that waits for a failed disk would hold the exit."""
    with contextlib.suppress(OSError):
        if isinstance(code, str):
            print(code, file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def _answer_interrupts(handler: object) -> None:
    """Sets what Ctrl-C does, unless the process was started to ignore it."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]


def _leave(number: int, frame: FrameType | None) -> None:
    """Ends the process at once: some modules swallow KeyboardInterrupt while they are imported."""
    os.write(2, b"error: interrupted\n")
    os._exit(130)
