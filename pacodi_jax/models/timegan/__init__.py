"""TimeGAN: an autoencoder, and a game in its latent space (Yoon, Jarrett, van der Schaar, 2019).

Five recurrent networks, each with layers of TensorFlow's GRU (L steps, h units, C channels):

  embedder e: C → h, recovery r: h → C, generator g: C → h, supervisor s: h → h, critic D: h → 1,

with H = e(X), X̃ = r(H), Ê = g(Z), Ĥ = s(Ê), X̂ = r(Ĥ), and D a logit per time step. Losses, means
over windows, steps and features:

  R = (X − X̃)²,  S = (H_{t+1} − s(H)_t)²,  U = BCE(D(Ĥ), 1) + BCE(D(Ê), 1),
  V = |σ(X̂) − σ(X)| + |μ(X̂) − μ(X)|, moments over the batch per step and channel.

1. embedding: 10 √R moves e and r.
2. supervision: S moves s, on embeddings that rest.
3. game: twice G and E, then D once:
   G = U + 100 √S + 100 V moves g and s;  E = 10 √R + S/10 moves e and r;
   BCE(D(H), 1) + BCE(D(Ĥ), 0) + BCE(D(Ê), 0) moves D, only where it exceeds 0.15.

What the authors' code (version 8f6181c) does that the paper does not say, and is the default here:

- Stage 2's optimiser has g's weights too, but S does not contain g: only s moves.
- Z is uniform on [0, 1), independent per step and channel; the paper speaks of a Wiener process.
- D's threshold of 0.15; the two updates of g, s, e and r per update of D; E's gradient through both
  sides of S; five Adams with moments of their own.
- Minimum and maximum are taken per channel; no average of the parameters, no clipping.
- Its Stocks run backwards in time: its loader turns a file round that already began with the oldest
  day. Here time runs forwards; ``model.backwards`` trains on windows turned round, and turns
  samples back.

What differs from the code: the three batches of a step of the game have the windows of the
engine's one batch, each with noise of its own, where the release draws new windows each time. A
step of ``train.steps`` is an iteration of the release, which takes 50,000 per stage (10,000 in its
tutorial); ``model.embedding`` and ``model.supervision`` share the steps out, a third per stage.

√R, √S and V are taken over the whole batch, on any number of devices.
"""

from pacodi_jax.models.timegan.generator import FAMILY

__all__ = ["FAMILY"]
