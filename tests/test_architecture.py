"""The house has floors: a module imports only from lower ones."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pacodi_jax"

LAYERS = {
    "types": 0,
    "errors": 0,
    "config": 0,
    "files": 0,
    "memory": 0,
    "core": 1,
    "networks": 2,
    "parallel": 2,
    "metrics": 3,
    "text": 3,
    "data": 3,
    "report": 4,
    "models": 4,
    "checkpoint": 5,
    "settings": 5,
    "run": 6,
    "series": 7,
    "train": 7,
    "configs": 8,
    "api": 8,
    "cli": 9,
    "main": 10,
    "judge": 10,
    "flops": 10,
}
# Inside one layer a module may lean on a neighbour only along these edges.
NEIGHBOURS = {("config", "errors"), ("files", "errors"), ("data", "text")}
#: ``python -m pacodi_jax.data`` is a door of the command, not a part of the room.
DOORS = {"data/__main__.py"}
ONLY_HERE = {"pmap": {"parallel"}, "shard_map": {"parallel"}, "orbax": {"checkpoint"}}


def _modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if p.parent != PACKAGE or p.stem != "__init__")


def _top(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported(path: Path) -> set[str]:
    """Top-level names inside the package that ``path`` imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            parts = node.module.split(".")
            if parts[0] == "pacodi_jax":
                found |= {parts[1]} if len(parts) > 1 else {a.name for a in node.names}
        elif isinstance(node, ast.Import):
            names = [a.name.split(".") for a in node.names]
            found |= {n[1] for n in names if n[0] == "pacodi_jax" and len(n) > 1}
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"relative import in {path}"
    return found - {"__version__"}


@pytest.mark.parametrize("path", _modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_module_imports_only_from_lower_layers(path):
    here = _top(path) if str(path.relative_to(PACKAGE)) not in DOORS else "main"
    assert here in LAYERS, f"give {here} a layer"
    for name in _imported(path) - {here}:
        lower = LAYERS[name] < LAYERS[here]
        assert lower or (here, name) in NEIGHBOURS, f"{here} must not import {name}"


@pytest.mark.parametrize("word", ONLY_HERE)
def test_parallelism_and_checkpointing_are_named_in_one_file(word):
    for path in _modules():
        tree = ast.parse(path.read_text())
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        names |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names |= {a.name.split(".")[0] for a in node.names}
                names |= {(getattr(node, "module", None) or "").split(".")[0]}
        assert word not in names or _top(path) in ONLY_HERE[word], f"{word} is named in {path}"


def test_only_models_know_what_a_spectral_diffusion_is():
    """Another family must need no change outside its own file."""
    inside = {"SpectralDiffusion", "SpectralSettings", "Fitted", "diffusion"}
    for path in _modules():
        top = _top(path)
        if top in ("models", "core"):
            continue
        tree = ast.parse(path.read_text())
        attributes = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        assert not (inside - {"diffusion"}) & names, path
        assert "diffusion" not in attributes, path
