"""The benchmark of memory measures the network that it is asked for."""

import importlib.util
import re
from pathlib import Path

import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.networks import SingleBranch

PATH = Path(__file__).parents[2] / "benchmarks" / "bench_networks.py"


@pytest.fixture
def bench():
    spec = importlib.util.spec_from_file_location("bench_networks", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_memory_is_of_the_model_that_is_named(bench, monkeypatch):
    measured = []
    monkeypatch.setattr(bench, "memory", measured.append)
    for model in ("temporal", "iso_flops", "paper"):
        bench.main(["memory", "--model", model])
    bench.main(["memory"])
    names = [getattr(network, "interaction", "temporal") for network in measured]
    assert names == ["temporal", "iso_flops", "paper", "time"]
    with pytest.raises(PacodiError, match=r"--model='iso_flop' is unknown.*'iso_flops'"):
        bench.main(["memory", "--model", "iso_flop"])


def test_memory_prints_the_peak_and_what_xla_allots(bench, capsys):
    bench.memory(SingleBranch(1, 8, 1, 1), length=256, batch=64)
    pattern = r"temporal L=256 batch=64: peak (\S+) GiB, XLA's temporary buffers (\S+) GiB"
    peak, temporary = map(float, re.match(pattern, capsys.readouterr().out).groups())
    assert 0 < temporary < peak
