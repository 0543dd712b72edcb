"""The command: train and sample.

python -m pacodi_jax.main --config=configs/NAME.py[:ARGUMENTS] --workdir=DIR --mode=MODE

Without --config the settings are those of the run that DIR holds.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import jax
import numpy as np
from absl import app, flags, logging
from ml_collections import config_flags

from pacodi_jax import evaluate, parallel, run
from pacodi_jax.cli.flags import flag_mistake
from pacodi_jax.cli.memory import reuse_memory
from pacodi_jax.data import Dataset, attributes
from pacodi_jax.errors import PacodiError
from pacodi_jax.report import pictures
from pacodi_jax.text.encoders.interface import clean_text
from pacodi_jax.text.encoders.vocabulary import encode_request
from pacodi_jax.train import config as configuration
from pacodi_jax.train.from_config import train

_CONFIG = config_flags.DEFINE_config_file("config", lock_config=True)
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
flags.mark_flags_as_required(["config", "workdir"])


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


def _with_config(argv: list[str]) -> list[str]:
    """Adds the settings of the run in the workdir to a command line that names none."""
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for name in ("config", "workdir"):
        finder.add_argument(f"--{name}", f"-{name}")
    try:
        given, _ = finder.parse_known_args(argv[1:])
    except argparse.ArgumentError:  # the flags' own parser says what is wrong
        return argv
    if given.config is not None or given.workdir is None:
        return argv
    stored = Path(given.workdir) / run.SETTINGS
    if not stored.is_file():
        return argv
    return [argv[0], f"--config={configuration.__file__}:{stored}", *argv[1:]]


def _parse(argv: list[str]) -> list[str]:
    """Parses the flags; a mistake in them is one line, without a traceback."""
    try:
        rest = flags.FLAGS(_with_config(argv))
        _CONFIG.value.to_dict()  # a file that could not be read shows only when it is used
    except Exception as error:
        _fail(flag_mistake(error))
    return rest


def _cache_programs() -> None:
    """Keeps compiled programs between runs, where the user has not chosen a place for them."""
    if not os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        jax.config.update("jax_compilation_cache_dir", str(Path(root) / "pacodi_jax" / "programs"))


def _train(workdir: Path) -> bool:
    """Trains to the end; returns False if a signal came first."""
    config = _CONFIG.value
    outcome = train(config, workdir, _WATCHDOG.value, _check_words)
    if outcome.signal:
        print(f"{outcome.signal}: step {outcome.step} is saved. Run the same command to go on.")
    elif parallel.is_primary():
        print(f"{workdir} is trained: step {outcome.step} of {config.train.steps}")
        print(pictures.loss_curve(workdir / "metrics.jsonl", workdir / "loss.png"))
    return outcome.signal is None


def _holds(folder: Path, facts: dict[str, Any], told: str, result: str) -> bool:
    """Whether a folder holds a result, and beside it a JSON file that tells these facts of it."""
    try:
        found = json.loads((folder / told).read_text())
    except (OSError, ValueError):
        return False
    same = all(found.get(name) == fact for name, fact in facts.items())
    return same and (folder / result).is_file()


def _condition(
    trained: run.Trained, text: str | None, static: dict[str, Any] | None
) -> np.ndarray | None:
    """What the text or the static columns say, as the model reads it."""
    if static is not None:
        return trained.recipe.condition(static)
    return None if text is None else trained.encode(text)


def _sample(workdir: Path) -> None:
    """Writes samples; beside training, with real windows in the picture."""
    config, text = _CONFIG.value, _TEXT.value
    count = config.sample.count if _SAMPLES.value is None else _SAMPLES.value
    trained = run.load(workdir, config)
    static = None if _STATIC.value is None else trained.recipe.parse_static(_STATIC.value)
    facts = evaluate.sample_facts(trained, count, config.seed, text=text, static=static)
    folder = workdir / "samples"
    if _MODE.value != "sample" and _holds(folder, facts, "samples.json", "samples.npy"):
        print(f"{folder} holds these {count} windows already")
        return
    condition = _condition(trained, text, static)
    if facts["reading"] is not None:
        _tell_reading(facts["reading"])
    if text is not None and config.sample.guidance == 1:
        print("hint: --config.sample.guidance=3 follows a short text more closely than 1")
    for note in filter(None, (trained.label, trained.note)):
        print(f"note: {note}")
    written = evaluate.write_samples(
        trained,
        folder,
        count,
        config.seed,
        condition=condition,
        dataset=None if _MODE.value == "sample" else run.load_windows(config),
        text=text,
        static=static,
    )
    print("\n".join(str(path) for path in written))


def _tell_reading(reading: dict[str, Any]) -> None:
    """Says which words of a text are read as others, and which not at all."""
    for written, taken in reading["corrected"].items():
        print(f"note: {written!r} is read as {taken!r}")
    if reading["ignored"]:
        told = ", ".join(map(repr, reading["ignored"]))
        print(f"note: not read, as no training text has them: {told}")


def _evaluate(workdir: Path) -> None:
    """Scores samples on train and held-out windows, and writes the report."""
    config, folder = _CONFIG.value, workdir / "scores"
    trained = run.load(workdir, config)
    wanted = config.evaluate
    draw = {"windows": wanted.windows, "seeds": wanted.seeds, "seed": config.seed}
    facts = evaluate.score_facts(trained, **draw)
    if _MODE.value != "evaluate" and _holds(folder, facts, "scores.json", "report.html"):
        print(f"{folder} holds these scores already")
        return
    if trained.note:
        print(f"note: {trained.note}")
    written = evaluate.write_scores(trained, run.load_data(config), folder, **draw)
    print("\n".join(str(path) for path in written))


def _check_asked(wanted: tuple[str, ...]) -> None:
    """Refuses conditions that nothing would come of, before hours of training and not after."""
    text, static = _TEXT.value, _STATIC.value
    for flag in [f for f in (_TEXT, _STATIC) if f.value is not None]:
        if "sample" not in wanted:
            raise PacodiError(
                f"--{flag.name} draws samples, and --mode={_MODE.value} draws none; leave it."
            )
    if text is not None and static is not None:
        raise PacodiError("--text and --static both give a condition; use one of them.")
    if text is not None:
        _check_text(text, "train" in wanted)
    if static is not None:
        _check_static(static, "train" in wanted)


def _check_text(text: str, trains: bool) -> None:
    clean_text(text)
    if trains and not _CONFIG.value.text.encoder:
        raise PacodiError(
            "--text needs a model that reads texts: set --config.text.encoder=hashed, or train "
            "with configs/text.py."
        )


def _check_words(dataset: Dataset) -> None:
    """Refuses a text that the model would not read, now that the words of training are known."""
    if _TEXT.value is not None:
        encode_request(run.build_encoder(_CONFIG.value, dataset.recipe.words), _TEXT.value)


def _check_static(static: str, trains: bool) -> None:
    given = attributes.split_pairs(static)
    if trains:
        attributes.check_names(given, _CONFIG.value.data.static)
        run.load_windows(_CONFIG.value).recipe.parse_static(static)


def _work(workdir: Path) -> int:
    """Does what the mode asks for; returns the exit code."""
    configuration.validate(_CONFIG.value)
    if _SAMPLES.value is not None and _SAMPLES.value < 1:
        raise PacodiError(f"--samples={_SAMPLES.value}; accepted: 1, 2, 3, …")
    wanted = _STEPS[_MODE.value]
    _check_asked(wanted)
    job = parallel.detect(os.environ, _COORDINATOR.value, _PROCESSES.value, _PROCESS.value)
    parallel.initialise(job, bind=_BIND.value)
    if "train" in wanted and not _train(workdir):
        return _ON_SIGNAL.value
    if "sample" in wanted and parallel.is_primary():
        _sample(workdir)
    if "evaluate" in wanted and parallel.is_primary():
        _evaluate(workdir)
    parallel.agree(0.0)
    return 0


def main(argv: list[str]) -> int:
    """Runs the command; a mistake of the user's ends it with one line and exit code 2."""
    if len(argv) > 1:
        _fail(f"unexpected argument {argv[1]!r}; every option begins with --")
    logging.set_verbosity(logging.ERROR)
    _cache_programs()
    reuse_memory()
    try:
        return _work(Path(str(_WORKDIR.value)).absolute())
    except PacodiError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("interrupted; the last checkpoint is intact", 130)
    except jax.errors.JaxRuntimeError as error:
        if not jax.distributed.is_initialized():
            raise
        cause = str(error).splitlines()[0][:200]
        _fail(f"another process of this job is gone ({cause}); run it again", parallel.STUCK)


def command() -> None:
    """The command with its flags read from ``sys.argv``."""
    app.run(main, flags_parser=_parse)
