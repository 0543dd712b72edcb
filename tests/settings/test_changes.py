"""What makes another run, and what does not."""

from pacodi_jax.settings import Config, first_difference


def test_a_share_and_the_number_it_gives_are_the_same_run():
    share, number = Config.default(), Config.default().changed({"train.warmup": 500})
    assert first_difference(share, number) is None
    other = Config.default().changed({"train.warmup": 501, "sample.steps": 3})
    assert first_difference(share, other) == ("train.warmup", 0.0125, 501.0)
