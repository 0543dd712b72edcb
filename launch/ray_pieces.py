"""Many independent pieces of one command as tasks of a Ray cluster.

    pip install "pacodi-jax[ray]"
    python launch/ray_pieces.py 32 -- pacodi sample RUN -n 1000000 --shard {piece}/{pieces}
    python launch/ray_pieces.py 32 -- python benchmarks/tables.py run --shard {piece}/{pieces}

Ray starts the command once per piece, where it has processors. It starts a piece again whose worker
or machine is lost, or that ends with another code than 0; a user error (2) is not repeated. Folders
must be visible to all machines. RAY_ADDRESS names the cluster; without it Ray starts here.
"""

import argparse
import ctypes
import signal
import subprocess
import sys
from collections.abc import Sequence

USER_ERROR = 2


def filled(command: Sequence[str], piece: int, pieces: int) -> list[str]:
    """The command of one piece."""
    numbers = {"{piece}": str(piece), "{pieces}": str(pieces)}
    return [_replaced(word, numbers) for word in command]


def _replaced(word: str, numbers: dict[str, str]) -> str:
    for name, number in numbers.items():
        word = word.replace(name, number)
    return word


def run(command: Sequence[str], pieces: int, *, processors: float = 1, retries: int = 3) -> int:
    """Runs all pieces; returns the greatest exit code.

    Args:
      command: words, in which ``{piece}`` and ``{pieces}`` stand for the numbers.
      pieces: how many.
      processors: that Ray keeps for each.
      retries: how often a piece is started again.
    """
    import ray

    @ray.remote(num_cpus=processors, max_retries=retries, retry_exceptions=True)
    def start(words: list[str]) -> int:
        code = subprocess.run(words, check=False, preexec_fn=_end_with_parent).returncode
        if code not in (0, USER_ERROR):
            raise RuntimeError(f"ended with {code}: {' '.join(words)}")
        return code

    waiting = [start.remote(filled(command, piece, pieces)) for piece in range(pieces)]
    worst = 0
    for piece, task in enumerate(waiting):
        try:
            code = ray.get(task)
        except ray.exceptions.RayError as error:
            print(f"piece {piece}: {error}", file=sys.stderr)
            code = 1
        worst = max(worst, code)
    return worst


def _end_with_parent() -> None:
    """A piece ends with the worker that started it, else its second start would meet it."""
    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def main() -> int:
    """Parses the command line and runs the pieces."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pieces", type=int)
    parser.add_argument("command", nargs="+", help="after --, with {piece} and {pieces} in it")
    parser.add_argument("--processors", type=float, default=1, help="kept for each piece (1)")
    parser.add_argument("--retries", type=int, default=3, help="of a piece (3)")
    given = parser.parse_args()
    return run(given.command, given.pieces, processors=given.processors, retries=given.retries)


if __name__ == "__main__":
    sys.exit(main())
