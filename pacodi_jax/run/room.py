"""Memory: what is free here, and an early refusal of what will not fit."""

import resource
from pathlib import Path

import jax

from pacodi_jax.errors import PacodiError

_GROUP = Path("/sys/fs/cgroup")


def require(needed: int, what: str, advice: str) -> None:
    """Refuses work that needs more memory than is free.

    Args:
      needed: bytes that it takes at the least.
      what: needs them, to begin a sentence.
      advice: what to do instead.

    Raises:
      PacodiError: with both sizes.
    """
    free = available()
    if free is not None and needed > free:
        raise PacodiError(
            f"{what}: that takes {_size(needed)} of memory or more, and {_size(free)} are free "
            f"here. {advice}"
        )


def require_windows(count: int, length: int, channels: int) -> None:
    """Refuses more windows than memory holds: in blocks, joined, and in the user's units."""
    require(
        count * length * channels * (4 + 4 + 8),
        f"{count:,} windows at once",
        "Draw fewer at a time, each time with another seed.",
    )


def available() -> int | None:
    """Bytes that this process may still take: of the machine, its group and its own limit."""
    free = [_of_machine(), _of_group(), _of_process()]
    return max(min(size for size in free if size is not None), 0) if any(free) else None


def of_device() -> int | None:
    """Bytes of one device; of a CPU that stands for several, its share of what is free here."""
    told = jax.local_devices()[0].memory_stats()
    if told and "bytes_limit" in told:
        return int(told["bytes_limit"])
    free = available()
    return None if free is None else free // jax.local_device_count()


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


def _size(size: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000  # type: ignore[assignment]
    return f"{size:,.3g} TB" if size < 1000 else f"{size:,.0f} TB"
