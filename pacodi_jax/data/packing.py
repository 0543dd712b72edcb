"""Unpacking with a limit: what claims to grow a thousandfold is refused before it does."""

import zlib
from pathlib import Path

from pacodi_jax.errors import PacodiError

#: What a compressed file may unpack to: ``ALLOWANCE + RATIO`` times its size on disk.
RATIO = 250
ALLOWANCE = 1 << 20


def check_ratio(where: str, claimed: int, stored: int, allowance: int = ALLOWANCE) -> None:
    """Refuses what claims to unpack to far more than the ``stored`` bytes it is packed in."""
    if claimed > allowance + RATIO * stored:
        raise PacodiError(
            f"{where} claims to unpack to {claimed:,} bytes from {stored:,}: more than "
            f"{RATIO} to 1, refused as a decompression bomb"
        )


def gunzip(path: Path) -> bytes:
    """Unpacks a gzip file piece by piece and stops as soon as it grows beyond the ratio."""
    stored = path.stat().st_size
    parts: list[bytes] = []
    total = 0
    try:
        rest = path.read_bytes()
        while rest:
            member = zlib.decompressobj(wbits=31)
            while not member.eof:
                piece = member.decompress(rest, 1 << 20)
                if not piece and not member.eof:
                    raise PacodiError(f"{path} is truncated: its gzip stream has no end")
                total += len(piece)
                check_ratio(str(path), total, stored)
                parts.append(piece)
                rest = member.unconsumed_tail
            rest = member.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise PacodiError(f"{path} is not a readable gzip file: {error}") from error
    return b"".join(parts)
