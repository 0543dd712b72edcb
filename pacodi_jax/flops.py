"""``python -m pacodi_jax.flops``: counts and times the networks."""

from pacodi_jax.cli import start

if __name__ == "__main__":
    start.run("pacodi_jax.cli.flops")
