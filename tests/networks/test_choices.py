"""What depends on the platform."""

from pacodi_jax.networks import choices


def test_blocks_are_written_out_on_cpu_and_at_most_four(monkeypatch):
    assert [choices.unroll(depth, remat=False) for depth in (1, 3, 4, 24)] == [1, 3, 4, 4]
    monkeypatch.setattr(choices, "platform", lambda: "tpu")
    assert choices.unroll(3, remat=False) == 1
