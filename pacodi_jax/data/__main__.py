"""``python -m pacodi_jax.data describe``: looks at a data set before training on it."""

from pacodi_jax.cli.describe import command

if __name__ == "__main__":
    command()
