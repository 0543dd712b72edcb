"""``python -m pacodi_jax.main``: trains, samples and scores what a config asks for."""

from pacodi_jax.cli import start

if __name__ == "__main__":
    start.run("pacodi_jax.cli.main")
