"""How much memory is free here."""

import resource
from pathlib import Path

_GROUP = Path("/sys/fs/cgroup")


def available() -> int | None:
    """Bytes that this process may still take: of the machine, its group and its own limit."""
    free = [_of_machine(), _of_group(), _of_process()]
    return max(min(size for size in free if size is not None), 0) if any(free) else None


def _of_machine() -> int | None:
    found = _fields(Path("/proc/meminfo"))
    return found.get("MemAvailable")


def _of_process() -> int | None:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = _fields(Path("/proc/self/status")).get("VmSize")
    return None if limit == resource.RLIM_INFINITY or used is None else limit - used


def _of_group() -> int | None:
    """What a container leaves, where it has a limit."""
    try:
        limit, used = ((_GROUP / name).read_text() for name in ("memory.max", "memory.current"))
        return int(limit) - int(used)
    except (OSError, ValueError):  # no group, or "max"
        return None


def _fields(path: Path) -> dict[str, int]:
    """The sizes in a file of lines such as ``MemAvailable:  123 kB``, in bytes."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    words = [line.replace(":", " ").split() for line in lines]
    return {word[0]: int(word[1]) * 1024 for word in words if word[-1:] == ["kB"]}
