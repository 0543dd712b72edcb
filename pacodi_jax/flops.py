"""``python -m pacodi_jax.flops``: counts and times the networks."""

from pacodi_jax.cli.flops import command

if __name__ == "__main__":
    command()
