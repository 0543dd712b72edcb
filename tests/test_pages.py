"""Pages: short lines, few of them, and every block of code does what it shows.

A block is ``python``, ``bash`` or ``text``. The Python blocks of a page run in order in one
namespace and its commands run in the same folder, on small data and with small settings that the
page does not show. A block that cannot run here has ``<!-- not run: reason -->`` above it.
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import pandas as pd
import pytest
from jax._src import compiler

from pacodi_jax.cli import pacodi, work
from pacodi_jax.metrics import registry
from pacodi_jax.models import FAMILIES
from pacodi_jax.report import judgement, sections
from pacodi_jax.run import score
from tests.metrics.windows import SMALL

ROOT = Path(__file__).parent.parent
PAGES = sorted(path for path in ROOT.glob("docs/**/*.md") if path.parent.name != "results")
PROSE = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
RUN = [ROOT / "README.md", *(p for p in PAGES if p.parent.name in ("tutorials", "how-to"))]
FENCE = re.compile(r"(?:^<!-- not run: (.*?) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
#: What is made smaller before Python runs. Pages that ask for the same share compiled programs.
SMALLER = {
    r"PaCoDi\((\s*)length=\d+": r"PaCoDi(\1length=12",
    r"PaCoDi\((?=.*train\.steps\": \d{4,}|\n|time=.*settings=settings)": 'PaCoDi(size="tiny", ',
    r'"train\.steps": (\d+)000\b': r'"train.steps": \1, "train.batch": 8, "sample.steps": 2',
    r'"train\.batch": 128': '"sample.batch": 100',
    r"\.simulate\(\d+": ".simulate(30",
    r"horizon=\d+": "horizon=4, draws=4",
    r"\.sample\(1000": ".sample(20",
    r"count=100\b": "count=5",
    r"\.score\(\)": ".score(windows=40, seeds=2)",
    r"(\.show\([^)]*?)(?:, span=\d+)?\)": r"\1, span=30)",
}
#: What is added to a command.
LESS = {
    "train": "--size tiny --length 12 --set train.batch=8 --set sample.steps=2 -n 5",
    "sample": "-n 5",
    "show": "-n 20 --span 30",
    "forecast": "--draws 4",
    "export": "-n 5",
}


def names(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


@pytest.mark.parametrize("path", PROSE, ids=names(PROSE))
def test_lines_of_prose_are_short(path):
    made = r"^<!-- table \w+ -->$.*?^<!-- end of table -->$|^```.*?^```$"  # by scripts, or code
    text = re.sub(made, "", path.read_text(), flags=re.M | re.S)
    prose = [line for line in text.splitlines() if not line.startswith(("|", "!["))]
    assert [line for line in prose if len(line) >= 120] == []


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_pages_are_short(path):
    if path.parent.name != "experiments":
        assert len(path.read_text().splitlines()) <= 250


class Block(NamedTuple):
    reason: str
    kind: str
    code: str


def blocks(path):
    return [Block(*found) for found in FENCE.findall(path.read_text())]


@pytest.mark.parametrize("path", RUN, ids=names(RUN))
def test_blocks_say_what_they_are(path):
    for block in blocks(path):
        assert block.kind in ("python", "bash", "text"), block.code
        assert not block.reason or len(block.reason) > 15


def test_the_badges_are_true():
    shown = (ROOT / "docs" / "pictures" / "badges.svg").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert f">Python {pythons[0]} – {pythons[-1]}<" in shown
    (jax_bound,) = re.findall(r"'jax>=(\d+\.\d+)", str(project["dependencies"]))
    assert f">JAX {jax_bound} or newer<" in shown
    assert f">{project['license']}<" in shown
    assert (ROOT / "pacodi_jax" / "py.typed").exists()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the tables that pages name."""
    rng, hours = np.random.default_rng(0), pd.date_range("2024-01-01", periods=900, freq="h")
    load = 30 + 8 * np.sin(2 * np.pi * hours.hour / 24) + rng.normal(size=900)
    mine = pd.DataFrame({"date": hours, "load": load, "wind": rng.gamma(4, 2, 900)})
    gaps = mine.iloc[:120].copy()
    gaps.loc[50:60, "load"] = np.nan
    days = pd.date_range("2024-01-01", periods=700)
    shops = [
        {"day": day, "shop": f"shop {i}", "sales": rng.poisson(20 + i), "grade": grade}
        for i, grade in enumerate(("high", "plain", "high"))
        for day in days
    ]
    shop = pd.DataFrame(
        {"day": days, "visitors": rng.poisson(90, 700), "sales": rng.poisson(40, 700)}
    )
    tables = {"mine": mine, "gaps": gaps, "shops": pd.DataFrame(shops), "shop": shop}
    tables["stores"] = tables["shops"].drop(columns="grade")
    tables |= {"real": mine[["load", "wind"]], "anyones_samples": mine[["load", "wind"]] + 1}
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


chosen = compiler.get_compile_options


def older_emitters(*arguments, **options):
    """JAX's options for XLA; its older emitters, which JAX 0.10 has, compile twice as fast."""
    if jax.__version_info__ < (0, 11):
        own = {"xla_cpu_use_fusion_emitters": False}
        options["env_options_overrides"] = own | (options.get("env_options_overrides") or {})
    return chosen(*arguments, **options)


@pytest.fixture
def cheap(monkeypatch, tmp_path):
    """Programs compile quickly, scores train nothing, and registries stay as they were."""
    further = registry.further_metrics
    monkeypatch.setattr(work, "cache_programs", lambda: None)
    monkeypatch.setattr(judgement, "Budget", lambda **_: SMALL._replace(seeds=(0, 1), windows=60))
    monkeypatch.setattr(score, "Budget", lambda: SMALL)
    monkeypatch.setattr(registry, "paper_metrics", lambda *_: ())
    monkeypatch.setattr(registry, "further_metrics", lambda budget: further(budget)[1:])
    monkeypatch.setattr(sections, "sections", lambda *_: [])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = dict(FAMILIES)
    monkeypatch.setattr(compiler, "get_compile_options", older_emitters)
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    FAMILIES.clear()
    FAMILIES.update(before)


@pytest.mark.parametrize("path", RUN, ids=names(RUN))
def test_every_block_runs(path, place, cheap):
    space: dict = {"__name__": "page"}
    for block in blocks(path):
        if block.reason or block.kind == "text":
            continue
        if block.kind == "python":
            exec(compile(smaller(block.code), f"{path.name}", "exec"), space)
        else:
            for line in block.code.replace("\\\n", " ").splitlines():
                command(line)


def smaller(code):
    for pattern, less in SMALLER.items():
        code = re.sub(pattern, less, code)
    return code


def command(line):
    """Runs a command of a page in this process."""
    words = shlex.split(line.replace("…", ""), comments=True)
    if not words:
        return
    if words[0] == "pacodi":
        name, *rest = words[1:]
        rest = [re.sub(r"^(train\.steps=\d+)000$", r"\1", word) for word in rest]
        if name == "train" and not any(word.startswith("train.steps=") for word in rest):
            rest += ["--set", "train.steps=2"]
        rest = [
            "30" if old == "--steps" else word for old, word in zip(["", *rest], rest, strict=False)
        ]
        assert pacodi.main([name, *rest, *LESS.get(name, "").split()]) == 0, line
    elif words[:3] == ["python", "-m", "pacodi_jax.main"]:
        words = [word.replace("train.steps=40", "train.steps=4") for word in words]
        call = [sys.executable, *words[1:], "--config.sample.steps=2"]
        quick = os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=quick)
        assert done.returncode == 0, done.stderr
    else:
        raise AssertionError(f"this test cannot run {line!r}; say above the block why not")


def test_a_small_setting_is_put_in_place_of_each():
    code = 'model = pj.PaCoDi(length=48, time="date", settings={"train.steps": 8000})'
    assert "length=12" in smaller(code)
    assert 'size="tiny"' in smaller(code)
    assert '"train.steps": 8,' in smaller(code)
    assert smaller('m.show("a.html")') == 'm.show("a.html", span=30)'
    assert smaller('m.show("a.html", span=500)') == 'm.show("a.html", span=30)'
