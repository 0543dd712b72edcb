"""``python -m pacodi_jax.main``: trains, samples and scores what a config asks for."""

from pacodi_jax.cli.main import command

if __name__ == "__main__":
    command()
