"""What TS2Vec makes of windows: each encoder is trained once, each set of windows encoded once."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from pacodi_jax.metrics import ts2vec
from pacodi_jax.metrics.cache import Cache, digest, key_of
from pacodi_jax.metrics.draws import Windows
from pacodi_jax.metrics.registry import Budget

#: Sets of representations that are kept.
KEPT = 16


def encoders(
    windows: Windows, budget: Budget, cache: Cache
) -> Callable[[int, np.ndarray], np.ndarray]:
    """Returns ``encode(seed, windows)``: an encoder is trained once per data set and seed.

    Representations are kept too: score and ceiling of a seed have the same real windows.
    """
    identity = digest(windows.real)
    kept: dict[int, Any] = {}
    encoded: OrderedDict[tuple[int, bytes], np.ndarray] = OrderedDict()
    locks = {seed: threading.Lock() for seed in budget.seeds}

    def train(seed: int) -> Any:
        key = key_of("ts2vec_v1", identity, budget.windows, budget.encoder_steps, seed)
        like = ts2vec.init(np.random.default_rng(seed), *windows.real.shape[1:])
        stored = cache.encoder(key, like)
        if stored is None:
            order = np.random.default_rng((seed, 0)).permutation(len(windows.real))
            rows = windows.real[order[: budget.windows]]
            stored = ts2vec.train(seed, rows, budget.encoder_steps)
            cache.keep_encoder(key, stored)
        return stored

    def encode(seed: int, rows: np.ndarray) -> np.ndarray:
        name = (seed, hashlib.blake2b(rows.tobytes(), digest_size=16).digest())
        with locks[seed]:
            if seed not in kept:
                kept[seed] = train(seed)
            if name not in encoded:
                encoded[name] = ts2vec.encode(kept[seed], rows)
                while len(encoded) > KEPT:
                    encoded.popitem(last=False)
            return encoded[name]

    return encode
