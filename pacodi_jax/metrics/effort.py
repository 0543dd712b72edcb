"""How long an evaluation will take, before it starts: processor seconds of one ordinary core.

Measured on windows of 24 steps; all but the transformer, which reads at most 32 tokens, grow with
the length. ``benchmarks/bench_judge.py`` measures them again.
"""

from collections.abc import Iterable

from pacodi_jax.metrics import ts2vec
from pacodi_jax.metrics.registry import Budget
from pacodi_jax.metrics.strong import TOKENS

#: Per training step at 24 steps.
STEP = {"discriminative_v1": 4.5e-4, "predictive_v1": 3.5e-4, "strong_discriminative_v1": 7.5e-3}
ENCODER_STEP, ENCODED, UNTRAINED, COMPILED, FIXED = 1.2e-2, 1.4e-4, 0.07, 5.0, 4.0


def seconds(
    missing: Iterable[tuple[str, int]], shape: tuple[int, int, int], budget: Budget
) -> float:
    """Processor seconds of what is missing, the names of scores with their seeds.

    Args:
      missing: a score and a seed for every number that is to be measured.
      shape: of the real windows ``(N, L, C)``.
      budget: windows per side and training steps.
    """
    wanted, (count, length, channels) = list(missing), shape
    size, longer = min(count, budget.windows), length / 24
    small = size * length * channels <= ts2vec.SMALL
    steps = {
        "discriminative_v1": budget.discriminative_steps * longer,
        "predictive_v1": budget.predictive_steps * longer,
        "strong_discriminative_v1": budget.strong_steps * min(length, TOKENS) / 24,
    }
    total = FIXED
    for name, _ in wanted:
        if name in STEP:
            total += STEP[name] * steps[name]
        elif name == "context_fid_v1":
            total += 2 * size * ENCODED * longer
        else:
            total += UNTRAINED * size * length * channels / (3000 * 24 * 7)
    encoders = {seed for name, seed in wanted if name == "context_fid_v1"}
    default = 200 if small else 600
    total += len(encoders) * (budget.encoder_steps or default) * ENCODER_STEP * longer
    return total + COMPILED * len({name for name, _ in wanted} & {*STEP, "context_fid_v1"})
