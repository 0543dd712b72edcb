"""What the report shows of the windows themselves: sections of captioned pictures."""

from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from pacodi_jax.metrics.audit import spread
from pacodi_jax.metrics.correlation import (
    autocorrelation,
    cross_correlation,
    own_mean_autocorrelation,
)
from pacodi_jax.metrics.inputs import fit_scale
from pacodi_jax.metrics.privacy import Privacy
from pacodi_jax.metrics.spectra import power_spectrum
from pacodi_jax.report import figures

POINTS, LIMIT = 500, 20_000
CHANNELS = 8
SHOWN = 8


class Picture(NamedTuple):
    """An inline SVG and the words under it."""

    svg: str
    caption: str


class Section(NamedTuple):
    """A heading, a sentence and its pictures; with ``key``, a legend of the two colours."""

    title: str
    text: str
    pictures: list[Picture]
    key: bool = True


def _shown(names: list[str]) -> str:
    """A sentence if not every channel is drawn."""
    return (
        f" Shown are the first {CHANNELS} of {len(names)} channels."
        if len(names) > CHANNELS
        else ""
    )


def _apart(first: np.ndarray, second: np.ndarray, unit: str, where: str) -> str:
    """The largest difference of two curves, in words, for screen readers."""
    gap = np.abs(first - second)
    return f"largest difference {gap.max():.2g}{unit}, at {where} {gap.argmax()}"


def _picture(figure: object, caption: str) -> Picture:
    return Picture(figures.to_svg(figure, caption), caption)  # type: ignore[arg-type]


def _maps(flat: list[np.ndarray], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two maps to the plane, ``(2n, 2)``, of real and synthetic rows ``(n, D)``: PCA and t-SNE."""
    size, width = flat[0].shape
    parts = min(30, size, width)
    projection = PCA(parts, random_state=seed).fit(flat[0])
    reduced = np.concatenate([projection.transform(rows) for rows in flat])
    if parts < 2:
        return reduced.repeat(2, 1), reduced.repeat(2, 1)
    # Barnes-Hut needs four neighbours and a perplexity below the number of points.
    tsne = TSNE(2, perplexity=min(30.0, size / 2), init="pca", random_state=seed)
    return reduced[:, :2], tsne.fit_transform(reduced)


def clouds(real: np.ndarray, synthetic: np.ndarray, seed: int) -> Section:
    """Density, PCA and t-SNE of windows ``(N, L, C)``: the figure of the paper."""
    scale = fit_scale(real)
    rng = np.random.default_rng(seed)
    size = min(POINTS, len(real), len(synthetic))
    flat = [
        scale.apply(w[rng.permutation(len(w))[:size]]).reshape(size, -1) for w in (real, synthetic)
    ]
    components, mapped = _maps(flat, seed)
    return Section(
        "Distribution",
        f"{size} real (discs) and {size} synthetic (crosses) windows. Discs without crosses are "
        "real windows that are missed; crosses without discs are unlike any real window.",
        [
            _picture(
                figures.density(scale.apply(real), scale.apply(synthetic)),
                "Density of all values, each channel scaled to [0, 1] by the real windows.",
            ),
            _picture(
                figures.scatter(components[:size], components[size:], "component"),
                "First two principal components of whole windows, fitted on the real ones.",
            ),
            _picture(
                figures.scatter(mapped[:size], mapped[size:], "t-SNE"),
                "t-SNE of real and synthetic windows together.",
            ),
        ],
    )


def examples(real: np.ndarray, synthetic: np.ndarray, names: list[str], seed: int) -> Section:
    """Random windows side by side, channel by channel."""
    rng = np.random.default_rng(seed)
    chosen = [w[rng.permutation(len(w))[:SHOWN]] for w in (real, synthetic)]
    return Section(
        "Windows side by side",
        f"{SHOWN} real and {SHOWN} synthetic windows, chosen at random, in the units of the data."
        + _shown(names),
        [
            _picture(
                figures.windows(chosen[0][..., c], chosen[1][..., c], name),
                f"{name}: real on the left, synthetic on the right, on the same scale.",
            )
            for c, name in enumerate(names[:CHANNELS])
        ],
    )


def spectra(real: np.ndarray, synthetic: np.ndarray, names: list[str]) -> Section:
    """Mean power spectra, in decibels."""
    levels = [10 * np.log10(power_spectrum(w) + 1e-12) for w in (real, synthetic)]
    return Section(
        "Power spectra",
        "Bin 0 holds the variance of window means; the last bin is the highest frequency."
        + _shown(names),
        [
            _picture(
                figures.curves(levels[0][:, c], levels[1][:, c], name, ("frequency bin", "dB")),
                f"Mean power spectrum of {name}: "
                f"{_apart(levels[0][:, c], levels[1][:, c], ' dB', 'bin')}.",
            )
            for c, name in enumerate(names[:CHANNELS])
        ],
    )


def autocorrelations(real: np.ndarray, synthetic: np.ndarray, names: list[str]) -> Section:
    """Autocorrelation by lag, around the overall mean and around each window's own."""
    means = (("overall mean", autocorrelation), ("own mean", own_mean_autocorrelation))
    pictures = []
    for c, name in enumerate(names[:CHANNELS]):
        for mean, curve in means:
            first, second = (curve(w[..., c : c + 1])[:, 0] for w in (real, synthetic))
            drawn = figures.curves(first, second, f"{name}, {mean}", ("lag", "correlation"))
            words = f"Autocorrelation of {name} around the {mean}: "
            pictures.append(_picture(drawn, f"{words}{_apart(first, second, '', 'lag')}."))
    return Section(
        "Autocorrelation",
        "Around each channel's overall mean, where a level that lasts a whole window counts as "
        "correlation, and around each window's own mean, where it does not." + _shown(names),
        pictures,
    )


def correlations(real: np.ndarray, synthetic: np.ndarray, names: list[str]) -> Section:
    """Cross-correlation of channels, and the difference."""
    first, second = cross_correlation(real), cross_correlation(synthetic)
    shown = (("real", first), ("synthetic", second), ("synthetic − real", second - first))
    gap = np.abs(second - first)
    row, column = np.unravel_index(gap.argmax(), gap.shape)
    largest = (
        f" The largest difference is {gap.max():.2f}, between {names[column]} and {names[row]}."
    )
    return Section(
        "Cross-correlation",
        "Correlation of channels at the same step, over all windows; orange is positive, purple "
        "negative." + (largest if len(names) > 1 else ""),
        [
            _picture(figures.matrix(m, title, names), f"Correlation matrix: {title}.")
            for title, m in shown
        ],
        key=False,
    )


def copies(real: np.ndarray, synthetic: np.ndarray, names: list[str], privacy: Privacy) -> Section:
    """The most copied synthetic windows, each with the real window that it is nearest to."""
    shown = ", ".join(names[:3])
    return Section(
        "Most copied",
        f"Of {privacy.looked:,} synthetic windows (dashed) the {len(privacy.most)} nearest to a "
        "real window (solid), relative to how near real windows come to one another there. If the "
        f"lines coincide, the generator copies. Shown: {shown}.",
        [
            _picture(
                figures.neighbours(synthetic[copy.synthetic], real[copy.train], shown),
                f"Synthetic window {copy.synthetic} and real window {copy.train}: root mean "
                f"squared difference {copy.distance:.4f}, channels scaled to [0, 1]; "
                f"{copy.ratio:.2f} of what is usual.",
            )
            for copy in privacy.most
        ],
    )


def _some(windows: np.ndarray) -> np.ndarray:
    """At most 20,000 windows, evenly spread: pictures show no more."""
    return windows[spread(len(windows), LIMIT)]


def sections(
    real: np.ndarray,
    synthetic: np.ndarray,
    names: list[str],
    privacy: Privacy | None = None,
    seed: int = 0,
) -> list[Section]:
    """All pictures of windows ``(N, L, C)`` in the user's units."""
    copied = [] if privacy is None else [copies(real, synthetic, names, privacy)]
    real, synthetic = _some(real), _some(synthetic)
    return [
        *copied,
        clouds(real, synthetic, seed),
        examples(real, synthetic, names, seed),
        spectra(real, synthetic, names),
        autocorrelations(real, synthetic, names),
        correlations(real, synthetic, names),
    ]
