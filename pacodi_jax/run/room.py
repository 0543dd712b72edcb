"""An early refusal of what memory will not hold."""

import jax

from pacodi_jax.errors import PacodiError
from pacodi_jax.memory import available


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


def require_on_device(held: int, added: int, what: str) -> None:
    """Refuses a compiled program that a device cannot hold, before it first runs.

    Args:
      held: bytes that it is given, which lie on the device already.
      added: bytes that it takes beside them.
      what: needs them, to begin a sentence.

    Raises:
      PacodiError: with both sizes.
    """
    advice = "Lower train.batch, model.width or data.length, or set model.remat=True."
    told = jax.local_devices()[0].memory_stats()
    if not told or "bytes_limit" not in told:
        require(added * jax.local_device_count(), what, advice)
        return
    needed, there = held + added, int(told["bytes_limit"])
    if needed > there:
        raise PacodiError(
            f"{what}: that takes {_size(needed)} on each device, which has {_size(there)}. {advice}"
        )


def of_device() -> int | None:
    """Bytes of one device; of a CPU that stands for several, its share of what is free here."""
    told = jax.local_devices()[0].memory_stats()
    if told and "bytes_limit" in told:
        return int(told["bytes_limit"])
    free = available()
    return None if free is None else free // jax.local_device_count()


def _size(size: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000  # type: ignore[assignment]
    return f"{size:,.3g} TB" if size < 1000 else f"{size:,.0f} TB"
