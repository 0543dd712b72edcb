import numpy as np
import pytest

from pacodi_jax import metrics
from pacodi_jax.errors import PacodiError
from pacodi_jax.metrics.draws import prepare
from tests.metrics.windows import waves

GOOD = waves(40)


def _with(value):
    bad = GOOD.copy()
    bad[7, 3, 2] = value
    return bad


@pytest.mark.parametrize(
    ("synthetic", "message"),
    [
        (_with(np.nan), "synthetic has nan in window 7, step 3, channel 2"),
        (_with(np.inf), "synthetic has inf in window 7"),
        (GOOD[..., :3], "synthetic windows have 3 channels but real ones have 4"),
        (GOOD[:, :9], "synthetic windows have 9 steps but real ones have 16"),
        (GOOD[:5], "synthetic has 5 windows; at least 20"),
        (GOOD[0, 0], "expected \\(windows, length, channels\\)"),
        (GOOD.astype(str), "not numbers"),
    ],
)
def test_what_cannot_be_scored_is_named(synthetic, message):
    with pytest.raises(PacodiError, match=message):
        prepare(GOOD, synthetic)


def test_constant_channel_is_named():
    flat = GOOD.copy()
    flat[..., 1] = 3.0
    with pytest.raises(PacodiError, match=r"channel load of the real windows is constant \(3\)"):
        prepare(flat, GOOD, names=["oil", "load", "wind", "sun"])


def test_single_scores_refuse_bad_windows_too():
    with pytest.raises(PacodiError, match="synthetic has nan"):
        metrics.wasserstein(GOOD, _with(np.nan), seed=0)
    with pytest.raises(PacodiError, match="at least 10"):
        metrics.discriminative_score(GOOD[:3], GOOD, seed=0)


def test_draws_that_do_not_match_their_conditions_are_refused():
    with pytest.raises(PacodiError, match="draws have shape"):
        metrics.crps(GOOD, GOOD)
    with pytest.raises(PacodiError, match="use mse"):
        metrics.wape(np.zeros((2, 3, 1)), np.ones((2, 3, 1)))


def test_windows_are_scaled_by_the_real_ones():
    windows = prepare(3 * GOOD + 1, 3 * GOOD + 4)
    assert windows.real.min() == 0
    assert windows.real.max() == pytest.approx(1)
    assert windows.synthetic.mean() > windows.real.mean() + 0.5
