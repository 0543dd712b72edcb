"""``python -m pacodi_jax.data describe``: looks at a data set before training on it."""

from pacodi_jax.cli import start

if __name__ == "__main__":
    start.run("pacodi_jax.cli.describe")
