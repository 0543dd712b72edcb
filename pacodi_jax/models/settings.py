"""The settings of models that diffuse spectra: the network, the process, the sampler."""

from dataclasses import dataclass, field

from pacodi_jax.config import Section, setting
from pacodi_jax.core.level_coding import MODES
from pacodi_jax.core.schedule import SCHEDULES
from pacodi_jax.core.solvers import GRIDS, SOLVERS
from pacodi_jax.core.training_times import TIMES
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.protocol import Drawing
from pacodi_jax.networks.blocks import INTERACTIONS
from pacodi_jax.networks.refusals import DTYPES

#: Width, depth and heads of the network.
SIZES = {
    name: {"width": width, "depth": depth, "heads": heads}
    for name, (width, depth, heads) in {
        "tiny": (32, 2, 2),
        "small": (64, 3, 4),
        "base": (96, 4, 4),
        "large": (128, 4, 8),
    }.items()
}
#: Grids of times are held as a whole, several times over.
_GRID = ("1 to 100000", lambda x: 1 <= x <= 100_000)


@dataclass(frozen=True)
class Network(Section, name="model"):
    """Which network, and how large."""

    name: str = setting("pacodi", "the family of models")
    width: int = setting(64, "of a token", least=1)
    depth: int = setting(3, "blocks", least=1)
    heads: int = setting(4, "attention heads; must divide the width", least=1)
    patch_size: int = setting(1, "bins per token (time steps for temporal)", least=1)
    interaction: str = setting(
        "time", "where the branches of pacodi meet; none decouples them", choices=INTERACTIONS
    )
    dtype: str = setting("float32", "of the products; all else is float32", choices=DTYPES)
    remat: bool = setting(False, "recompute blocks in the backward pass, to save memory")

    def check(self) -> None:
        """Heads share the width evenly."""
        if self.width % self.heads:
            raise PacodiError(f"model.heads={self.heads} must divide model.width={self.width}.")


@dataclass(frozen=True)
class Diffusion(Section, name="diffusion"):
    """The forward process and what the network learns of it."""

    variant: str = setting("sde", "continuous time, or T discrete steps", choices=("sde", "ddpm"))
    schedule: str = setting("vp", "of the noise", choices=SCHEDULES)
    ddpm_steps: int = setting(1000, "T, for variant ddpm and schedule ddpm_linear", accepted=_GRID)
    statistics: str = setting(
        "none",
        "level and scale of windows: left in, generated in the DC slot, or (oracle) borrowed from "
        "real windows",
        choices=MODES,
    )
    parameterisation: str = setting(
        "wiener",
        "the network maps z to the velocity, or x to the noise",
        choices=("wiener", "noise"),
    )
    loss: str = setting("velocity", "what the loss compares", choices=("velocity", "noise"))
    weighting: str = setting(
        "simple",
        "of the loss: 1, each slot by the speed of its own clock, or the paper's ELBO weight",
        choices=("simple", "angle", "elbo"),
    )
    times: str = setting("angle", "how training times are spread", choices=TIMES)
    stratified: bool = setting(True, "spread the times of a batch evenly")

    def check(self) -> None:
        """A velocity exists in Wiener coordinates only."""
        if self.loss == "velocity" and self.parameterisation != "wiener":
            raise PacodiError(
                "diffusion.loss='velocity' needs diffusion.parameterisation='wiener'; with "
                "'noise' use loss='noise'."
            )


@dataclass(frozen=True)
class Sampling(Drawing):
    """How the reverse process is solved."""

    solver: str = setting("wiener_ab2", "the step rule", choices=SOLVERS)
    steps: int = setting(20, "of the solver", accepted=_GRID)
    grid: str = setting("log_snr", "how the steps are spread over time", choices=GRIDS)
    guidance: float | None = setting(
        None,
        "strength of classifier-free guidance; 0 is the null condition, None what validation "
        "chose for texts, else 1",
        accepted=("None or a finite number", lambda x: x is None or abs(x) < float("inf")),
    )
    eta: float = setting(
        0.0, "noise that ddim adds", accepted=("0 <= eta <= 1", lambda x: 0 <= x <= 1)
    )
    posterior_variance: str = setting("small", "of ancestral sampling", choices=("small", "large"))

    def check(self) -> None:
        """Heun's method evaluates both ends of a step."""
        if self.solver == "heun" and self.steps < 2:
            raise PacodiError("sample.solver='heun' needs sample.steps of 2 or more.")

    @property
    def scale(self) -> float:
        """The strength of guidance."""
        return 1.0 if self.guidance is None else self.guidance

    @property
    def evaluations(self) -> int:
        """Network evaluations per sample, without guidance."""
        return 2 * self.steps - 1 if self.solver == "heun" else self.steps

    @property
    def path(self) -> dict[str, str | int | float]:
        """What decides the law of samples, and so which calibration fits them."""
        names = ("solver", "steps", "grid", "eta", "posterior_variance")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class SpectralSettings:
    """All settings of a model that diffuses spectra."""

    model: Network = field(default_factory=Network)
    diffusion: Diffusion = field(default_factory=Diffusion)
    sample: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        if self.model.name == "temporal" and self.diffusion.statistics == "generated":
            raise PacodiError(
                "diffusion.statistics='generated' lives in the spectrum's DC slot, which "
                "model.name='temporal' does not have; use 'none'."
            )
