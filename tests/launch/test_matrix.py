"""The matrix of interpreters, over stand-ins for Python: what is tested, and what is said of it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAUNCH = ROOT / "launch"

#: A Python of one version whose environments are copies of itself; pytest ends with $CODE.
PYTHON = """#!/usr/bin/env bash
case "$*" in
"-m venv "*)
  mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/uv"
  echo "VIRTUAL_ENV=$PWD/$3 PATH=$PWD/$3/bin:\\$PATH; export VIRTUAL_ENV PATH" >"$3/bin/activate" ;;
"-m pytest "*) echo "VERSION $*" >>"$LOG"; echo "7 passed"; exit "${CODE:-0}" ;;
*"-m pip install"* | "pip install"*) echo "VERSION $*" >>"$LOG"; exit "${INSTALL_CODE:-0}" ;;
*"print(jax."*) echo 0.12.0 ;;
*"print("*) echo VERSION ;;
*"!= (3, 11)"*) [ VERSION = 3.11 ] ;;
esac
"""


@pytest.fixture
def clone(tmp_path):
    """A clone with Python 3.12 and, under pyenv, 3.13; 3.11 is a shim with nothing behind it."""
    shutil.copytree(LAUNCH, tmp_path / "clone" / "launch")
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / "clone" / name).touch()
    _program(tmp_path / "bin/python3.11", "#!/bin/sh\nexit 127\n")
    _program(tmp_path / "bin/python3.12", PYTHON.replace("VERSION", "3.12"))
    _program(tmp_path / "bin/python3.13", "#!/bin/sh\nexit 127\n")
    _program(tmp_path / "pyenv/versions/3.13.0/bin/python", PYTHON.replace("VERSION", "3.13"))
    (tmp_path / "log").touch()
    return tmp_path


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def matrix(
    clone: Path, *arguments: str, script: str = "launch/test_matrix.sh", **environ: str
) -> tuple[int, list[str], str]:
    """The exit code, the lines said, and what the stand-ins were asked."""
    done = subprocess.run(
        ["bash", str(clone / "clone" / script), *arguments],
        env=os.environ
        | {"PATH": f"{clone}/bin:/usr/bin:/bin", "PYENV_ROOT": f"{clone}/pyenv"}
        | {"LOG": f"{clone}/log", "PYTEST_WORKERS": "2"}
        | environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout.splitlines(), (clone / "log").read_text()


def test_every_interpreter_found_is_tested_and_has_one_line(clone):
    code, lines, asked = matrix(clone, "-k", "solver")
    assert code == 0
    assert lines == [
        "3.11  not found",
        "3.12  passed  JAX 0.12.0  7 passed",
        "3.13  passed  JAX 0.12.0  7 passed",
    ]
    for version in ("3.12", "3.13"):
        assert f"{version} -m pytest --numprocesses 2 --dist worksteal -k solver" in asked
        assert (clone / f"clone/.venv-{version}/test.log").is_file()
    assert "--constraint" not in asked


def test_a_failure_shows_its_output_and_the_others_still_run(clone):
    code, lines, asked = matrix(clone, CODE="1")
    assert code == 1
    assert lines[-1] == "3.13  FAILED  JAX 0.12.0  7 passed"
    assert asked.count("-m pytest") == 2


def test_nothing_is_tested_where_the_install_fails(clone):
    code, _, asked = matrix(clone, INSTALL_CODE="1")
    assert code == 1
    assert "-m pytest" not in asked


def test_newest_is_the_newest_found(clone):
    code, lines, asked = matrix(clone, "--newest", "tests/core")
    assert code == 0
    assert lines == ["3.13  passed  JAX 0.12.0  7 passed"]
    assert "3.13 -m pytest --numprocesses 2 --dist worksteal tests/core" in asked


def test_what_must_be_green_is_tested_in_full_and_in_part_on_the_newest(clone):
    shutil.copytree(ROOT / ".ci", clone / "clone" / ".ci")
    _program(clone / "bin/python3.11", PYTHON.replace("VERSION", "3.11"))
    for name in ("ruff", "mypy"):
        _program(clone / "bin" / name, "#!/bin/sh\n")
    code, lines, asked = matrix(clone, script=".ci/run")
    assert (code, lines[-1]) == (0, "3.13  passed  JAX 0.12.0  7 passed")
    tested = [line for line in asked.splitlines() if "-m pytest" in line]
    part = " tests/core tests/networks tests/api tests/cli"
    part += " --ignore-glob=*/test_solvers_* --ignore=tests/core/test_conditioning.py"
    begin = "-m pytest --numprocesses 2 --dist worksteal"
    assert tested == [f"{v} {begin}{t}" for v, t in (("3.11", ""), ("3.13", part))]
    assert matrix(clone, script=".ci/run", CODE="1")[0] == 1


def test_the_tests_that_scripts_name_are_there():
    for script in (ROOT / ".ci/run", *LAUNCH.glob("*.sh")):
        for name in re.findall(r"\btests/[\w./]*\w", script.read_text()):
            assert (ROOT / name).exists(), f"{script.name} names {name}"


def test_lowest_needs_the_lowest_python(clone):
    code, lines, _ = matrix(clone, "--lowest")
    assert code == 1
    assert lines == ["3.11  not found"]


def test_lowest_installs_the_lowest_direct_versions(clone):
    _program(clone / "bin/python3.11", PYTHON.replace("VERSION", "3.11"))
    code, lines, asked = matrix(clone, "--lowest")
    assert code == 0
    assert lines == ["3.11  passed  JAX 0.12.0  7 passed"]
    assert "--resolution lowest-direct" in asked
    assert "tests/core tests/networks tests/data" in asked


def test_python_3_11_has_the_pinned_versions(clone):
    _program(clone / "bin/python3.11", PYTHON.replace("VERSION", "3.11"))
    _program(clone / "bin/ruff", "#!/bin/sh\n")
    _program(clone / "bin/mypy", "#!/bin/sh\n")
    assert matrix(clone)[0] == 0
    asked = (clone / "log").read_text().splitlines()
    assert [line[:4] for line in asked if "--constraint constraints.txt" in line] == ["3.11"]
