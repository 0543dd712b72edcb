"""What training refuses: a folder of another run, a model too large, a run of skipped steps."""

from pathlib import Path

from pacodi_jax import settings
from pacodi_jax.errors import PacodiError
from pacodi_jax.models import Generator, Shape
from pacodi_jax.run import folder, parts, room
from pacodi_jax.settings import Config
from pacodi_jax.train import estimate
from pacodi_jax.train.host_loop import Run


def stored_steps(workdir: Path) -> list[int]:
    """The steps of a run's checkpoints, whole or damaged."""
    found = (workdir / "checkpoints").glob("[0-9]*")
    names = (path.name.removesuffix(".damaged") for path in found)
    return [int(name) for name in names if name.isdecimal()]


def refuse_other_settings(workdir: Path, config: Config) -> None:
    """Refuses to go on with a run under settings that would make it another run.

    A run that ended before its first checkpoint has nothing to go on with: it begins anew.

    Raises:
      PacodiError: naming the first setting that differs, or what is missing or not a run's.
    """
    path = workdir / folder.SETTINGS
    if not path.exists():
        return
    try:
        stored = settings.read(path)
    except PacodiError as error:
        raise PacodiError(f"{error}. Undo the change, or use another folder.") from error
    models = (workdir / folder.MODEL, workdir / folder.OLD_MODEL)
    if not stored_steps(workdir) and not any(model.exists() for model in models):
        _refuse_lost_steps(workdir)
        return
    difference = settings.first_difference(stored, config)
    if difference is not None:
        name, before, now = difference
        raise PacodiError(
            f"{name}={now!r}, but the run in {path.parent} was begun with {before!r}. Use that, "
            "or another folder."
        )
    if (workdir / folder.MODEL).exists():
        _refuse_lost_steps(workdir)


def _refuse_lost_steps(workdir: Path) -> None:
    """Refuses a folder whose checkpoints were taken away: training would begin anew unasked."""
    place = workdir / "checkpoints"
    if not place.exists() and (workdir / "metrics.jsonl").exists():
        drawn = ""
        if (workdir / folder.MODEL).exists():
            drawn = " The model is there and draws samples: --mode=sample, or pacodi sample."
        raise PacodiError(
            f"{place} is gone, so training would begin anew. Put it back, or use another folder; "
            f"an empty folder of that name begins anew.{drawn}"
        )


def require_room(config: Config, shape: Shape, generator: Generator) -> None:
    """Refuses a model or a batch that cannot fit before anything is computed.

    The state is held on the host and on the device while it is updated to a new one; the windows of
    a batch are held in the data's scale, as spectra, as noise and as what a network makes of them.
    """
    state = parts.state_shapes(generator, shape)
    room.require(
        3 * estimate.size(state),
        f"a model of {estimate.count(generator.weights(state)):,} parameters",
        "Lower model.width or model.depth, or choose a smaller --size.",
    )
    windows = 4 * config.train.batch * shape.length * shape.channels
    room.require(6 * windows, f"train.batch={config.train.batch}", "Lower train.batch.")
    drawn = 4 * config.train.calibration * shape.length * shape.channels
    room.require(6 * drawn, f"train.calibration={config.train.calibration}", "Lower it.")


def refuse_skipped(outcome: Run) -> None:
    """Refuses to call trained what hardly took a step."""
    skipped = int(outcome.state.skipped)
    if outcome.signal is None and 2 * skipped > outcome.step:
        raise PacodiError(
            f"{skipped} of {outcome.step} steps were skipped, as the loss or its gradient was not "
            "finite: this is no trained model, and none was written. The learning rate may be too "
            "high, or the data hold extreme values. Lower train.learning_rate or train.clip and "
            "begin in another folder."
        )
