"""The mathematics: pure functions on one window, lifted to batches with ``jax.vmap``."""
