"""``python -m pacodi_jax.data describe``: look at a data set before training on it.

python -m pacodi_jax.data describe --source=table --path=my.csv --time=date --length=48
python -m pacodi_jax.data describe --config=configs/etth1.py --config.data.length=48
"""

import inspect
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from absl import flags
from ml_collections import config_flags

from pacodi_jax import data
from pacodi_jax.cli.flags import flag_mistake
from pacodi_jax.data import describe
from pacodi_jax.errors import PacodiError, choose

_TEXTS = {
    "source": "A name of the catalogue, sines, or table.",
    "path": "The user's file, or a folder that holds the catalogue's.",
    "protocol": "honest or paper.",
    "split": "auto, time or series.",
    "scaling": "min_max, standard, robust, quantile or none.",
    "time_format": "How text stamps are written.",
    "id": "The column that tells series apart.",
    "text": "A column of captions.",
}
_LISTS = {
    "time": "The time column, or a date and a time column.",
    "channels": "The columns to model.",
    "static": "Columns that hold still within a window.",
    "fractions": "Of train, validation and held-out.",
}
_WHOLE = {
    "length": "Steps a window.",
    "stride": "Rows from one window to the next.",
    "max_gap": "The longest run of missing rows that is interpolated.",
    "seed": "Of generated sources and of a split over series.",
}


def _flags() -> flags.FlagValues:
    values = flags.FlagValues()
    config_flags.DEFINE_config_file(
        "config", None, "A training config: its data section is described.", flag_values=values
    )
    for name, help in _TEXTS.items():
        flags.DEFINE_string(name, None, help, flag_values=values)
    for name, help in _LISTS.items():
        flags.DEFINE_list(name, None, help, flag_values=values)
    for name, help in _WHOLE.items():
        flags.DEFINE_integer(name, None, help, flag_values=values)
    flags.DEFINE_float("missing", None, "A number that means 'no value'.", flag_values=values)
    flags.DEFINE_string("png", "describe.png", "Where the picture goes.", flag_values=values)
    return values


def _parse(values: flags.FlagValues, argv: Sequence[str]) -> None:
    """Reads the flags and the config; a config is code, and what it raises is a mistake in it."""
    try:
        rest = values(list(argv))
        if values.config is not None:
            values.config.to_dict()  # a file that could not be read shows only when it is used
    except Exception as error:
        raise PacodiError(flag_mistake(error)) from error
    choose("command", rest[1] if len(rest) > 1 else "", {"describe": None})
    if len(rest) > 2:
        raise PacodiError(f"unexpected argument {rest[2]!r}; every option begins with --")


def _options(values: flags.FlagValues) -> dict[str, Any]:
    """The arguments of ``load``: from the config if there is one, then from single flags."""
    names = set(inspect.signature(data.load).parameters)
    options: dict[str, Any] = {}
    if values.config is not None:
        if "data" not in values.config:
            raise PacodiError("the config has no data section")
        section = values.config.data.to_dict()
        options |= {k: v for k, v in section.items() if k in names and v not in (None, "", ())}
        if "seed" in values.config:
            options["seed"] = values.config.seed  # as training does
    given = {name: values[name].value for name in names & set(values)}
    options |= {name: value for name, value in given.items() if value is not None}
    for name in ("source", "length"):
        if name not in options:
            raise PacodiError(f"--{name} is missing: give it, or a --config that has it")
    if "fractions" in options:
        options["fractions"] = _numbers(options["fractions"])
    return options


def _numbers(cells: Sequence[Any]) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError as error:
        raise PacodiError(f"fractions={','.join(map(str, cells))}: {error}") from error


def main(argv: Sequence[str]) -> int:
    """Runs the command; returns its exit code: 0, or 2 for a mistake in what was given."""
    values = _flags()
    try:
        if "--help" in argv or "-h" in argv:
            print(f"{__doc__}\n{values.main_module_help() or values.get_help()}")
            return 0
        _parse(values, argv)
        found = data.load(**_options(values))
        picture = describe.picture(found, values.png)
        print(f"{describe.text(found)}\n\npicture     {picture}")
    except (PacodiError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def command() -> NoReturn:
    """The command with its arguments read from ``sys.argv``."""
    sys.exit(main(sys.argv))
