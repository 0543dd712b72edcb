"""TimeVAE: a variational autoencoder whose decoder is a sum of parts (Desai et al., 2021).

arXiv 2111.08095.

Loss, summed over batch, time and channels, with the weight w = 3:

  w (Σ (x − x̂)² + Σ_{b,t} (mean_c x − mean_c x̂)²) − ½ Σ (1 + log σ² − μ² − σ²).

What the authors' code (version 9914576) does that the paper does not say, and is the default here:

- The second term of the bracket, over means of channels, and the weight 3.
- The level block is always on; trend (``model.trend_poly``) and seasons (``model.seasons``) are
  off, which the paper calls the base model. Seasons begin with each window, whatever its stamp.
- Minimum and maximum are taken per position in the window and channel.
- ReLU stands behind the decoder's last transposed convolution too.
- Adam's ε is Keras's 10⁻⁷; no average of the parameters, no clipping, batches of 16.
- Early stopping and the halving of the rate watch a quantity that is never logged, so neither
  acts: training has a fixed length at a fixed rate, as here. The release takes 1000 epochs, which
  are 1000·N/16 steps; ``train.steps`` says how many are taken here. The halving that was meant is
  ``train.decay=plateau`` with ``train.plateau_patience``, in steps. Early stopping is not offered.

The conditional model is ours: the condition, standardised, is projected to 32 numbers, which join
the encoder's features and z. The null condition is 32 zeros.
"""

from pacodi_jax.models.timevae.generator import FAMILY

__all__ = ["FAMILY"]
