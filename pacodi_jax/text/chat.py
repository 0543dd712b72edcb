"""Zero-shot baseline: a chat model is given the caption and answers with the numbers.

These are the paper's GPT-4o-mini and Llama-3.1-8b rows. Nothing is trained, and any
OpenAI-compatible chat service will do. Every reply is cached, so a stopped run can be resumed.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pacodi_jax.errors import PacodiError
from pacodi_jax.text.encoders.interface import clean_text
from pacodi_jax.text.replies import Replies
from pacodi_jax.text.service import Refusal, Service, post

_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_LARGEST = int(np.finfo(np.float32).max)
_TASK = (
    "You turn a description of a time series into numbers. Reply with a JSON array of exactly "
    "{length} numbers and nothing else."
)
_QUESTION = (
    "Write a time series of {length} equally spaced values. Values usually lie between {low:.4g} "
    "and {high:.4g}. Description: {text}"
)
_TEXT_REFUSED = frozenset({400, 422})  # statuses of content filters
_PATIENCE = 3
_AGAIN = "That was not a JSON array of exactly {length} finite numbers ({reason}). Reply again."


class Failure(NamedTuple):
    """A text whose replies could not be used, and why the last one could not."""

    number: int
    reason: str


class Answers(NamedTuple):
    """Answers of a chat model to N texts: series ``(N, L)``, NaN in the rows of ``failures``."""

    series: np.ndarray
    failures: tuple[Failure, ...]

    @property
    def usable(self) -> np.ndarray:
        """Which texts were answered with usable numbers, bool ``(N,)``."""
        return np.isfinite(self.series).all(axis=1)


def parse(reply: str, length: int) -> np.ndarray:
    """Parses a reply strictly: one JSON array of ``length`` finite numbers, fenced or bare.

    Raises:
      ValueError: saying what the reply was instead.
    """
    fenced = _FENCE.fullmatch(reply.strip())
    try:
        values = json.loads(fenced[1] if fenced else reply)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(values, list):
        raise ValueError("not an array")
    if len(values) != length:
        raise ValueError(f"{len(values)} values")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{json.dumps(value)[:30]} is not a number")
        if not abs(value) <= _LARGEST:
            raise ValueError("a value is not finite")
    return np.array(values, dtype=np.float64)


class _Silence(ValueError):
    """The service refused one text; the message says why."""


class Chat:
    """A chat model as a generator of single-channel series.

    Args:
      service: the address, the variable that holds the key, time-outs and retries.
      model: the model's name there.
      length: L, the number of values to ask for.
      low: lower end of the usual range of values in train, given to the model for the scale.
      high: upper end of that range.
      cache: file of replies (JSON lines); made if missing, extended, never rewritten.
      tries: how often to ask for one text before giving up on unusable replies.
      temperature: of the model's sampling.
    """

    def __init__(
        self,
        *,
        service: Service,
        model: str,
        length: int,
        low: float,
        high: float,
        cache: str | Path,
        tries: int = 2,
        temperature: float = 0.0,
    ):
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise PacodiError(f"chat needs finite low < high, got low={low}, high={high}.")
        self._service, self._model, self._length = service, model, length
        self._low, self._high, self._tries = low, high, tries
        self._temperature = temperature
        self._cache = Replies(Path(cache))
        self._heard = False

    def draw(
        self, texts: Sequence[str], progress: Callable[[int, int, str], None] | None = None
    ) -> Answers:
        """Asks for every text's series; replies in the cache are not asked for again.

        A text that the service refuses (status 400 or 422, or a message without content) is a
        failure of that text.

        Args:
          texts: the captions.
          progress: called after each text with (done, total, how many were unusable).

        Raises:
          PacodiError: if the service fails, or refuses the first three texts; replies so far stay
            in the cache.
        """
        series = np.full((len(texts), self._length), np.nan)
        failures: list[Failure] = []
        for number, text in enumerate(texts):
            try:
                series[number] = self._answer(clean_text(text))
            except PacodiError:
                raise
            except ValueError as error:
                failures.append(Failure(number, str(error)))
            if len(failures) >= _PATIENCE and not self._heard:
                raise PacodiError(
                    f"none of the first {len(failures)} texts was answered, the last for: "
                    f"{failures[-1].reason} Check the service and the model's name."
                )
            if progress is not None:
                progress(number + 1, len(texts), f"{len(failures)} unusable")
        return Answers(series, tuple(failures))

    def _answer(self, text: str) -> np.ndarray:
        """Asks until a reply parses; the model is told what was wrong with the one before."""
        question = _QUESTION.format(length=self._length, low=self._low, high=self._high, text=text)
        messages = [
            {"role": "system", "content": _TASK.format(length=self._length)},
            {"role": "user", "content": question},
        ]
        reason = "never asked"
        for _ in range(self._tries):
            reply = self._reply(messages)
            try:
                return parse(reply, self._length)
            except ValueError as error:
                reason = str(error)
            again = _AGAIN.format(length=self._length, reason=reason)
            messages = [
                *messages,
                {"role": "assistant", "content": reply},
                {"role": "user", "content": again},
            ]
        raise ValueError(reason)

    def _reply(self, messages: list[dict[str, str]]) -> str:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            "temperature": self._temperature,
        }
        key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        reply = self._cache.get(key)
        if reply is None:
            reply = self._ask(body)
            self._cache.put(key, reply)
        self._heard = True
        return reply

    def _ask(self, body: dict[str, Any]) -> str:
        try:
            answer = post(self._service, "/chat/completions", body)
        except Refusal as error:
            if error.status not in _TEXT_REFUSED:
                raise
            raise _Silence(str(error)) from None
        try:
            message = dict(answer["choices"][0]["message"])
        except (KeyError, TypeError, IndexError, ValueError):
            raise PacodiError(
                f"{self._service.url} answered without a message; is it an OpenAI-compatible chat "
                "service?"
            ) from None
        if not isinstance(message.get("content", 0), str | None):
            raise _Silence("the message has no text.")
        return message["content"] or ""  # None if the model refuses
