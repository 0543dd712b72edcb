"""The settings of Diffusion-TS."""

from dataclasses import dataclass, field

from pacodi_jax.config import Section, setting
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.diffusion_ts import schedule
from pacodi_jax.models.protocol import Drawing


@dataclass(frozen=True)
class Network(Section, name="model"):
    """How large the network is."""

    name: str = setting("diffusion_ts", "the family of models")
    width: int = setting(
        64, "of a token", accepted=("an even number from 4 up", lambda x: x >= 4 and x % 2 == 0)
    )
    heads: int = setting(4, "attention heads; must divide the width", least=1)
    encoders: int = setting(3, "blocks of the encoder", least=1)
    decoders: int = setting(2, "blocks of the decoder", least=1)

    def check(self) -> None:
        """Heads share the width evenly."""
        if self.width % self.heads:
            raise PacodiError(f"model.heads={self.heads} must divide model.width={self.width}.")


@dataclass(frozen=True)
class Diffusion(Section, name="diffusion"):
    """The forward process and the loss."""

    steps: int = setting(500, "T, of the cosine schedule", least=2)
    fourier: bool = setting(True, "count the error of the spectrum too")


@dataclass(frozen=True)
class Sampling(Drawing):
    """How the reverse process is solved."""

    steps: int = setting(0, "0 takes all T, ancestral; fewer are DDIM without noise", least=0)
    guidance: float = setting(
        1.0,
        "strength of classifier-free guidance; 0 is the null condition",
        accepted=("a finite number", lambda x: abs(x) < float("inf")),
    )


@dataclass(frozen=True)
class DiffusionTSSettings:
    """All settings of Diffusion-TS."""

    model: Network = field(default_factory=Network)
    diffusion: Diffusion = field(default_factory=Diffusion)
    sample: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        schedule.path(schedule.cosine(self.diffusion.steps), self.sample.steps)
