"""A section of settings: written once, checked when it is made."""

import dataclasses

import numpy as np
import pytest

from pacodi_jax.config import Section, setting
from pacodi_jax.errors import PacodiError


def test_a_section_is_written_once_and_checked_when_it_is_made():
    @dataclasses.dataclass(frozen=True)
    class Toy(Section, name="toy"):
        width: int = setting(3, "of it", least=1)
        names: tuple[str, ...] = setting((), "of them")

    assert Toy(width=np.int64(4)).width == 4
    assert Toy(names="one").names == ("one",)
    assert Toy(names=["one", "two"]).names == ("one", "two")
    assert Toy().replace(width=5).to_dict() == {"width": 5, "names": ()}
    with pytest.raises(PacodiError, match=r"toy\.width=0"):
        Toy(width=0)
    with pytest.raises(PacodiError, match=r"no setting 'toy\.widht'. Did you mean 'width'"):
        Toy.make({"widht": 3})
