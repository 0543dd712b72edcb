"""T2S: flow matching in the latent of an autoencoder (Ge et al., IJCAI 2025, arXiv 2505.02417).

1. The autoencoder: z = resampled(e(x)), x̂ = d(resampled(z)), with the loss
   (x − x̂)² + (e(x) − resampled(z))². The latent is 30 × 64 for every length.
2. The flow, the autoencoder at rest: z_t = t z₁ + (1 − t) z₀, z₀ ~ N(0, I), with the loss
   (v(z_t, t, text) − (z₁ − z₀))².

A sample follows S Euler steps from t = 0 with v_∅ + s (v_text − v_∅) and is decoded: 2S
evaluations, or S if s is 0 or 1 or there is no text.

What the authors' code (version de08041) does that the paper does not say, and is the default here:

- The autoencoder has no divergence, no sampling and no codebook; latents are not standardised.
- The text's vector is added to the time's code as it is: conditions of ``model.width`` numbers or
  fewer (``text.width=128``). "No text" is the time's code alone, and a whole update drops its texts
  with probability 0.3.
- Training times are rounded to hundredths; no network is told the length.
- Minimum and maximum are taken per position in the window.
- S and s were chosen per data set and length, without a validation part; 10 and 9 are ETTh1's.

What differs from the code: one model serves one length, not three; batches are of 256, not of
9216; the rate of the flow climbs on a line and falls on half a cosine (OneCycle's shape), and
Adam's first decay rate stays at 0.9. T2S reads one channel, of a length that 4 divides.
"""

from pacodi_jax.models.t2s.generator import FAMILY

__all__ = ["FAMILY"]
