"""Other code for loaded modules, and which tests run which functions; for ``mutants.py``."""

import ast
import builtins
import functools
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

QUIET = ("-q", "-n0", "-p", "no:cacheprovider")


def swap(module: ModuleType, text: str) -> None:
    """Gives what a loaded module defines the code of another text, wherever it is held."""
    before = dict(vars(module))
    exec(compile(text, str(module.__file__), "exec"), vars(module))
    for name, old in before.items():
        new = vars(module).get(name)
        if new is not old and getattr(old, "__module__", None) == module.__name__:
            _transplant(old, new)
            setattr(module, name, old)


def _transplant(old: object, new: object) -> None:
    """Moves the code of a function, a method, or all methods and values of a class."""
    if isinstance(old, FunctionType):
        old.__code__, old.__defaults__ = new.__code__, new.__defaults__
        old.__kwdefaults__ = new.__kwdefaults__
    for inner in ("__wrapped__", "__func__", "fget", "func"):
        if hasattr(old, inner) and not isinstance(old, type):
            _transplant(getattr(old, inner), getattr(new, inner))
    if isinstance(old, type):
        for name, value in vars(new).items():
            kept = vars(old).get(name)
            known = (FunctionType, classmethod, staticmethod, property, functools.cached_property)
            if isinstance(kept, known):
                _transplant(kept, value)
            elif isinstance(value, int | float | tuple) and kept != value:
                setattr(old, name, value)


def watched(text: str, file: str) -> str:
    """The text with functions that note in ``builtins.ran`` that they run."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            told = ast.parse(f"__import__('builtins').ran.add(({file!r}, {node.lineno}))").body
            begin = ast.get_docstring(node) is not None
            node.body[begin:begin] = told
    return ast.unparse(ast.fix_missing_locations(tree))


class Recorder:
    """A plugin of pytest that keeps ``{test: [seconds, {file: lines}]}`` of the tests that pass.

    The lines are those of the functions that ran; those of a fixture count for every test that asks
    for it, not for the first alone.
    """

    def __init__(self) -> None:
        self.found, self.fixtures = {}, {}
        builtins.ran = set()

    def noted(self):
        """Runs what it yields to and returns what that ran."""
        outer, builtins.ran = builtins.ran, set()
        result = yield
        own, builtins.ran = builtins.ran, outer
        return own, result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """Keeps what a fixture runs."""
        self.fixtures[fixturedef], result = yield from self.noted()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Keeps what a test runs."""
        begun, self.passed = time.process_time(), True
        ran, result = yield from self.noted()
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


def in_a_child(log: Path, seconds: int, work: Callable[[], int]) -> int:
    """Runs work in a fork, which has every module already; returns its exit code."""
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        os.dup2(os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 1)
        os.dup2(1, 2)
        try:
            os._exit(work())
        except BaseException as error:
            print(f"FAILED {type(error).__name__} before any test", flush=True)
            os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def record(out: Path, room: str) -> dict[str, list]:
    """What the tests of a room run, kept in a file."""
    kept = out / f"tests_{room}.json"

    def work() -> int:
        plugin, root = Recorder(), Path.cwd()
        for path in sorted(root.glob(f"pacodi_jax/{room}/**/*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            if name in sys.modules:
                text = watched(path.read_text(), str(path.relative_to(root)))
                swap(sys.modules[name], text)
        code = pytest.main([f"tests/{room}", *QUIET], plugins=[plugin])
        kept.write_text(json.dumps(plugin.found))
        return code

    if not kept.exists():
        in_a_child(out / f"tests_{room}.log", 7200, work)
    return json.loads(kept.read_text())


def chosen(tests: dict[str, list], file: str, line: int, seconds: float = 15) -> list[str]:
    """The tests that ran a function, then others of their files, within some seconds.

    Those named after the file come first, then the fastest. A line that only importing runs is
    for the tests that run anything of its file.
    """
    of_file = {test: files[file] for test, (_, files) in tests.items() if file in files}
    near = [test for test, ran in of_file.items() if line in ran] or list(of_file)
    names = {test.split("::")[0] for test in near}
    rest = [test for test in tests if test.split("::")[0] in names and test not in near]
    near, rest = (
        sorted(part, key=lambda test: (Path(file).stem not in test, tests[test][0]))
        for part in (near, rest)
    )
    within = []
    for test in [*near, *rest]:
        seconds -= tests[test][0]
        within += [test] if seconds > 0 or not within else []
    return within
