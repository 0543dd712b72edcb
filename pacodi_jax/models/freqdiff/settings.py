"""The settings of FreqDiff."""

from dataclasses import dataclass, field

from pacodi_jax.config import Section, setting
from pacodi_jax.errors import PacodiError
from pacodi_jax.models.protocol import Drawing


@dataclass(frozen=True)
class Network(Section, name="model"):
    """How large the network is."""

    name: str = setting("freqdiff", "the family of models")
    width: int = setting(72, "of a token", least=2)
    depth: int = setting(10, "layers", least=1)
    heads: int = setting(12, "attention heads; must divide the width", least=1)
    hidden: int = setting(2048, "units of a layer's MLP", least=1)
    dropout: float = setting(
        0.1, "while training", accepted=("0 <= dropout < 1", lambda x: 0 <= x < 1)
    )

    def check(self) -> None:
        """Heads share the width evenly."""
        if self.width % self.heads:
            raise PacodiError(f"model.heads={self.heads} must divide model.width={self.width}.")


@dataclass(frozen=True)
class Sampling(Drawing):
    """How the reverse process is solved."""

    steps: int = setting(1000, "of Euler–Maruyama", least=2)


@dataclass(frozen=True)
class FreqDiffSettings:
    """All settings of FreqDiff."""

    model: Network = field(default_factory=Network)
    sample: Sampling = field(default_factory=Sampling)
