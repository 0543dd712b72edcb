"""A config that raises."""


def get_config(arguments: str = "") -> float:
    """Raises."""
    return len(arguments) / 0
