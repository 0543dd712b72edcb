"""Counts and times the networks beside a temporal one, window length after window length."""

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax.core import spectrum
from pacodi_jax.networks import DualBranch, SingleBranch, cost

#: The columns of the table: heading, key of the row, format.
COLUMNS = [
    ("length", "length", "d"),
    ("model", "model", "s"),
    ("total M", "total", ".2f"),
    ("of temporal", "total_ratio", ".3f"),
    ("attention M", "attention", ".2f"),
    ("of temporal", "attention_ratio", ".3f"),
    ("linear M", "linear", ".2f"),
    ("FFT M", "fft", ".3f"),
    ("other M", "elementwise", ".2f"),
    ("forward ms", "forward_ms", ".1f"),
    ("of temporal", "forward_ratio", ".2f"),
    ("step ms", "step_ms", ".1f"),
    ("q1-q3 ms", "step_spread", "s"),
    ("of temporal", "step_ratio", ".2f"),
]
LEGEND = """\
M: millions of floating-point operations of one evaluation on one window
ms: median time per batch, with quartiles for a training step
of temporal: ratio to the temporal network"""


def models(channels: int, width: int, depth: int, heads: int) -> dict[str, Any]:
    """Returns the networks that are compared; the first is the reference of all ratios."""
    return {
        "temporal": SingleBranch(channels, width, depth, heads),
        **{
            interaction: DualBranch(channels, width, depth, heads, interaction=interaction)
            for interaction in ("iso_flops", "paper", "time", "long")
        },
    }


def fft_flops(length: int, channels: int) -> float:
    """Returns XLA's count of one transform of one window to its spectrum and back."""
    window = jax.ShapeDtypeStruct((length, channels), jnp.float32)
    there = cost.xla_flops(spectrum.to_spectrum, window)
    state = jax.eval_shape(spectrum.to_spectrum, window)
    return there + cost.xla_flops(lambda one: spectrum.to_series(one, length), state)


def count_row(name: str, network: Any, length: int, channels: int) -> dict[str, Any]:
    """Returns one row of the table: millions of operations per window, by kind."""
    counted = cost.count(network, length)
    fft = 0.0 if isinstance(network, SingleBranch) else fft_flops(length, channels)
    kinds = {**counted._asdict(), "fft": fft + counted.transform, "total": counted.total + fft}
    return {"length": length, "model": name, **{k: v / 1e6 for k, v in kinds.items()}}


def _programs(network: Any, length: int, batch: int, channels: int) -> list[Callable[[], Any]]:
    """Returns a forward pass and a training step of ``network``, each ready to be called.

    Both start from windows, so that the time of spectral networks includes their transform. The
    step is the loss, its gradient and Adam.
    """
    network = cost.of_length(network, length)
    windows = jax.random.normal(jax.random.key(0), (batch, length, channels))
    t = jnp.linspace(0.0, 1.0, batch)
    optimiser = optax.adam(1e-3)

    def predict(params: Any, windows: jax.Array) -> Any:
        if isinstance(network, SingleBranch):
            return network.apply(params, windows, t)
        live = jax.tree.map(jnp.ones_like, spectrum.noise_variance(length))
        return network.apply(params, jax.vmap(spectrum.to_spectrum)(windows), t, live)

    def loss(params: Any, windows: jax.Array) -> Any:
        return optax.tree.norm(predict(params, windows), squared=True)

    def step(params: Any, state: Any, windows: jax.Array) -> Any:
        value, gradient = jax.value_and_grad(loss)(params, windows)
        updates, state = optimiser.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    shapes = jax.eval_shape(
        network.init, jax.random.key(0), *cost.abstract_inputs(network, length, batch)
    )
    generator = np.random.default_rng(0)
    params = jax.tree.map(
        lambda x: jnp.asarray(0.05 * generator.normal(size=x.shape), jnp.float32), shapes
    )
    forward, train, state = jax.jit(predict), jax.jit(step), optimiser.init(params)
    return [lambda: forward(params, windows), lambda: train(params, state, windows)]


def time_rows(
    networks: dict[str, Any], length: int, channels: int, tokens: int, rounds: int
) -> Any:
    """Times all networks in turn, ``rounds`` times: ``(rounds, model, 2)`` in milliseconds."""
    batch = max(1, tokens // length)
    programs = [_programs(network, length, batch, channels) for network in networks.values()]
    flat = [program for pair in programs for program in pair]
    for program in flat:
        jax.block_until_ready(program())
    times = np.zeros((rounds, len(flat)))
    for one in times:
        for i, program in enumerate(flat):
            start = time.perf_counter()
            jax.block_until_ready(program())
            one[i] = 1e3 * (time.perf_counter() - start)
    return times.reshape(rounds, len(networks), 2)


def add_times(rows: list[dict[str, Any]], times: np.ndarray) -> None:
    """Adds medians, quartiles and the medians of the ratios within a round to ``rows``."""
    for i, row in enumerate(rows):
        for j, kind in enumerate(("forward", "step")):
            low, middle, high = np.quantile(times[:, i, j], [0.25, 0.5, 0.75])
            row[f"{kind}_ms"] = float(middle)
            row[f"{kind}_quartiles_ms"] = [float(low), float(high)]
            row[f"{kind}_spread"] = f"{low:.1f}-{high:.1f}"
            row[f"{kind}_ratio"] = float(np.median(times[:, i, j] / times[:, 0, j]))


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Returns all rows of the table and prints each length once it is measured."""
    networks = models(options.channels, options.width, options.depth, options.heads)
    table: list[dict[str, Any]] = []
    for length in options.lengths:
        rows = [count_row(n, x, length, options.channels) for n, x in networks.items()]
        for row in rows:
            for kind in ("total", "attention"):
                row[f"{kind}_ratio"] = row[kind] / rows[0][kind]
        if options.rounds:
            times = time_rows(networks, length, options.channels, options.tokens, options.rounds)
            add_times(rows, times)
        print("\n".join(format_row(row) for row in rows), flush=True)
        table += rows
    return table


def format_row(row: dict[str, Any] | None = None) -> str:
    """Returns one line of the table, or its heading."""
    cells = []
    for heading, key, form in COLUMNS:
        value = heading if row is None else format(row[key], form) if key in row else "-"
        cells.append(value.rjust(max(9, len(heading))))
    return " ".join(cells)
