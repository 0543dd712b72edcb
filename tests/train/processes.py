"""Training processes that tests start, listen to, and end."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: No test waits longer for a process than this; it is a limit, not a measurement.
LIMIT = 240


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Process:
    """One process over ``script`` and what it says."""

    def __init__(
        self,
        cache: Path,
        *arguments: object,
        devices: int = 1,
        script: str = "worker.py",
        **environ: object,
    ):
        self.errors = cache / f"stderr-{os.urandom(4).hex()}"
        settings = {
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
            "NPROC": 16,
            "JAX_PLATFORMS": "cpu",
            "JAX_COMPILATION_CACHE_DIR": cache / "programs",
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": 0,
            **environ,
        }
        with self.errors.open("w") as errors:
            self.popen = subprocess.Popen(
                [sys.executable, str(HERE / script), *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | {name: str(value) for name, value in settings.items()},
            )

    def until(self, line: str) -> None:
        """Reads what the worker says up to ``line``."""
        for said in self.popen.stdout:
            if said.strip() == line:
                return
        raise AssertionError(f"never said {line!r}; {self.errors.read_text()[-2000:]}")

    def send(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def kill_after(self, seconds: float) -> None:
        """Kills the process unless it ends by itself before."""
        try:
            self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait(LIMIT)

    def end(self) -> int:
        """Waits for the end; returns the exit code."""
        self.rest = self.popen.communicate(timeout=LIMIT)[0]
        return self.popen.returncode

    def report(self) -> dict:
        """Waits for a good end; returns what the worker reported."""
        code = self.end()
        assert code == 0, f"exit {code}; {self.errors.read_text()[-2000:]}"
        return json.loads(self.rest.strip().splitlines()[-1])

    def complaint(self) -> str:
        return self.errors.read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.popen.kill()
        self.popen.communicate()


class Pair:
    """Two workers of two devices each, over loopback."""

    def __init__(self, cache: Path, *arguments: object):
        port = free_port()
        self.both = [
            Process(
                cache,
                *arguments,
                devices=2,
                PACODI_COORDINATOR=f"127.0.0.1:{port}",
                PACODI_PROCESSES=2,
                PACODI_PROCESS=index,
            )
            for index in range(2)
        ]

    def __enter__(self):
        return self.both

    def __exit__(self, *_):
        for process in self.both:
            process.__exit__()
