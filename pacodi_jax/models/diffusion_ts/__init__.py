"""Diffusion-TS: an encoder–decoder that predicts the clean window as trend and season.

Yuan and Qiao, "Diffusion-TS: Interpretable Diffusion for General Time Series Generation", ICLR
2024, arXiv 2403.01742. The defaults are those of the release (Y-debug-sys/Diffusion-TS) on ETTh1,
presets of Stocks and Sines have the release's on these. Where paper and release differ, we follow
the release:

- L1 in the loss where the paper prints squares, and w_t = √α_t √(1−ᾱ_t)/(100 β_t), the root of the
  printed weight but for its factor;
- the season has no 1/L; the padding mask is ignored; labels have a slot that nothing fills;
- x̂₀ is clamped to [−1, 1] in every sampling step, and fewer than T steps are DDIM;
- the rate is halved when the noisy loss of single steps does not fall by 10 % (the paper: "linear
  decay"); the average counts every tenth update.

What is ours: two accumulated micro-batches of 128 are one batch of 256, which is the same update,
since no layer looks across examples; warm-up begins at rate 0 instead of 1e-5. A condition fills
the vacant slot: a linear map of it is added to the code of time in every AdaLN (the release's
decoder would leave it out before cross-attention), with dropout and classifier-free guidance.
"""

from pacodi_jax.models.diffusion_ts.generator import DiffusionTS, prepare
from pacodi_jax.models.diffusion_ts.settings import DiffusionTSSettings
from pacodi_jax.models.protocol import Family

FAMILY = Family(
    "diffusion_ts",
    DiffusionTSSettings,
    prepare,
    DiffusionTS,
    sizes={
        "tiny": {"width": 16, "heads": 2, "encoders": 1, "decoders": 1},
        "small": {},
        "base": {"width": 96, "encoders": 4, "decoders": 3},
    },
    defaults={
        "data.scaling": "min_max",
        "train.steps": 18_000,
        "train.batch": 256,
        "train.learning_rate": 8e-4,
        "train.warmup": 1 / 36,  # 500 updates
        "train.decay": "plateau",
        "train.plateau_patience": 4000,
        "train.plateau_threshold": 0.1,
        "train.final_rate": 1 / 80,  # 1e-5
        "train.beta2": 0.96,
        "train.ema": 0.995,
    },
    per_source={
        "stocks": {
            "model.encoders": 2,
            "train.batch": 128,
            "train.steps": 10_000,
            "train.warmup": 1 / 20,
            "train.plateau_patience": 2000,
        },
        "sines": {
            "model.encoders": 1,
            "train.steps": 12_000,
            "train.warmup": 1 / 24,
            "train.plateau_patience": 3000,
        },
    },
)
