"""``--config=FILE.py:ARGUMENTS`` and ``--config.section.name=value`` on a command line."""

from collections.abc import Sequence
from pathlib import Path

from pacodi_jax import settings
from pacodi_jax.configs import loader
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import folder
from pacodi_jax.settings import Config


def split(argv: Sequence[str]) -> tuple[str | None, dict[str, str], list[str]]:
    """Takes the config and its overrides out of a command line.

    Returns:
      The config that is named, or None; the overrides by full name; and the other arguments.
    """
    spec, texts, rest = None, {}, []
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        name = name.lstrip("-") if word.startswith("-") else ""
        if name != "config" and not name.startswith("config."):
            rest.append(word)
            continue
        if not equals:
            value = next(words, "")
        if name == "config":
            spec = value
        else:
            texts[name.removeprefix("config.")] = value
    return spec, texts, rest


def make(
    spec: str | None,
    texts: dict[str, str],
    workdir: str | None = None,
    *,
    finished: bool = False,
) -> Config:
    """The settings that a command line asks for; without a config, those of a run.

    Args:
      spec: of a config, or None.
      texts: overrides by full name.
      workdir: the folder of a run.
      finished: take the sealed model's settings, not those of training, which may have gone on.

    Raises:
      PacodiError: for settings that are not there or cannot work. A config is code: whatever it
        raises is told in one line, too.
    """
    if spec is not None:
        return Config.make(loader.load(spec).to_dict()).parsed(texts)
    place = Path(workdir or "").expanduser()
    if workdir is not None and finished and (place / folder.MODEL).is_file():
        return folder.load(place).config.parsed(texts)
    stored = place / folder.SETTINGS
    if workdir is None or not stored.is_file():
        raise PacodiError("no settings: give --config=configs/NAME.py, or the --workdir of a run")
    return settings.read(stored).parsed(texts)
