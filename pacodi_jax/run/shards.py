"""One of several parts of a request: drawn alone, it has the very rows that the whole has there."""

import re
from typing import NamedTuple, Self

from pacodi_jax.errors import PacodiError


class Shard(NamedTuple):
    """Part ``number`` of ``parts`` even parts, counted from 0.

    Attributes:
      number: which part.
      parts: how many there are.
    """

    number: int
    parts: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads ``i/n``.

        Raises:
          PacodiError: for another form, or a part that does not exist.
        """
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
        shard = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if shard.number >= shard.parts:
            raise PacodiError(
                f"--shard={text!r}; write i/n, part i of n with i from 0 to n − 1, such as 0/4."
            )
        return shard

    def rows(self, count: int) -> range:
        """Its rows of ``count`` in all.

        Raises:
          PacodiError: if there are fewer rows than parts.
        """
        if count < self.parts:
            raise PacodiError(
                f"--shard={self.number}/{self.parts}: {count} windows cannot be shared by "
                f"{self.parts}; ask for more windows, or fewer parts."
            )
        first, last = (count * n // self.parts for n in (self.number, self.number + 1))
        return range(first, last)
