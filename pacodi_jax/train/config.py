"""What a run may be asked for: arguments, choices and ranges, refused by name before anything runs.

The settings and their defaults stand in ``configs/common.py``; this module knows what is possible.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ml_collections import ConfigDict

from pacodi_jax.core.schedule import SCHEDULES
from pacodi_jax.core.solvers import GRIDS, SOLVERS
from pacodi_jax.core.statistics import MODES
from pacodi_jax.data.scaling import SCALINGS
from pacodi_jax.errors import PacodiError, choose, nearest
from pacodi_jax.models import LOSSES, MODELS, PARAMETERISATIONS, TIMES, WEIGHTINGS
from pacodi_jax.networks.blocks import INTERACTIONS
from pacodi_jax.networks.refusals import DTYPES
from pacodi_jax.parallel import BACKENDS
from pacodi_jax.text.encoders import ENCODERS

CHOICES: dict[str, Sequence[str]] = {
    "data.protocol": ("honest", "paper"),
    "data.split": ("auto", "time", "series"),
    "data.scaling": tuple(SCALINGS),
    "model.name": tuple(MODELS),
    "model.interaction": tuple(INTERACTIONS),
    "model.dtype": tuple(DTYPES),
    "diffusion.variant": ("sde", "ddpm"),
    "diffusion.schedule": tuple(SCHEDULES),
    "diffusion.statistics": MODES,
    "diffusion.parameterisation": PARAMETERISATIONS,
    "diffusion.loss": LOSSES,
    "diffusion.weighting": WEIGHTINGS,
    "diffusion.times": TIMES,
    "train.decay": ("cosine", "plateau", "constant"),
    "train.backend": tuple(BACKENDS),
    "sample.solver": tuple(SOLVERS),
    "sample.grid": GRIDS,
    "sample.posterior_variance": ("small", "large"),
    "text.encoder": ("", *ENCODERS),
}
AT_LEAST_ONE = (
    "data.length",
    "data.stride",
    "model.width",
    "model.depth",
    "model.heads",
    "model.patch_size",
    "diffusion.ddpm_steps",
    "train.steps",
    "train.batch",
    "train.accumulate",
    "train.checkpoint_every",
    "train.keep",
    "train.log_every",
    "train.validate_every",
    "train.max_skips",
    "sample.count",
    "sample.batch",
    "sample.steps",
    "evaluate.windows",
    "evaluate.seeds",
    "text.phrasings",
    "text.width",
)
RANGES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "seed": ("0 <= seed < 2**32", lambda x: 0 <= x < 2**32),
    "data.max_gap": ("0 or more rows", lambda x: x >= 0),
    "train.learning_rate": ("a positive number", lambda x: 0 < x < float("inf")),
    "train.final_rate": ("0 <= final_rate <= 1", lambda x: 0 <= x <= 1),
    "train.warmup": ("0 or more steps", lambda x: x >= 0),
    "train.plateau_factor": ("0 < plateau_factor < 1", lambda x: 0 < x < 1),
    "train.plateau_threshold": ("0 <= plateau_threshold < 1", lambda x: 0 <= x < 1),
    "train.chunk": ("0 (measured) or more steps", lambda x: x >= 0),
    "train.plateau_patience": ("1 or more steps", lambda x: x >= 1),
    "train.beta2": ("0 < beta2 < 1", lambda x: 0 < x < 1),
    "train.weight_decay": ("0 or more", lambda x: x >= 0),
    "train.clip": ("a positive number", lambda x: x > 0),
    "train.ema": ("0 <= ema < 1", lambda x: 0 <= x < 1),
    "train.calibration": ("0 (none), or 100 and more draws", lambda x: x == 0 or x >= 100),
    "sample.guidance": ("a finite number", lambda x: abs(x) < float("inf")),
    "text.dropout": ("0 <= dropout <= 1", lambda x: 0 <= x <= 1),
    "sample.eta": ("0 <= eta <= 1", lambda x: 0 <= x <= 1),
}


def parse_arguments(
    text: str, accepted: Sequence[str], choices: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Parses what follows the colon of ``--config=FILE.py:length=64,variant=ddpm``.

    Args:
      text: the part after the colon.
      accepted: the argument names.
      choices: the values of those that have a fixed set; the others are whole numbers.

    Raises:
      PacodiError: naming the argument, its value and what is accepted.
    """
    given: dict[str, str] = {}
    for piece in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals or name not in accepted:
            raise PacodiError(
                f"config argument {piece!r} is unknown; accepted: "
                f"{', '.join(f'{n}=…' for n in accepted)}.{nearest(name, accepted)}"
            )
        if name in choices:
            choose(f"config argument {name}", value, dict.fromkeys(choices[name]))
        elif not value.isdecimal() or int(value) < 1:
            raise PacodiError(
                f"config argument {piece!r}: {name} must be a whole number from 1 up."
            )
        given[name] = value
    return given


def validate(config: ConfigDict) -> None:
    """Refuses impossible values, by name, before anything is compiled.

    Raises:
      PacodiError: for the first setting that cannot work.
    """
    for key, accepted in CHOICES.items():
        choose(f"config.{key}", _get(config, key), dict.fromkeys(accepted))
    for key in AT_LEAST_ONE:
        if _get(config, key) < 1:
            raise PacodiError(f"config.{key}={_get(config, key)}; accepted: 1, 2, 3, …")
    for key, (accepted_range, holds) in RANGES.items():
        if not holds(_get(config, key)):
            raise PacodiError(f"config.{key}={_get(config, key)}; accepted: {accepted_range}.")
    _validate_together(config)


def _validate_together(config: ConfigDict) -> None:
    """Refuses settings that exclude one another."""
    model, diffusion, sample = config.model, config.diffusion, config.sample
    if model.width % model.heads:
        raise PacodiError(
            f"config.model.heads={model.heads} must divide config.model.width={model.width}."
        )
    if diffusion.loss == "velocity" and diffusion.parameterisation != "wiener":
        raise PacodiError(
            "config.diffusion.loss='velocity' needs config.diffusion.parameterisation='wiener'; "
            "with 'noise' use loss='noise'."
        )
    if model.name == "temporal" and diffusion.statistics == "generated":
        raise PacodiError(
            "config.diffusion.statistics='generated' lives in the spectrum's DC slot, which "
            "config.model.name='temporal' does not have; use 'none'."
        )
    if config.train.calibration and (config.text.encoder or config.data.static):
        raise PacodiError(
            f"config.train.calibration={config.train.calibration} is for models without "
            "conditions, each of which has moments of its own; set it to 0."
        )
    if config.train.calibration and diffusion.statistics == "oracle":
        raise PacodiError(
            f"config.train.calibration={config.train.calibration} would change the level and "
            "scale that config.diffusion.statistics='oracle' borrows; set it to 0."
        )
    if config.text.encoder == "precomputed" and config.data.source != "tsfragment":
        raise PacodiError(
            "config.text.encoder='precomputed' is for config.data.source='tsfragment', whose "
            "files bring the vectors; use 'hashed', 'minilm' or 'endpoint'."
        )
    if config.data.text and not config.text.encoder:
        raise PacodiError(
            f"config.data.text={config.data.text!r} names a column of texts that nothing would "
            "read; set config.text.encoder='hashed' or another encoder, or leave the column out."
        )
    if config.text.encoder and config.data.static:
        raise PacodiError(
            "config.text.encoder and config.data.static both give conditions; use one of them."
        )
    updates = config.train.steps // config.train.accumulate
    if config.train.warmup >= updates:
        raise PacodiError(
            f"config.train.warmup={config.train.warmup} leaves none of the {updates} updates "
            f"(config.train.steps={config.train.steps} by config.train.accumulate="
            f"{config.train.accumulate}) at full rate; lower the warm-up."
        )
    if sample.solver == "heun" and sample.steps < 2:
        raise PacodiError("config.sample.solver='heun' needs config.sample.steps of 2 or more.")


def _get(config: ConfigDict, key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        value = value[part]
    return value


def to_json(config: ConfigDict) -> str:
    """The settings as text, for ``config.json`` in the run folder."""
    return json.dumps(config.to_dict(), indent=2, sort_keys=True) + "\n"


def from_json(text: str) -> ConfigDict:
    """The settings back from ``config.json``, locked."""
    raw = json.loads(text)
    raw["train"].setdefault("calibration", 0)  # runs of earlier versions do not speak of it

    def tuples(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: tuples(inner) for name, inner in value.items()}
        return tuple(value) if isinstance(value, list) else value

    return ConfigDict(tuples(raw)).lock()


def get_config(path: str) -> ConfigDict:
    """The settings of a run, for ``--config=pacodi_jax/train/config.py:RUN/config.json``."""
    return from_json(Path(path).read_text())
