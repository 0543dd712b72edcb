"""Changes the code in small ways, one at a time, and asks whether a test of its room notices.

    nice python benchmarks/mutants.py --out DIR [--count 300] [--rooms core,data]

Nothing on disk is changed: all modules and tests of a room are loaded once, and for each mutant a
fork of this process gets the changed code and runs the tests that run it (``mutant_tests.py``).
DIR/mutants.json grows with every mutant; the same command goes on where it stopped. One that
exceeds its processor time counts as noticed. A constant is changed in its own module, not where
others have imported it by name.
"""

import argparse
import ast
import json
import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import mutant_tests
import pytest

ROOMS = {"core": "core/**/*", "data": "data/s[cp][al][il]*", "checkpoint": "checkpoint/*"}
ROOMS |= {"models": "models/**/*", "metrics": "metrics/*"}
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


def mutants(pattern: str) -> Iterator[dict]:
    """All mutants of a room, with the whole changed text of the file."""
    for path in sorted(Path("pacodi_jax").glob(f"{pattern}.py")):
        tree = ast.parse(path.read_text())
        plain = ast.unparse(tree).splitlines()
        for container, key, new, lines in places(tree):
            old, container[key] = container[key], new
            text = ast.unparse(ast.fix_missing_locations(tree))
            container[key] = old
            pairs = zip(plain, text.splitlines(), strict=False)
            for was, now in [pair for pair in pairs if len({*pair}) > 1][:1]:
                about = {"file": str(path), "lines": list(lines), "was": was.strip()}
                yield about | {"is": now.strip(), "text": text}


def outcome(mutant: dict, log: Path, tests: dict) -> str:
    """``survived``, or the test that noticed."""
    asked = mutant_tests.chosen(tests, mutant["file"], mutant["lines"][0])
    if not asked:
        return "survived: no test"
    names = {test.split("::")[0] for test in asked}
    module = sys.modules[".".join(Path(mutant["file"]).with_suffix("").parts)]

    def work() -> int:
        mutant_tests.swap(module, mutant["text"])
        plugin = mutant_tests.Chooser(asked)
        return pytest.main([*sorted(names), "-x", *mutant_tests.QUIET], plugins=[plugin])

    seconds = 15 + 3 * int(sum(tests[test][0] for test in asked))
    code = mutant_tests.in_a_child(log, seconds, work)
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", log.read_text(errors="replace"), re.MULTILINE)
    return "survived" if code == 0 else found[1] if found else f"exit code {code}"


def main() -> None:
    """Reads the flags; asks of an equal share of every room."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--rooms", default=",".join(ROOMS))
    options = parser.parse_args()
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = f"{out}/programs"
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.chdir(Path(__file__).parents[1])
    sys.path.insert(0, os.getcwd())
    rooms, kept = options.rooms.split(","), out / "mutants.json"
    pytest.main([*(f"tests/{room}" for room in rooms), "--collect-only", *mutant_tests.QUIET])
    done = json.loads(kept.read_text()) if kept.exists() else []
    for room in rooms:
        tests, every = mutant_tests.record(out, room), list(mutants(ROOMS[room]))
        for mutant in random.Random(0).sample(every, options.count // len(ROOMS)):
            about = {key: value for key, value in mutant.items() if key != "text"}
            if not any(about.items() <= old.items() for old in done):
                done.append({**about, "noticed_by": outcome(mutant, out / "last.log", tests)})
                kept.write_text(json.dumps(done, indent=1) + "\n")
                print(len(done), done[-1], flush=True)


if __name__ == "__main__":
    main()
