"""Scores text-conditional runs on held-out windows in held-out phrasings, and controllability.

    python benchmarks/bench_conditional.py RUN [RUN …] --unconditional=RUN [--out=FILE.json]

There are two references: the unconditional run and the mean training window. Errors are in the
model's scale (standardised by train): of the mean of the draws, of single draws, of the best draw
(an oracle choice), and CRPS. A ratio below 1 beats the reference. ``controllability`` asks for a
property in five held-out phrasings and in free words, and measures it as the captions do.
"""

import argparse
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from controllability import REQUESTS, base_rates
from exam import Exam, errors, prepare, ratios, show, write

from pacodi_jax.run import folder
from pacodi_jax.run.trained import Trained

GUIDANCE = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0)
KEY = 20_260


def draw(
    trained: Trained,
    windows: np.ndarray,
    draws: int,
    conditions: np.ndarray | None,
    guidance: float = 1.0,
) -> np.ndarray:
    """Draws ``(draws, N, L, 1)``; under ``oracle`` with the level and scale of ``windows``."""
    how: dict[str, Any] = {"guidance": guidance}
    if trained.config.family.diffusion.statistics == "oracle":
        real = jax.vmap(trained.generator.coding.real)(jnp.asarray(windows))
        how["borrowed"] = tuple(jnp.tile(value, (draws, 1)) for value in real)
    given = None if conditions is None else jnp.tile(jnp.asarray(conditions), (draws, 1))
    count = draws * len(windows)
    made = trained.draw_scaled(jax.random.key(KEY), count, given, **how)
    return made.reshape(draws, *windows.shape)


def score(
    trained: Trained, exam: Exam, scales: list[float], draws: int, references: dict
) -> dict[str, Any]:
    """Errors at every guidance scale, with the ratios of the mean of the draws to references."""
    conditions = trained.encoder().encode(exam.texts)
    table = {}
    for scale in scales:
        found = errors(exam.windows, draw(trained, exam.windows, draws, conditions, scale))
        found |= ratios(found, references)
        table[f"{scale:g}"] = found
        show(f"guidance {scale:g}", found)
    return table


def control(
    trained: Trained, exam: Exam, scales: list[float], count: int, names: list[str]
) -> dict[str, Any]:
    """How often draws have the property asked for: ``count`` draws per property and wording."""
    asked = [(n, k, getattr(REQUESTS[n], k)) for n in names for k in ("phrasings", "free")]
    encoder = trained.encoder()
    turns = [np.arange(count) % len(texts) for *_, texts in asked]
    vectors = [encoder.encode(t)[turn] for (*_, t), turn in zip(asked, turns, strict=True)]
    table: dict[str, Any] = {}
    for scale in (scale for scale in scales if scale >= 1):
        made = trained.draw_scaled(
            jax.random.key(KEY + 1), count * len(asked), np.concatenate(vectors), guidance=scale
        )
        table[f"{scale:g}"] = rates = {name: {} for name in names}
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


def facts_of(trained: Trained) -> dict[str, Any]:
    """The facts that distinguish runs."""
    config, facts = trained.config, trained.facts
    return {
        "variant": config.family.diffusion.variant,
        "label": trained.label or f"statistics={config.family.diffusion.statistics}",
        "encoder": facts["encoder"],
        "steps": facts["steps"],
        "batch": config.train.batch,
        "width": config.family.model.width,
        "depth": config.family.model.depth,
        "phrasings": config.text.phrasings,
        "seed": facts["seed"],
        "sampler": f"{config.family.sample.solver}, {config.family.sample.steps} steps",
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
    parser.add_argument("--requests", type=int, default=200, help="draws per property")
    parser.add_argument("--properties", nargs="+", choices=REQUESTS, default=list(REQUESTS))
    asked = parser.parse_args()
    free = folder.load(asked.unconditional)
    exam = prepare(free.config, asked.windows)
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
    for path in asked.runs:
        trained = folder.load(path)
        print(f"{path.name}: {facts_of(trained)}", flush=True)
        found["runs"][path.name] = {
            **facts_of(trained),
            "guidance": score(trained, exam, asked.guidance, asked.draws, references),
            "controllability": control(
                trained, exam, asked.guidance, asked.requests, asked.properties
            ),
        }
    if asked.out:
        write(asked.out, found)


if __name__ == "__main__":
    main()
