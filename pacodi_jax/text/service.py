"""JSON requests to a web service, with time-outs, retries with growing pauses and clear errors."""

import http.client
import json
import math
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pacodi_jax.errors import PacodiError

_CHUNK = 1 << 16
_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LONGEST_PAUSE = 60.0


class Service(NamedTuple):
    """A web service, and how long and how often to try.

    Attributes:
      url: the base address, for example ``https://api.openai.com/v1``.
      key_variable: the environment variable that holds the key; services without keys ignore it.
      timeout: seconds to wait for a connection and for each byte, and for the whole answer.
      attempts: how often to ask before giving up.
      pause: seconds before the second attempt; each further pause doubles, a ``Retry-After`` wins.
      largest: bytes of an answer that are read at most.
      wait: how to wait, replaced in tests.
    """

    url: str
    key_variable: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    attempts: int = 4
    pause: float = 1.0
    largest: int = 1 << 26
    wait: Callable[[float], None] = time.sleep


class Refusal(PacodiError):
    """A status of the service that a retry will not change."""

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status


class _Passing(Exception):
    """A failure that a retry may cure, with the pause that the service asked for."""

    def __init__(self, reason: str, pause: float | None = None):
        super().__init__(reason)
        self.pause = pause


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would send the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Follows nothing."""
        return


def _is_address(url: str) -> bool:
    try:
        address = urlsplit(url)
        whole = bool(address.hostname) and address.port != 0  # a port that is no number raises
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return whole and plain and address.scheme in ("http", "https")


def _request(service: Service, path: str, body: Mapping[str, Any]) -> urllib.request.Request:
    if not _is_address(service.url):
        raise PacodiError(
            f"url={service.url!r} is no web address; give one such as http://localhost:8000/v1."
        )
    headers = {"Content-Type": "application/json", "User-Agent": "pacodi-jax"}
    key = os.environ.get(service.key_variable, "").strip()
    if key:
        if not (key.isascii() and key.isprintable()):
            raise PacodiError(
                f"the environment variable {service.key_variable} holds characters that cannot be "
                "sent; put the key alone there."
            )
        headers["Authorization"] = f"Bearer {key}"
    return urllib.request.Request(
        service.url.rstrip("/") + path, json.dumps(body).encode(), headers, method="POST"
    )


def _read(response: Any, service: Service, deadline: float) -> bytes:
    """Reads an answer in pieces, with limits on its length and on the time it takes."""
    pieces, size = [], 0
    while piece := response.read1(_CHUNK):
        pieces.append(piece)
        size += len(piece)
        if size > service.largest:
            raise PacodiError(f"{service.url} answered with more than {service.largest} bytes.")
        if time.monotonic() > deadline:
            raise _Passing(f"no whole answer within {service.timeout:g} s")
    return b"".join(pieces)


def _seconds(header: str | None) -> float | None:
    try:
        asked = float(header or "")
    except ValueError:
        return None
    return None if math.isnan(asked) else min(max(asked, 0.0), _LONGEST_PAUSE)


def _refusal(service: Service, error: urllib.error.HTTPError) -> Exception:
    """The error of a status: passing if a retry may cure it, else a refusal."""
    try:
        said = error.read(500).decode(errors="replace").strip()
    except OSError:
        said = ""
    reason = f"status {error.code}{': ' + ' '.join(said.split()) if said else ''}"
    if error.code in _TRY_AGAIN:
        return _Passing(reason, _seconds(error.headers.get("Retry-After")))
    hint = {
        401: f" Put a valid key in the environment variable {service.key_variable}.",
        403: f" The key in {service.key_variable} may not use this.",
        404: " Check the url and the model's name.",
    }.get(error.code, "")
    return Refusal(f"{service.url} refused: {reason}.{hint}", error.code)


def _attempt(service: Service, request: urllib.request.Request) -> Any:
    deadline = time.monotonic() + service.timeout
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=service.timeout) as response:
            return json.loads(_read(response, service, deadline))
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(service, error) from None
    except TimeoutError:
        raise _Passing(f"no answer within {service.timeout:g} s") from None
    except urllib.error.URLError as error:
        raise _Passing(f"no connection ({error.reason})") from None
    except PacodiError:
        raise
    except (ValueError, RecursionError):
        raise _Passing("the answer is not JSON") from None
    except (OSError, http.client.HTTPException) as error:
        raise _Passing(f"the connection broke ({error})") from None


def post(service: Service, path: str, body: Mapping[str, Any]) -> Any:
    """Posts ``body`` to ``service.url + path`` and returns the parsed answer.

    Time-outs, broken connections, answers that are not JSON and the statuses 408, 409, 425, 429 and
    5xx are tried again; redirects are not followed and the key appears in no message.

    Raises:
      PacodiError: for a bad address, a refusal (``Refusal``), or when every attempt failed.
    """
    request = _request(service, path, body)
    reason = "it was never asked"
    for attempt in range(service.attempts):
        try:
            return _attempt(service, request)
        except _Passing as failure:
            reason, asked = str(failure), failure.pause
        if attempt + 1 < service.attempts:
            pause = min(service.pause * 2.0**attempt, _LONGEST_PAUSE)
            service.wait(pause if asked is None else asked)
    raise PacodiError(
        f"{service.url} failed {service.attempts} times, at last: {reason}. Check that it runs and "
        "can be reached, then run this again."
    )
