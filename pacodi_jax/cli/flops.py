"""The command that counts and times the networks beside a temporal one.

python -m pacodi_jax.flops --lengths 24,64,128,256,512,1024,4096 [--out DIR]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from pacodi_jax import files
from pacodi_jax.cli.memory import reuse_memory
from pacodi_jax.cli.options import guarded
from pacodi_jax.core import spectrum
from pacodi_jax.errors import PacodiError
from pacodi_jax.networks import DualBranch, SingleBranch, cost
from pacodi_jax.report import check_folder
from pacodi_jax.report.costs import draw

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
            for interaction in ("iso_flops", "paper", "time", "filter")
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


def save(table: list[dict[str, Any]], settings: dict[str, Any], folder: Path) -> None:
    """Writes ``flops.json`` and ``flops.png``, each whole or not at all."""
    content = {"settings": settings, "platform": jax.devices()[0].device_kind, "rows": table}
    print(files.write_text(folder / "flops.json", json.dumps(content, indent=1)))
    print(files.write(folder / "flops.png", lambda path: draw(table, path)))


def _parse(arguments: Sequence[str], prog: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Counts the operations of the networks per window length, and times them.",
        epilog=f"example: {prog} --lengths 24,128,1024 --rounds 0",
    )
    parser.add_argument("--lengths", required=True, help="window lengths, separated by commas")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("runs/flops"),
        help="folder for the table and picture (runs/flops)",
    )
    for name, value, text in [
        ("channels", 7, "channels of a window"),
        ("width", 128, "width of a token"),
        ("depth", 4, "blocks"),
        ("heads", 4, "attention heads"),
        ("tokens", 4096, "time steps of a timed batch, over all its windows"),
        ("rounds", 7, "timed rounds; 0 counts operations only"),
    ]:
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{text} ({value})")
    options = parser.parse_args(arguments)
    try:
        options.lengths = [int(length) for length in options.lengths.split(",")]
    except ValueError:
        raise PacodiError(f"--lengths={options.lengths!r}: whole numbers and commas.") from None
    if min(options.lengths) < 1:
        raise PacodiError(f"--lengths has {min(options.lengths)}; a window has at least 1 step.")
    for name in ("channels", "width", "depth", "heads", "tokens"):
        if getattr(options, name) < 1:
            raise PacodiError(f"--{name}={getattr(options, name)} must be at least 1.")
    if options.rounds < 0:
        raise PacodiError(f"--rounds={options.rounds} must not be negative.")
    check_folder(options.out)  # before minutes of measuring
    return options


def main(arguments: Sequence[str], prog: str = "python -m pacodi_jax.flops") -> int:
    """Runs the command and returns its exit code."""
    reuse_memory()
    return guarded(lambda: _run(arguments, prog))


def _run(arguments: Sequence[str], prog: str) -> None:
    options = _parse(arguments, prog)
    print(LEGEND, format_row(), sep="\n")
    table = measure(options)
    settings = {k: v for k, v in vars(options).items() if k != "out"}
    save(table, settings, options.out)


def command() -> int:
    """The command with its arguments read from ``sys.argv``."""
    return main(sys.argv[1:])
