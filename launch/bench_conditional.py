"""Scores text-conditional runs on held-out windows in held-out phrasings, and how well they obey.

    python launch/bench_conditional.py RUN [RUN …] --unconditional=RUN [--out=FILE.json]

Beside each conditional run stand two references: the unconditional run and the mean training
window. Errors are in the model's scale (standardised by train), of the mean of the draws, of single
draws, of the best of them (which looks at the answer), and CRPS; ratios below 1 beat a reference.
``controllability`` asks for a property, in five held-out phrasings and in free words, and measures
it by the captioner's own yardsticks.
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
    """A property to ask for: in the captioner's held-out phrasings, in free words; its check."""

    phrasings: tuple[str, ...]
    free: tuple[str, ...]
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
            "The data show an upward trend.",
            "The series shows a strong rise.",
            "This series rises throughout.",
            "The whole series goes up.",
            "This series increases strongly throughout.",
        ),
        ("a clear upward trend", "values go up over time", "a series that is increasing"),
        _direction("up"),
    ),
    "down": Request(
        (
            "The data show a downward trend.",
            "The series shows a strong decline.",
            "This series falls throughout.",
            "The whole series goes down.",
            "This series decreases strongly throughout.",
        ),
        ("a clear downward trend", "values go down over time", "a series that is decreasing"),
        _direction("down"),
    ),
    "flat": Request(
        (
            "The data show no trend.",
            "The series shows a flat course.",
            "This series stays flat throughout.",
            "The whole series neither rises nor falls.",
            "The series shows a flat trend.",
        ),
        ("a flat series with no trend", "values stay flat over time", "no trend at all"),
        _direction("flat"),
    ),
    "one peak": Request(
        (
            "It shows one peak.",
            "The series has one clear peak.",
            "It shows one peak in the middle.",
            "The series has one clear peak early on.",
            "It shows one peak late.",
        ),
        ("a series with one peak", "just one peak", "a single peak around the middle"),
        _peaks(1),
    ),
    "two peaks": Request(
        (
            "It shows two peaks.",
            "The series has two clear peaks.",
            "It shows two peaks early on and late.",
            "The series has two clear peaks early and towards the end.",
            "It shows two peaks early on and after the middle.",
        ),
        ("a series with two peaks", "exactly two peaks", "peaks twice"),
        _peaks(2),
    ),
    "high volatility": Request(
        (
            "It shows high volatility.",
            "The data have very high volatility.",
            "The line looks rough.",
            "It looks like a very rough curve.",
            "It shows very high volatility.",
        ),
        ("a rough series with high volatility", "volatile", "a jagged line"),
        _volatility("high"),
    ),
    "low volatility": Request(
        (
            "It shows low volatility.",
            "The data have very low volatility.",
            "The line looks smooth.",
            "It looks like a very smooth curve.",
            "It shows very low volatility.",
        ),
        ("a smooth series with low volatility", "not volatile", "a calm, smooth line"),
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
    """How often draws have the property asked for: ``count`` draws in each kind of words."""
    asked = [(n, k, getattr(REQUESTS[n], k)) for n in REQUESTS for k in ("phrasings", "free")]
    encoder = trained.encoder()
    turns = [np.arange(count) % len(texts) for *_, texts in asked]
    vectors = [encoder.encode(t)[turn] for (*_, t), turn in zip(asked, turns, strict=True)]
    table: dict[str, Any] = {}
    for scale in (scale for scale in scales if scale >= 1):
        made = guided(trained, scale).sample_scaled(
            jax.random.key(KEY + 1), count * len(asked), np.concatenate(vectors)
        )
        table[f"{scale:g}"] = rates = {name: {} for name in REQUESTS}
        parts = made[:, :, 0].reshape(len(asked), count, -1)
        for (name, kind, texts), turn, part in zip(asked, turns, parts, strict=True):
            kept = np.array([REQUESTS[name].holds(one, exam.yardsticks) for one in part])
            each = {text: float(kept[turn == row].mean()) for row, text in enumerate(texts)}
            rates[name][kind] = {"agree": float(kept.mean()), "texts": each}
        told = "  ".join(
            f"{name} {rate['phrasings']['agree']:.2f} ({rate['free']['agree']:.2f})"
            for name, rate in rates.items()
        )
        print(f"  controllability at guidance {scale:g} (in free words): {told}", flush=True)
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
