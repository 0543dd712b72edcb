"""Changes the code in small ways, one at a time, and asks whether a test of its room notices.

    nice python benchmarks/mutants.py --out DIR [--count 300] [--rooms core,data]

The changes are made in a copy of the project that the first command makes in DIR. It notes which
tests run which functions (``mutant_tests.py``), so that a mutant costs seconds. DIR/mutants.json
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
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import mutant_tests

ROOMS = {"core": "core/**/*", "data": "data/s[cp][al][il]*", "checkpoint": "checkpoint/*"}
ROOMS |= {"models": "models/**/*", "metrics": "metrics/*"}
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


def places(node: ast.AST, at: tuple = (0, 0)) -> Iterator[tuple]:
    """Each ``(container, key, new node, lines)`` under a node; types and messages are left.

    The lines are those of the function and of the change.
    """
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "exc"):
            of_list = isinstance(value, list)
            for key in range(len(value)) if of_list else [name]:
                container = value if of_list else vars(node)
                child = container[key]
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    line = getattr(child, "lineno", at[1])
                    here = (line if isinstance(child, ast.FunctionDef) else at[0], line)
                    yield from [(container, key, new, here) for new in [change(child)] if new]
                    yield from places(child, here)


def mutants(copy: Path, pattern: str) -> Iterator[dict]:
    """All mutants of a room, with the whole changed text of the file."""
    for path in sorted((copy / "pacodi_jax").glob(f"{pattern}.py")):
        tree, file = ast.parse(path.read_text()), str(path.relative_to(copy))
        plain = ast.unparse(tree).splitlines()
        for container, key, new, lines in places(tree):
            old, container[key] = container[key], new
            text = ast.unparse(ast.fix_missing_locations(tree))
            container[key] = old
            pairs = zip(plain, text.splitlines(), strict=False)
            for was, now in [pair for pair in pairs if len({*pair}) > 1][:1]:
                about = {"file": file, "lines": lines, "was": was.strip(), "is": now.strip()}
                yield about | {"text": text}


def outcome(mutant: dict, copy: Path, tests: dict) -> str:
    """``survived``, or the test that noticed."""
    file, log = copy / mutant["file"], copy.parent / "last.log"
    asked = mutant_tests.chosen(tests, mutant["file"], {*mutant["lines"]})
    if not asked:
        return "no test"
    seconds = 15 + 3 * int(sum(tests[test][0] for test in asked))
    whole = file.read_text()
    file.write_text(mutant["text"])
    plugin, names = mutant_tests.Chooser(asked), {test.split("::")[0] for test in asked}
    code = mutant_tests.pytest_in_a_child(copy, log, seconds, plugin, "-x", *sorted(names))
    file.write_text(whole)
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", log.read_text(errors="replace"), re.MULTILINE)
    return "survived" if code == 0 else found[1] if found else f"exit code {code}"


def main() -> None:
    """Reads the flags; asks of an equal share of every room."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--rooms", default=",".join(ROOMS))
    options = parser.parse_args()
    copy, kept = options.out.absolute() / "copy", options.out / "mutants.json"
    if not copy.exists():
        ignored = shutil.ignore_patterns(".git", ".venv*")
        shutil.copytree(Path(__file__).parents[1], copy, ignore=ignored)
    os.environ |= {"PYTHONPATH": str(copy), "JAX_COMPILATION_CACHE_DIR": f"{copy.parent}/programs"}
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    sys.path.insert(0, str(copy))
    [importlib.import_module(name) for name in f"{HEAVY} pytest".split()]
    done = json.loads(kept.read_text()) if kept.exists() else []
    for room in options.rooms.split(","):
        sys.dont_write_bytecode = False
        tests, all_ = mutant_tests.record(copy, room), list(mutants(copy, ROOMS[room]))
        sys.dont_write_bytecode = True
        for mutant in random.Random(0).sample(all_, options.count // len(ROOMS)):
            about = {key: value for key, value in mutant.items() if key != "text"}
            about["lines"] = list(about["lines"])
            if any(about.items() <= old.items() for old in done):
                continue
            done.append({**about, "noticed_by": outcome(mutant, copy, tests)})
            kept.write_text(json.dumps(done, indent=1) + "\n")
            print(len(done), done[-1], flush=True)


if __name__ == "__main__":
    main()
