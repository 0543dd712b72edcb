"""``python -m pacodi_jax.judge``: judges any generator by two files."""

from pacodi_jax.cli.judge import command

if __name__ == "__main__":
    command()
