#!/usr/bin/env bash
# Installs (once), lints, type-checks and tests everything: what CI runs.
#   bash launch/test.sh            all of it
#   bash launch/test.sh -k solver  arguments go to pytest
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh" dev,notebooks,tensorboard,text
echo "== ruff" && ruff check . && ruff format --check .
echo "== mypy" && mypy
echo "== pytest" && python -m pytest --numprocesses "${PYTEST_WORKERS:-2}" "$@"
