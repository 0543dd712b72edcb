"""Names of channels as a picture has room for."""

from pacodi_jax.errors import printable


def brief(name: str, most: int = 24) -> str:
    """A name on one line; of a long one the middle is left out, as names often end differently.

    Longer labels would leave no room for the picture itself.
    """
    text = printable(name)
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[-end:]}"
