"""Scores a chat model that is given only the captions, on the windows of bench_conditional.py.

    python benchmarks/bench_chat.py RUN_OR_SOURCE --url=http://localhost:8000/v1 \
        --model=llama-3.1-8b --cache=replies.jsonl [--windows=400] [--out=FILE.json]

RUN_OR_SOURCE is the folder of a run, whose data are asked for, or what configs/text.py takes as a
source, with further arguments of that config: ``etth1`` or ``etth1,length=64``. The service speaks
OpenAI's protocol; its key, if it needs one, is read from OPENAI_API_KEY.

One answer per window. Errors are in the model's scale (standardised by train) and over the windows
whose answers could be used; they are also given relative to the mean training window on the same
windows. Read them beside the number of answers. Replies are cached as they come: after a stop, the
same command asks only for what is missing.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from exam import Exam, errors, prepare, ratios, show, write

from pacodi_jax import settings as run_settings
from pacodi_jax.configs import text as text_config
from pacodi_jax.errors import PacodiError
from pacodi_jax.report.progress import progress_bar
from pacodi_jax.run import folder
from pacodi_jax.settings import Config
from pacodi_jax.text import chat
from pacodi_jax.text.service import Service

#: With one answer per window, the best, a single and the mean answer are the same.
_KINDS = ("mse", "wape", "crps")
_SHOWN = 5


def settings(name: str) -> Config:
    """The settings of a run's folder, or of configs/text.py for a source."""
    stored = Path(name) / folder.SETTINGS
    if stored.is_file():
        return run_settings.read(stored)
    if Path(name).exists() or "/" in name:
        raise PacodiError(f"{name} is not the folder of a run: {stored} is not there.")
    return Config.make(text_config.get_config(f"source={name}").to_dict())


def ask(exam: Exam, service: Service, model: str, cache: Path) -> chat.Answers:
    """Asks for every window of the exam by its caption."""
    length, channels = exam.windows.shape[1:]
    if channels != 1:
        raise PacodiError(f"texts describe one channel, and the data has {channels}.")
    low, high = exam.usual
    baseline = chat.Chat(
        service=service, model=model, length=length, low=low, high=high, cache=cache
    )
    with progress_bar("asking", "text") as progress:
        return baseline.draw(exam.texts, progress)


def score(exam: Exam, answers: chat.Answers) -> dict[str, Any]:
    """Errors over the usable answers, and the mean training window's on the same windows.

    Raises:
      PacodiError: if the windows have another shape than the answers, or no answer was usable.
    """
    if exam.windows.shape[:2] != answers.series.shape:
        raise PacodiError(
            f"the windows have shape {exam.windows.shape[:2]}, the answers "
            f"{answers.series.shape}; score the windows whose captions were sent."
        )
    usable = answers.usable
    if not usable.any():
        raise PacodiError(
            f"none of {len(usable)} replies was usable; the first failed for: "
            f"{answers.failures[0].reason if answers.failures else 'nothing was asked'}."
        )
    windows = exam.windows[usable]
    mean = errors(windows, np.broadcast_to(exam.mean, (1, *windows.shape)))
    found = errors(windows, answers.series[usable][None, ..., None])
    return {
        "answered": int(usable.sum()),
        "asked": len(usable),
        "references": {"train_mean": {kind: mean[kind] for kind in _KINDS}},
        "errors": {kind: found[kind] for kind in _KINDS} | ratios(found, {"train_mean": mean}),
    }


def tell(found: dict[str, Any], answers: chat.Answers) -> None:
    """Prints the scores, and why some answers were unusable."""
    print(f"{found['answered']} of {found['asked']} held-out windows answered")
    for number, reason in answers.failures[:_SHOWN]:
        print(f"  window {number}: {reason}")
    if len(answers.failures) > _SHOWN:
        print(f"  and {len(answers.failures) - _SHOWN} more")
    show("train_mean", found["references"]["train_mean"])
    show("chat", found["errors"])


def main(arguments: list[str]) -> int:
    """Scores the model that the command line names; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", metavar="RUN_OR_SOURCE")
    parser.add_argument("--url", required=True, help="the service, up to /chat/completions")
    parser.add_argument("--model", required=True, help="the model's name there")
    parser.add_argument("--cache", type=Path, required=True, help="replies, as JSON lines")
    parser.add_argument("--windows", type=int, default=400)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for one answer")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    if asked.windows < 1:
        parser.error(f"--windows={asked.windows}; accepted: 1, 2, 3, …")
    try:
        exam = prepare(settings(asked.source), asked.windows)
        service = Service(asked.url, timeout=asked.timeout)
        answers = ask(exam, service, asked.model, asked.cache)
        found = score(exam, answers)
    except PacodiError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"stopped; run the same again to go on from {asked.cache}", file=sys.stderr)
        return 130
    tell(found, answers)
    if asked.out:
        failures = [failure._asdict() for failure in answers.failures]
        facts = {"model": asked.model, "source": asked.source, "usual": list(exam.usual)}
        write(asked.out, {**facts, **found, "failures": failures})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
