"""One training process over the stand-in generator, to be killed, stopped and starved by tests.

It says ``saving N`` before each checkpoint, and at its end one line of JSON with how it went.
"""

import argparse
import hashlib
import json
import os
import resource
import sys
import time
from pathlib import Path

import double
import jax
import numpy as np
from absl import logging

from pacodi_jax import parallel
from pacodi_jax.errors import PacodiError
from pacodi_jax.settings import TrainSettings
from pacodi_jax.train import fit
from pacodi_jax.train.display import Terminal
from pacodi_jax.train.signals import Signals


def digest(state) -> str:
    return hashlib.sha256(b"".join(leaf.tobytes() for leaf in jax.tree.leaves(state))).hexdigest()


def validator(arguments):
    """Says that a checkpoint comes, and does there what the test asked for."""

    def validate(state):
        step = int(state.step)
        print(f"saving {step}", flush=True)
        if step == arguments.stall_at:
            time.sleep(3600)
        if step == arguments.full_at:
            while not (arguments.workdir / "checkpoints" / str(step - arguments.every)).exists():
                time.sleep(0.01)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        return float(step)

    return validate


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workdir", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--chunk", type=int, default=5)
    parser.add_argument("--backend", default="pmap")
    parser.add_argument("--watchdog", type=float, default=300.0)
    parser.add_argument("--heartbeat", type=int, default=10)
    parser.add_argument("--poison", type=int, nargs=2, default=(0, 0))
    parser.add_argument("--streamed", action="store_true")
    parser.add_argument("--stall-at", type=int, default=-1)
    parser.add_argument("--full-at", type=int, default=-1)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def main():
    logging.set_verbosity(logging.ERROR)
    arguments = parse()
    parallel.initialise(
        parallel.detect(os.environ), heartbeat_seconds=arguments.heartbeat, leave_seconds=10
    )
    arguments.workdir.mkdir(parents=True, exist_ok=True)
    poison = tuple(arguments.poison)
    generator, source = double.make(300, poison, streamed=arguments.streamed)
    settings = TrainSettings(
        steps=arguments.steps,
        batch=8,
        checkpoint_every=arguments.every,
        validate_every=arguments.every,
        log_every=arguments.every,
        chunk=arguments.chunk,
        backend=arguments.backend,
        max_skips=7,
    )
    try:
        run = fit.fit(
            generator,
            source,
            settings,
            seed=0,
            identity={"data": "double"},
            workdir=arguments.workdir,
            validate=validator(arguments),
            display=Terminal(),
            signals=Signals(),
            watchdog=arguments.watchdog,
        )
    except PacodiError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        parallel.leave(2)
    report = {"step": run.step, "first": run.first, "signal": run.signal}
    print(json.dumps(report | {"digest": digest(run.state)}), flush=True)
    if arguments.out and parallel.is_primary():
        np.savez(arguments.out, **run.state.params)


if __name__ == "__main__":
    main()
