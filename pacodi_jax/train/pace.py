"""How many steps go into one dispatch."""

#: Steps that are timed before the length of a chunk is chosen.
TIMED = 20
#: Seconds a chunk should take: long against the host's work between two, short against patience.
_GOAL = 0.5


def chunk_length(seconds_a_step: float, log_every: int) -> int:
    """Returns how many steps fill half a second: a divisor or a multiple of ``log_every``.

    So chunks end where a line of metrics is due, the host's work between two of them is a small
    part of the time (``idle`` in the metrics says how small), and a signal need not wait long.
    """
    wanted = max(int(_GOAL / max(seconds_a_step, 1e-9)), 1)
    if wanted >= log_every:
        return wanted // log_every * log_every
    return max(n for n in range(1, wanted + 1) if log_every % n == 0)
