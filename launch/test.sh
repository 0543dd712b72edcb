#!/usr/bin/env bash
# Installs (once), lints, type-checks and tests everything: what CI runs.
#   bash launch/test.sh                      all of it
#   bash launch/test.sh -k solver            arguments go to pytest
#   PYTHON=python3.12 bash launch/test.sh    with another interpreter, in .venv-3.12
# Ruff and mypy run where constraints.txt pins them and the stubs they read: on Python 3.11.
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh" dev,docs,notebooks,tensorboard,text
if [ -n "$constraints" ]; then
  echo "== ruff" && ruff check . && ruff format --check .
  echo "== mypy" && mypy
fi
echo "== pytest" && python -m pytest --numprocesses "${PYTEST_WORKERS:-2}" --dist worksteal "$@"
