"""Changes the code in small ways, one at a time, and asks whether a test of its room notices.

    nice python benchmarks/mutants.py --out DIR [--count 300]

The changes are made in a copy of the project that the first command makes in DIR. DIR/mutants.json
grows with every mutant; the same command goes on where it stopped. One that exceeds its processor
time counts as noticed.
"""

import argparse
import ast
import importlib
import json
import os
import random
import re
import resource
import shutil
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

ROOMS = ["checkpoint/*", "core/**/*", "data/s[cp][al][il]*", "metrics/*", "models/**/*"]
HEAVY = "jax flax.linen optax pandas pyarrow sklearn scipy.stats matplotlib.pyplot orbax.checkpoint"
SWAPS = "Lt LtE, Gt GtE, Eq NotEq, In NotIn, Is IsNot, Add Sub, Mult Div, And Or"
SWAP = dict(pair.split() for pair in SWAPS.split(", "))
SWAP |= {new: old for old, new in SWAP.items()} | {"FloorDiv": "Mult", "Pow": "Mult"}


def change(node: ast.AST) -> ast.AST | None:
    """What may stand in the place of a node."""
    if type(node).__name__ in SWAP:
        return getattr(ast, SWAP[type(node).__name__])()
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return ast.Constant(not node.value if node.value is bool(node.value) else node.value + 1)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return node.operand
    return ast.Pass() if isinstance(node, ast.Raise) else None


def places(node: ast.AST, line: int = 0) -> Iterator[tuple]:
    """Each ``(container, key, new node, line)`` under a node; types and messages are left."""
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "exc"):
            of_list = isinstance(value, list)
            for key in range(len(value)) if of_list else [name]:
                container = value if of_list else vars(node)
                child = container[key]
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    at = getattr(child, "lineno", line)
                    yield from [(container, key, new, at) for new in [change(child)] if new]
                    yield from places(child, at)


def mutants(copy: Path, pattern: str) -> Iterator[dict]:
    """All mutants of a room, with the whole changed text of the file."""
    for path in sorted((copy / "pacodi_jax").glob(f"{pattern}.py")):
        tree, file = ast.parse(path.read_text()), str(path.relative_to(copy))
        plain = ast.unparse(tree).splitlines()
        for container, key, new, line in places(tree):
            old, container[key] = container[key], new
            text = ast.unparse(ast.fix_missing_locations(tree))
            container[key] = old
            pairs = zip(plain, text.splitlines(), strict=False)
            for was, now in [pair for pair in pairs if len({*pair}) > 1][:1]:
                about = {"file": file, "line": line, "was": was.strip(), "is": now.strip()}
                yield about | {"text": text}


def outcome(mutant: dict, copy: Path) -> str:
    """``survived``, or the test that noticed. The child has the heavy imports already."""
    file, log = copy / mutant["file"], copy.parent / "last.log"
    tests = [*(copy / "tests" / Path(mutant["file"]).parts[1]).rglob("test_*.py")]
    about = rf"\b{file.stem}\b"
    tests.sort(key=lambda p: (file.stem not in p.stem, not re.search(about, p.read_text()), p))
    whole = file.read_text()
    file.write_text(mutant["text"])
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (600, 600))  # the slowest room takes a third of it
        os.chdir(copy)
        os.dup2(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 1)
        os._exit(importlib.import_module("pytest").main(["-x", "-n0", *map(str, tests)]))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    file.write_text(whole)
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", log.read_text(errors="replace"), re.MULTILINE)
    return "survived" if code == 0 else found[1] if found else f"exit code {code}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args()
    copy, kept = options.out.absolute() / "copy", options.out / "mutants.json"
    if not copy.exists():
        ignored = shutil.ignore_patterns(".git", ".venv")
        shutil.copytree(Path(__file__).parents[1], copy, ignore=ignored)
    os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path.insert(0, str(copy))
    sys.dont_write_bytecode = True
    [importlib.import_module(name) for name in f"{HEAVY} pytest".split()]
    rooms = [list(mutants(copy, room)) for room in ROOMS]
    rooms = [random.Random(0).sample(room, len(room)) for room in rooms]
    chosen = [m for turn in zip_longest(*rooms) for m in turn if m][: options.count]
    done = json.loads(kept.read_text()) if kept.exists() else []
    for mutant in chosen[len(done) :]:
        done.append({**mutant, "noticed_by": outcome(mutant, copy)})
        del done[-1]["text"]
        kept.write_text(json.dumps(done, indent=1) + "\n")
        print(len(done), done[-1], flush=True)
