"""Scores text-conditional runs on held-out windows in held-out phrasings, and how well they obey.

    python launch/bench_conditional.py RUN [RUN …] --unconditional=RUN [--out=FILE.json]

Beside each conditional run stand two references: the unconditional run and the mean training
window. Errors are in the model's scale (standardised by train), of the mean of the draws, of single
draws, of the best of them (which looks at the answer), and CRPS; ratios below 1 beat a reference.
``controllability`` asks for one property in five phrasings and measures it by the captioner's own
yardsticks.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pacodi_jax import run
from pacodi_jax.metrics.conditional import best_of_n, crps, mse, wape
from pacodi_jax.text import captions, facts, properties

GUIDANCE = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
KEY = 20_260


class Request(NamedTuple):
    """A property to ask for: two held-out frames, then three free wordings; and its check."""

    phrasings: tuple[str, ...]
    holds: Callable[[np.ndarray, properties.Statistics], bool]


def _direction(wanted: str) -> Callable[[np.ndarray, properties.Statistics], bool]:
    return lambda series, known: properties.trend(series, known).direction == wanted


def _peaks(wanted: int) -> Callable[[np.ndarray, properties.Statistics], bool]:
    return lambda series, known: len(properties.peaks(series, known).places) == wanted


def _volatility(wanted: str) -> Callable[[np.ndarray, properties.Statistics], bool]:
    return lambda series, known: properties.volatility(series, known) == wanted


REQUESTS = {
    "up": Request(
        (
            "Overall the series rises.",
            "The series shows an upward trend.",
            "a clear upward trend",
            "values go up over time",
            "a series that is increasing",
        ),
        _direction("up"),
    ),
    "down": Request(
        (
            "Overall the series falls.",
            "The series shows a downward trend.",
            "a clear downward trend",
            "values go down over time",
            "a series that is decreasing",
        ),
        _direction("down"),
    ),
    "flat": Request(
        (
            "Overall the series stays flat.",
            "The whole series neither rises nor falls.",
            "a flat series with no trend",
            "values stay flat over time",
            "no trend at all",
        ),
        _direction("flat"),
    ),
    "one peak": Request(
        (
            "It shows one peak.",
            "The series has one clear peak in the middle.",
            "a series with one peak",
            "just one peak",
            "one clear peak around the middle",
        ),
        _peaks(1),
    ),
    "two peaks": Request(
        (
            "It shows two peaks.",
            "The series has two clear peaks early on and late.",
            "a series with two peaks",
            "exactly two peaks",
            "two clear peaks",
        ),
        _peaks(2),
    ),
    "high volatility": Request(
        (
            "It shows high volatility.",
            "The line looks very rough.",
            "a rough series with high volatility",
            "very high volatility",
            "a rough curve",
        ),
        _volatility("high"),
    ),
    "low volatility": Request(
        (
            "It shows low volatility.",
            "The line looks very smooth.",
            "a smooth series with low volatility",
            "very low volatility",
            "a smooth curve",
        ),
        _volatility("low"),
    ),
}


class Exam(NamedTuple):
    """What every run is asked: windows ``(N, L, 1)``, their captions, yardsticks, a reference."""

    windows: np.ndarray
    texts: list[str]
    yardsticks: properties.Statistics
    mean: np.ndarray


def prepare(trained: run.Trained, count: int) -> Exam:
    """Takes ``count`` held-out windows, evenly spread, and words each in a held-out phrasing."""
    config = trained.config.copy_and_resolve_references().unlock()
    config.text.encoder = ""
    dataset = run.load_data(config.lock())
    train = dataset.train.values()
    yardsticks = properties.fit(train[:, :, 0])
    rows = np.linspace(0, len(dataset.held_out) - 1, count).astype(int)
    windows = dataset.held_out.take(np.unique(rows))
    texts = [
        captions.word(
            facts.measure(window[:, 0], yardsticks), seed, split="held_out", detail="full"
        )
        for seed, window in enumerate(windows)
    ]
    return Exam(windows, texts, yardsticks, train.mean(axis=0))


def guided(trained: run.Trained, guidance: float) -> run.Trained:
    """The same model under another guidance scale."""
    sampler = trained.generator.sampler._replace(guidance=guidance)
    return replace(trained, generator=replace(trained.generator, sampler=sampler))


def draw(
    trained: run.Trained, windows: np.ndarray, draws: int, conditions: np.ndarray | None
) -> np.ndarray:
    """Draws ``(draws, N, L, 1)``; under ``oracle`` with the level and scale of ``windows``."""
    borrowed = None
    if trained.config.diffusion.statistics == "oracle":
        real = jax.vmap(trained.generator.statistics.real)(jnp.asarray(windows))
        borrowed = tuple(jnp.tile(value, (draws, 1)) for value in real)
    given = None if conditions is None else jnp.tile(jnp.asarray(conditions), (draws, 1))
    count = draws * len(windows)
    made = trained.generator.sample(
        jax.random.key(KEY), trained.params, count, given, borrowed=borrowed
    )
    return np.asarray(made).reshape(draws, *windows.shape)


def errors(windows: np.ndarray, draws: np.ndarray) -> dict[str, float]:
    """Errors of the draws' mean, of single draws, of the best one, and CRPS."""
    best = best_of_n(windows, draws)
    return {
        "mse": mse(windows, draws.mean(axis=0)),
        "wape": wape(windows, draws.mean(axis=0)),
        "mse_single": float(np.mean([mse(windows, one) for one in draws])),
        "wape_single": float(np.mean([wape(windows, one) for one in draws])),
        "mse_best": mse(windows, best),
        "wape_best": wape(windows, best),
        "crps": crps(windows, draws),
    }


def score(
    trained: run.Trained, exam: Exam, scales: list[float], draws: int, references: dict
) -> dict[str, Any]:
    """Errors at every guidance scale, with the ratios of the mean of the draws to references."""
    conditions = trained.encoder().encode(exam.texts)
    table = {}
    for scale in scales:
        found = errors(exam.windows, draw(guided(trained, scale), exam.windows, draws, conditions))
        for name, reference in references.items():
            for kind in ("mse", "wape"):
                found[f"{kind}_to_{name}"] = found[kind] / reference[kind]
        table[f"{scale:g}"] = found
        show(f"guidance {scale:g}", found)
    return table


def control(trained: run.Trained, exam: Exam, scales: list[float], count: int) -> dict[str, Any]:
    """How often draws have the property asked for: of all, and for each phrasing."""
    encoder = trained.encoder()
    asked = [encoder.encode(request.phrasings) for request in REQUESTS.values()]
    turns = [np.arange(count) % len(vectors) for vectors in asked]
    conditions = np.concatenate([v[turn] for v, turn in zip(asked, turns, strict=True)])
    table: dict[str, Any] = {}
    for scale in (scale for scale in scales if scale >= 1):
        model = guided(trained, scale)
        made = model.sample_scaled(jax.random.key(KEY + 1), len(conditions), conditions)
        parts = made[:, :, 0].reshape(len(REQUESTS), count, -1)
        table[f"{scale:g}"] = rates = {}
        for (name, request), turn, part in zip(REQUESTS.items(), turns, parts, strict=True):
            kept = np.array([request.holds(one, exam.yardsticks) for one in part])
            each = [float(kept[turn == row].mean()) for row in range(len(request.phrasings))]
            rates[name] = {"agree": float(kept.mean()), "phrasings": each}
        told = "  ".join(f"{name} {rate['agree']:.2f}" for name, rate in rates.items())
        print(f"  controllability at guidance {scale:g}: {told}", flush=True)
    return table


def base_rates(windows: np.ndarray, yardsticks: properties.Statistics) -> dict[str, float]:
    """How often windows ``(N, L, 1)`` have each property without being asked."""
    return {
        name: float(np.mean([request.holds(one, yardsticks) for one in windows[:, :, 0]]))
        for name, request in REQUESTS.items()
    }


def show(name: str, found: dict[str, float]) -> None:
    """Prints one line."""
    told = "  ".join(f"{key} {value:.3f}" for key, value in found.items())
    print(f"  {name:14s} {told}", flush=True)


def facts_of(trained: run.Trained) -> dict[str, Any]:
    """What tells one run from another."""
    config, card = trained.config, trained.card
    return {
        "variant": config.diffusion.variant,
        "label": trained.label or f"statistics={card['statistics']}",
        "encoder": card["encoder"],
        "steps": card["steps"],
        "batch": config.train.batch,
        "width": config.model.width,
        "depth": config.model.depth,
        "phrasings": config.text.phrasings,
        "seed": card["seed"],
        "sampler": f"{config.sample.solver}, {config.sample.steps} steps",
    }


def main() -> None:
    """Scores the runs that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--unconditional", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--guidance", nargs="+", type=float, default=list(GUIDANCE))
    parser.add_argument("--windows", type=int, default=400)
    parser.add_argument("--draws", type=int, default=16)
    parser.add_argument("--requests", type=int, default=200, help="draws a property")
    asked = parser.parse_args()
    free = run.load(asked.unconditional)
    exam = prepare(free, asked.windows)
    drawn = draw(free, exam.windows, asked.draws, None)
    mean = np.broadcast_to(exam.mean, (asked.draws, *exam.windows.shape))
    references = {
        "unconditional": errors(exam.windows, drawn),
        "train_mean": errors(exam.windows, mean),
    }
    rates = base_rates(drawn.reshape(-1, *exam.windows.shape[1:])[:2000], exam.yardsticks)
    print(f"{len(exam.windows)} held-out windows, {asked.draws} draws each")
    for name, found in references.items():
        show(name, found)
    found = {
        "windows": len(exam.windows),
        "draws": asked.draws,
        "references": references,
        "unconditional": facts_of(free),
        "base_rates": rates,
        "runs": {},
    }
    for folder in asked.runs:
        trained = run.load(folder)
        print(f"{folder.name}: {facts_of(trained)}", flush=True)
        found["runs"][folder.name] = {
            **facts_of(trained),
            "guidance": score(trained, exam, asked.guidance, asked.draws, references),
            "controllability": control(trained, exam, asked.guidance, asked.requests),
        }
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        rounded = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 4))
        asked.out.write_text(json.dumps(rounded, indent=1) + "\n")


if __name__ == "__main__":
    main()
