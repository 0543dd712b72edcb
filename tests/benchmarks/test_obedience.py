"""How requests of the held-out file are checked."""

import numpy as np
import pytest

from pacodi_jax.text import properties
from pacodi_jax.text.facts import measure
from tests.text.conftest import waves


@pytest.fixture(scope="module")
def obedience(benchmark):
    return benchmark("obedience")


def test_every_request_of_the_file_can_be_checked(obedience):
    asked = obedience.requests()
    assert len(asked) == 22 * 10 + 20
    assert {name for *_, names in asked for name in names} <= set(obedience.CHECKS)
    assert all(len(names) == 1 + (group == "two facts") for group, _, names in asked)


def test_checks_of_known_windows(obedience):
    known = properties.fit(waves(400))
    time = np.linspace(0, 1, 48)

    def met(window):
        found = measure(window, known)
        return {name for name, check in obedience.CHECKS.items() if check(found)}

    rise = met(9 * known.unit * time)
    assert {"up", "not falling", "no peaks", "low volatility", "not volatile"} <= rise
    assert not rise & {"down", "flat", "neither", "not rising", "one peak", "high volatility"}
    hump = met(known.unit * np.exp(-(((time - 0.25) / 0.1) ** 2)))
    assert {"one peak", "peak early"} <= hump
    assert not hump & {"peak late", "two peaks", "no peaks", "peak in the middle"}
    two = met(known.unit * np.sin(4 * np.pi * time))
    assert {"two peaks", "peak early", "peak late"} <= two
    high, low = met(rise_to(known, 8)), met(rise_to(known, -8))
    assert {"high level", "narrow range"} <= high
    assert "not high" not in high
    assert {"low level", "not high"} <= low


def rise_to(known, level):
    return np.full(24, float(level)) + 0.01 * known.unit * np.arange(24)
