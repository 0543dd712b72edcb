"""The card's command: train, sample and score what a config asks for.

python -m pacodi_jax.main --config=configs/NAME.py[:ARGUMENTS] --workdir=DIR --mode=MODE

Without --config the settings are those of the run that DIR holds.
"""

import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import jax
from absl import app, flags, logging

from pacodi_jax import parallel
from pacodi_jax.cli import mistakes, news, options, overrides, work
from pacodi_jax.cli.flags import flag_mistake
from pacodi_jax.cli.memory import reuse_memory
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import folder
from pacodi_jax.settings import Config

_WORKDIR = flags.DEFINE_string("workdir", None, "The run's folder; made if it is not there.")
_MODE = flags.DEFINE_enum(
    "mode",
    None,
    ["train", "sample", "evaluate", "all"],
    "What to do; unset, train and then sample. 'all' also scores the samples.",
)
_SAMPLES = flags.DEFINE_integer("samples", None, "Windows to draw; config.sample.count if unset.")
_TEXT = flags.DEFINE_string("text", None, "Draw windows that this text describes.")
_STATIC = flags.DEFINE_string(
    "static", None, "Draw windows with these static columns: column=value,column=value."
)
_QUOTE = flags.DEFINE_bool(
    "quote_formulas", False, "Write what a spreadsheet takes for formulas as texts."
)
_COORDINATOR = flags.DEFINE_string("coordinator", None, "host:port of process 0 of several.")
_PROCESSES = flags.DEFINE_integer("processes", None, "How many processes this job has.")
_PROCESS = flags.DEFINE_integer("process", None, "Which of them this one is, from 0.")
_BIND = flags.DEFINE_string("bind", None, "The address on which process 0 listens.")
_WATCHDOG = flags.DEFINE_float(
    "watchdog", 300.0, "Seconds without progress that end one process of several; 0 is never."
)
_ON_SIGNAL = flags.DEFINE_integer(
    "exit_on_signal",
    0,
    "Exit code once a signal has saved an unfinished run; 75 for launchers that run it again.",
)
flags.mark_flags_as_required(["workdir"])

_STEPS = {
    None: ("train", "sample"),
    "train": ("train",),
    "sample": ("sample",),
    "evaluate": ("evaluate",),
    "all": ("train", "sample", "evaluate"),
}


def _fail(message: str, code: int = 2) -> NoReturn:
    print(f"error: {message}", file=sys.stderr, flush=True)
    parallel.leave(code)


_CONFIG: list[Config] = []  # of this command line, once it is parsed


def parse(argv: list[str]) -> list[str]:
    """Parses the flags and the config; a mistake in them is one line, without a traceback."""
    if any(flag in argv for flag in ("--help", "-h", "--helpfull", "--helpshort")):
        return flags.FLAGS(argv)
    try:
        spec, texts, rest = overrides.split(argv[1:])
        left = flags.FLAGS([argv[0], *rest])
        options.require_text("--workdir", _WORKDIR.value)
        finished = "train" not in _STEPS[_MODE.value]
        _CONFIG[:] = [overrides.make(spec, texts, _WORKDIR.value, finished=finished)]
    except PacodiError as error:
        _fail(str(error))
    except flags.Error as error:
        _fail(flag_mistake(error))
    return left


def _wish() -> work.Wish:
    return work.Wish(_SAMPLES.value, None, _TEXT.value, _STATIC.value, quote=_QUOTE.value)


def _work(config: Config, workdir: Path) -> int:
    """Does what the mode asks for; returns the exit code."""
    steps, wish = _STEPS[_MODE.value], _wish()
    work.check_wish(config, wish, steps, f"--mode={_MODE.value}")
    job = parallel.detect(os.environ, _COORDINATOR.value, _PROCESSES.value, _PROCESS.value)
    parallel.initialise(job, bind=_BIND.value)
    with work.owning(workdir) if "train" in steps else contextlib.nullcontext():
        return _do(steps, config, workdir, wish)


def _do(steps: tuple[str, ...], config: Config, workdir: Path, wish: work.Wish) -> int:
    """Takes one step after the other; returns the exit code."""
    how = config.sample.to_dict()
    if "train" in steps and not work.train(config, workdir, wish, _WATCHDOG.value):
        return _ON_SIGNAL.value
    if "sample" in steps and parallel.is_primary():
        again = _MODE.value == "sample"
        work.sample(
            folder.load(workdir).reading(config),
            workdir / "samples",
            replace(wish, seed=config.seed),
            how,
            again=again,
            beside=None if again else config,
        )
    if "evaluate" in steps and parallel.is_primary():
        work.evaluate(workdir, config, how, again=_MODE.value == "evaluate")
    parallel.agree(0.0)
    return 0


def main(argv: list[str]) -> int:
    """Runs the command; a mistake of the user's ends it with one line and exit code 2."""
    if len(argv) > 1:
        _fail(f"unexpected argument {argv[1]!r}; every option begins with --")
    logging.set_verbosity(logging.ERROR)
    work.cache_programs()
    reuse_memory()
    try:
        with news.shown():
            return _work(_CONFIG[0], Path(str(_WORKDIR.value)).expanduser().absolute())
    except KeyboardInterrupt:
        _fail("interrupted; the last checkpoint is intact", 130)
    except mistakes.TOLD as error:
        told = mistakes.told(error)
        if told is not None:
            _fail(told)
        of_jax = isinstance(error, jax.errors.JaxRuntimeError)
        if not (of_jax and jax.distributed.is_initialized()):
            raise
        cause = str(error).splitlines()[0][:200]
        _fail(f"another process of this job is gone ({cause}); run it again", parallel.STUCK)


def command() -> None:
    """The command with its flags read from ``sys.argv``."""
    app.run(main, flags_parser=parse)
