"""A cache of a chat model's replies on disk, so that a stopped run can be resumed."""

import json
from pathlib import Path

from pacodi_jax.errors import PacodiError


class Replies:
    """Replies by request, one JSON line each; damaged or incomplete lines are skipped.

    Raises:
      PacodiError: if the file cannot be read, made or extended.
    """

    def __init__(self, path: Path):
        self._path = path
        self._replies: dict[str, str] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            held = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise self._unusable(error) from None
        self._cut_short = bool(held) and not held.endswith(b"\n")
        for line in held.splitlines():
            try:
                entry = json.loads(line)
                self._replies[entry["key"]] = str(entry["reply"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue

    def _unusable(self, error: OSError) -> PacodiError:
        return PacodiError(
            f"cache={str(self._path)!r} cannot be used ({error.strerror or error}); name a file of "
            "JSON lines in a folder that you may write to."
        )

    def get(self, key: str) -> str | None:
        """Returns the reply to a request, or None if there is none."""
        return self._replies.get(key)

    def put(self, key: str, reply: str) -> None:
        """Appends the reply to a request."""
        self._replies[key] = reply
        line = json.dumps({"key": key, "reply": reply})
        try:
            with self._path.open("a") as file:
                file.write("\n" * self._cut_short + line + "\n")
        except OSError as error:
            raise self._unusable(error) from None
        self._cut_short = False
