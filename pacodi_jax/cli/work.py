"""What the commands do with a run folder: train, sample and score, each told on the screen."""

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from pacodi_jax import files, parallel, report
from pacodi_jax.cli.news import tell
from pacodi_jax.data import Dataset, attributes
from pacodi_jax.errors import PacodiError
from pacodi_jax.report import pictures
from pacodi_jax.report.progress import progress_bar, say
from pacodi_jax.run import folder, parts, room, samples, score, told
from pacodi_jax.run.ownership import owned
from pacodi_jax.run.shards import Shard
from pacodi_jax.run.trained import Trained
from pacodi_jax.settings import Config
from pacodi_jax.text.encoders.interface import clean_text
from pacodi_jax.text.encoders.vocabulary import encode_request
from pacodi_jax.train.display import Terminal
from pacodi_jax.train.from_config import train as train_from_config
from pacodi_jax.train.signals import Signals


@dataclass(frozen=True)
class Wish:
    """What samples are asked for on the command line.

    Attributes:
      count: windows; None for ``sample.count``.
      seed: of the draw; None for the run's.
      text: what they should look like.
      static: ``column=value,column=value`` that they should have.
      start: their first stamp.
      quote: whether what a spreadsheet takes for formulas is written as text.
      shard: which part of them to draw; None for all.
    """

    count: int | None = None
    seed: int | None = None
    text: str | None = None
    static: str | None = None
    start: str | None = None
    quote: bool = False
    shard: Shard | None = None


def cache_programs() -> None:
    """Keeps compiled programs between runs, where the user has not chosen a place for them."""
    if not os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        jax.config.update("jax_compilation_cache_dir", str(files.cache_folder("programs")))


def owning(place: Path) -> AbstractContextManager[None]:
    """Holds a folder for this command; of several processes, the first holds it for all."""
    return owned(place) if parallel.is_primary() else nullcontext()


def train(config: Config, workdir: Path, wish: Wish, watchdog: float = 300.0) -> bool:
    """Trains to the end; returns False if a signal came first."""
    outcome = train_from_config(
        config,
        workdir,
        check=lambda dataset: _check_samples(config, wish, dataset),
        display=Terminal(),
        signals=Signals(),
        watchdog=watchdog,
    ).run
    if outcome.signal:
        print(f"{outcome.signal}: step {outcome.step} is saved. Run the same command to go on.")
    elif parallel.is_primary():
        steps = max(config.train.steps, outcome.step)
        tell(f"{workdir} is trained: step {outcome.step} of {steps}")
        tell(pictures.loss_curve(workdir / "metrics.jsonl", workdir / "loss.png"))
    return outcome.signal is None


def sample(
    trained: Trained,
    place: Path,
    wish: Wish,
    how: dict[str, Any],
    *,
    again: bool = True,
    beside: Config | None = None,
) -> None:
    """Writes samples.

    Args:
      trained: the model.
      place: the folder to write into.
      wish: what is asked of the samples.
      how: settings of the ``sample`` section that differ from the run's.
      again: draw even if the folder holds these very samples.
      beside: settings of the data whose real windows stand beside the samples in the picture.
    """
    static = None if wish.static is None else trained.recipe.parse_static(wish.static)
    chosen, how = _split_count(trained, how)
    count = chosen if wish.count is None else wish.count
    seed = trained.config.seed if wish.seed is None else wish.seed
    request = {"seed": seed, "static": static, "text": wish.text, "start": wish.start, **how}
    request["shard"] = wish.shard
    facts = told.draw_facts(trained, count, **request)
    if not again and samples.holds(place, facts, "samples.json", "samples.npy"):
        tell(f"{place} holds these {count} windows already")
        return
    report.check_writable(place)
    _tell(trained, facts, how)
    with progress_bar("drawing", "window") as show:
        drawn = trained.draw(count, progress=lambda n, of: show(n, of, ""), **request)
    dataset = None if beside is None else parts.load_windows(beside)
    with owned(place):
        written = samples.write_samples(trained, drawn, place, dataset=dataset, quote=wish.quote)
    tell(*written)


def _split_count(trained: Trained, how: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """How many windows the settings ask for, and how they are drawn."""
    count = trained.config.sample.replace(**how).count
    return count, {name: value for name, value in how.items() if name != "count"}


def _tell(trained: Trained, facts: dict[str, Any], how: dict[str, Any]) -> None:
    """Says how a text is read and what a user should know of these samples."""
    reading = facts["reading"]
    if reading is not None:
        if "stated" in reading:
            print(f"note: read as {reading['stated']}")
        for written, taken in reading["corrected"].items():
            print(f"note: {written!r} is read as {taken!r}")
        if reading["ignored"]:
            told = ", ".join(map(repr, reading["ignored"]))
            why = "understood" if "stated" in reading else "read, as no training text has them"
            print(f"note: not {why}: {told}")
    if facts["text"] is not None and facts["sampler"].get("guidance") in (None, 1):
        print("hint: guidance 3 follows a short text more closely than 1 (sample.guidance)")
    for note in filter(None, (trained.label, trained.generator.facts(**how).note)):
        tell(f"note: {note}")


def evaluate(workdir: Path, config: Config, how: dict[str, Any], *, again: bool = True) -> None:
    """Scores samples on train and held-out windows, and writes the report."""
    place = workdir / "scores"
    trained = folder.load(workdir).reading(config)
    _, how = _split_count(trained, how)
    wanted = config.evaluate
    facts = score.score_facts(trained, wanted, config.seed, **how)
    if not again and samples.holds(place, facts, "scores.json", "report.html"):
        tell(f"{place} holds these scores already")
        return
    report.check_writable(place)
    note = trained.generator.facts(**how).note
    if note:
        tell(f"note: {note}")
    dataset = parts.load_windows(config)
    with progress_bar() as progress:
        verdict = score.score(
            trained, dataset, wanted, seed=config.seed, progress=progress, announce=say, **how
        )
    for line in (*(f"note: {note}" for note in verdict.notes), *(verdict.panel.verdict or ())):
        tell(line)
    with owned(place):
        written = verdict.write(place)
    tell(*written)


def check_wish(config: Config, wish: Wish, steps: tuple[str, ...], mode: str) -> None:
    """Refuses a request that nothing would come of, before hours of training and not after."""
    asked = {"--text": wish.text, "--static": wish.static}
    for flag in [flag for flag, value in asked.items() if value is not None]:
        if "sample" not in steps:
            raise PacodiError(f"{flag} draws samples, and {mode} draws none; leave it.")
    if wish.count is not None and wish.count < 1:
        raise PacodiError(f"--samples={wish.count}; accepted: 1, 2, 3, …")
    if wish.text is not None:
        clean_text(wish.text)
        if "train" in steps and not config.text.encoder:
            raise PacodiError(
                "--text needs a model that reads texts: set --config.text.encoder=hashed, or train "
                "with configs/text.py."
            )
    if wish.static is not None:
        given = attributes.split_pairs(wish.static)
        if "train" in steps:
            attributes.check_known(given, config.data.static)
            parts.load_windows(config).recipe.parse_static(wish.static)


def _check_samples(config: Config, wish: Wish, dataset: Dataset) -> None:
    """Refuses samples beyond memory, and a text of no word of training, before training begins."""
    count = config.sample.count if wish.count is None else wish.count
    room.require_windows(count, config.data.length, len(dataset.recipe.channels))
    if wish.text is not None:
        encode_request(parts.encoder(config, dataset.recipe.words), wish.text)
