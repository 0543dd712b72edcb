"""What synthetic windows give away of the training windows: the record of an audit."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pacodi_jax.metrics.score import present

#: An attack that is right less often than this is not called loud, however sure it is.
LOUD = 0.55


@dataclass(frozen=True)
class Attack:
    """Membership inference: telling training windows from unseen ones of the same law.

    Attributes:
      kind: ``"distance"``, from the synthetic windows alone, or ``"loss"``, with the model at hand.
      auc: how often a training window looks more like one than an unseen window does; ½ is chance.
      interval: its 95 % interval; overlapping windows count as one.
      control: the interval's upper end for a surrogate without memory (the floor).
      ceiling: the same attack on a plain copy of training windows, as many as the synthetic ones.
      members: training windows that were attacked.
      outsiders: unseen windows that were attacked.
    """

    kind: str
    auc: float
    interval: tuple[float, float]
    control: float
    ceiling: float | None
    members: int
    outsiders: int

    @property
    def succeeds(self) -> bool:
        """Whether it beats chance, a surrogate without memory, and :data:`LOUD`."""
        return self.interval[0] > max(0.5, self.control) and self.auc > LOUD

    @property
    def blind(self) -> bool:
        """Whether it would not even tell a plain copy, for want of synthetic windows."""
        return self.ceiling is not None and self.ceiling <= LOUD

    def record(self) -> dict[str, Any]:
        """The JSON values of the attack."""
        return present(**asdict(self))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Attack":
        """Reads what :meth:`record` wrote."""
        low, high = record["interval"]
        return cls(**{"ceiling": None, **record, "interval": (low, high)})


@dataclass(frozen=True)
class Copy:
    """A synthetic window and the training window that it is nearest to, by their places.

    Attributes:
      synthetic: row of the synthetic window.
      train: row of the training window.
      distance: root mean squared difference, channels scaled to [0, 1].
      ratio: the distance over the training window's own to the nearest other one.
    """

    synthetic: int
    train: int
    distance: float
    ratio: float


@dataclass(frozen=True)
class Privacy:
    """What was looked for of copies.

    Attributes:
      looked: how many synthetic windows were looked at, evenly spread.
      identical: share of them that equal a training window.
      identical_real: the same share of unseen real windows, or of training windows among others.
      most: the most copied, nearest first.
      nearer: share of them nearer to a training window than any held-out window is.
      nearer_chance: what that share is expected to be of unseen windows of the same law.
      nearer_sure: whether that is more than chance at 1 %, and held-out windows have not drifted.
      attacks: on membership; empty without held-out windows.
    """

    looked: int
    identical: float
    identical_real: float
    most: tuple[Copy, ...]
    nearer: float | None = None
    nearer_chance: float | None = None
    nearer_sure: bool | None = None
    attacks: tuple[Attack, ...] = ()

    @property
    def repeats(self) -> bool:
        """Whether training windows come back unchanged, more often than real windows recur."""
        return self.identical > 0.01 + 2 * self.identical_real

    def record(self) -> dict[str, Any]:
        """The JSON values of the audit."""
        whole = {**asdict(self), "most": None, "attacks": None}
        return {
            **present(**whole),
            "most": [asdict(copy) for copy in self.most],
            "attacks": [attack.record() for attack in self.attacks],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Privacy":
        """Reads what :meth:`record` wrote."""
        most = tuple(Copy(**copy) for copy in record["most"])
        attacks = tuple(map(Attack.from_record, record["attacks"]))
        return cls(**{**record, "most": most, "attacks": attacks})
