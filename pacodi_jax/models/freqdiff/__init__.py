"""FreqDiff: score matching on the coefficients of the half spectrum, one token per coefficient.

Crabbé, Huynh, Stanczuk and van der Schaar, "Time Series Diffusion in the Frequency Domain", ICML
2024, arXiv 2402.05933. The defaults are those of the release (JonathanCrabbe/FourierDiffusion),
which says what the paper does not, and we follow it:

- each coefficient of each channel is standardised over train, yet the noise keeps the law of
  unstandardised white noise: deviation 1/√2, and 1 at DC and Nyquist;
- the loss is weighted by 1/tr(Σ_t⁻¹) per example, not by the covariance;
- all layers start from the same weights; the rows of the position table have norm ≤ √D;
- 1000 evaluations on linspace(1, 1e-5), noise in every step, the last too; no average of weights.

What is ours: 200 epochs of batches of 64 are 43,500 steps (ETTh1, L = 24); weight decay leaves out
biases and gains; the last weights are kept, not those of the best validation loss. The release has
no conditions, so this family refuses them.
"""

from pacodi_jax.models.freqdiff.generator import FreqDiff, prepare
from pacodi_jax.models.freqdiff.settings import FreqDiffSettings
from pacodi_jax.models.protocol import Family

FAMILY = Family(
    "freqdiff",
    FreqDiffSettings,
    prepare,
    FreqDiff,
    sizes={
        "tiny": {"width": 16, "depth": 1, "heads": 2, "hidden": 32},
        "small": {},
    },
    defaults={
        "train.steps": 43_500,
        "train.batch": 64,
        "train.learning_rate": 1e-3,
        "train.warmup": 0.1,
        "train.final_rate": 0.0,
        "train.weight_decay": 0.01,
        "train.ema": 0.0,
    },
    reads_conditions=False,
)
