"""Which tests run which functions of the package, and how long each takes; for ``mutants.py``."""

import ast
import builtins
import importlib
import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

import pytest


def watch(copy: Path) -> Callable[[], None]:
    """Lets every function of a copy of the package note that it runs; returns the way back."""
    before = {path: path.read_text() for path in (copy / "pacodi_jax").rglob("*.py")}
    for path, text in before.items():
        tree, file = ast.parse(text), str(path.relative_to(copy))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                told = ast.parse(f"__import__('builtins').ran.add(({file!r}, {node.lineno}))").body
                has_docstring = ast.get_docstring(node) is not None
                node.body[has_docstring:has_docstring] = told
        path.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n")
    return lambda: [path.write_text(text) for path, text in before.items()] and None


class Recorder:
    """A plugin of pytest that keeps ``{test: [seconds, {file: heads}]}`` of the tests that pass.

    What a fixture runs counts for every test that asks for it, not for the first alone.
    """

    def __init__(self) -> None:
        self.found, self.fixtures = {}, {}
        builtins.ran = set()

    def watched(self):
        """Runs what it yields to and returns what that ran."""
        outer, builtins.ran = builtins.ran, set()
        result = yield
        own, builtins.ran = builtins.ran, outer
        return own, result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """Keeps what a fixture runs."""
        self.fixtures[fixturedef], result = yield from self.watched()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Keeps what a test runs."""
        begun, self.passed = time.process_time(), True
        ran, result = yield from self.watched()
        asked = item._fixtureinfo.name2fixturedefs.values()
        ran.update(*(self.fixtures.get(each[-1], ()) for each in asked))
        files: dict[str, list[int]] = {}
        for file, line in sorted(ran):
            files.setdefault(file, []).append(line)
        if self.passed:
            self.found[item.nodeid] = [round(time.process_time() - begun, 2), files]
        return result

    def pytest_runtest_logreport(self, report):
        """Notes a test that fails without any mutant."""
        self.passed = self.passed and not report.failed


class Chooser:
    """A plugin of pytest that runs these tests, in this order."""

    def __init__(self, tests: list[str]):
        self.order = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items):
        """Leaves and sorts."""
        items[:] = [item for item in items if item.nodeid in self.order]
        items.sort(key=lambda item: self.order[item.nodeid])


def pytest_in_a_child(copy: Path, log: Path, seconds: int, plugin, *words, then: Callable = id):
    """Runs pytest in a fork, which has the heavy imports already; returns the exit code."""
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        os.chdir(copy)
        os.dup2(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 1)
        os.dup2(1, 2)
        run = importlib.import_module("pytest").main
        code = run([*words, "-q", "-n0", "-p", "no:cacheprovider"], plugins=[plugin])
        then(plugin)
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def record(copy: Path, room: str) -> dict[str, list]:
    """What the tests of a room run, kept beside the copy."""
    kept = copy.parent / f"tests_{room}.json"
    if not kept.exists():

        def keep(plugin: Recorder) -> None:
            kept.write_text(json.dumps(plugin.found))

        restore, log = watch(copy), copy.parent / f"tests_{room}.log"
        pytest_in_a_child(copy, log, 7200, Recorder(), f"tests/{room}", then=keep)
        restore()
    return json.loads(kept.read_text())


def chosen(tests: dict[str, list], file: str, lines: set[int], seconds: float = 90) -> list[str]:
    """The tests that ran a line, fastest first, then others of their files, within some time.

    A line that only importing runs is for the tests that run anything of its file.
    """
    of_file = {test: set(files[file]) for test, (_, files) in tests.items() if file in files}
    near = [test for test, ran in of_file.items() if ran & lines] or list(of_file)
    names = {test.split("::")[0] for test in near}
    rest = [test for test in tests if test.split("::")[0] in names and test not in near]
    order = [each for part in (near, rest) for each in sorted(part, key=lambda t: tests[t][0])]
    within = []
    for test in order:
        seconds -= tests[test][0]
        within += [test] if seconds > 0 or not within else []
    return within
