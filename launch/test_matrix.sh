#!/usr/bin/env bash
# Tests every Python that is supported and found here, on PATH or under pyenv: one line for each.
#   bash launch/test_matrix.sh                all tests; arguments go to pytest
#   bash launch/test_matrix.sh --newest …     only the newest interpreter found
#   bash launch/test_matrix.sh --lowest …     Python 3.11 with the lowest versions that pyproject.toml allows
#   bash launch/test_matrix.sh --wheel        the wheel and all it needs from the registry, in an empty environment
# Each has an environment of its own (.venv-3.12, .venv-lowest) and its output in test.log there.
# Remove the folder to install the newest versions again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset VIRTUAL_ENV PYTHON
mode=all
case ${1:-} in --newest | --lowest | --wheel)
  mode=${1#--}
  shift
  ;;
esac

find_python() { # 3.12 -> a program of that version, if there is one that runs
  local program
  for program in "$(command -v "python$1" || true)" \
    $(ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python 2>/dev/null | sort -rV); do
    if [ -n "$program" ] && "$program" -c '' 2>/dev/null; then
      echo "$program"
      return
    fi
  done
}

lowest() { # installs the lowest versions, then tests
  local tests=("$@")
  [ $# -gt 0 ] || tests=(tests/core tests/networks tests/data tests/checkpoint tests/configs tests/settings)
  "$python" -m venv .venv-lowest &&
    .venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv &&
    .venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python \
      --resolution lowest-direct --editable '.[test,notebooks,tensorboard,text]' &&
    .venv-lowest/bin/python -m pytest --numprocesses "${PYTEST_WORKERS:-2}" --dist worksteal "${tests[@]}"
}

suite() { # what is tested with $python, in $folder
  case $mode in
  lowest) lowest "$@" ;;
  wheel) PYTHON=$python PACODI_WHEEL_FROM_REGISTRY=1 bash launch/test.sh tests/packaging "$@" ;;
  *) PYTHON=$python bash launch/test.sh "$@" ;;
  esac
}

case $mode in
newest) versions="3.13 3.12 3.11" ;;
lowest) versions=3.11 ;;
*) versions="3.11 3.12 3.13" ;;
esac
found=0 failed=0
for version in $versions; do
  python=$(find_python "$version")
  if [ -z "$python" ]; then
    echo "$version  not found"
    continue
  fi
  found=1 folder=.venv-$version
  [ "$mode" != lowest ] || folder=.venv-lowest
  log=$(mktemp) outcome=passed
  suite "$@" >"$log" 2>&1 || outcome=FAILED
  jax=$("$folder/bin/python" -c 'import jax; print(jax.__version__)' 2>/dev/null || echo "not installed")
  [ "$outcome" = passed ] || { failed=1 && tail -n 60 "$log"; }
  echo "$version  $outcome  JAX $jax  $(tail -n 1 "$log")"
  [ ! -d "$folder" ] || cp "$log" "$folder/test.log"
  rm "$log"
  [ "$mode" != newest ] || break
done
[ $found = 1 ] || { echo "error: none of Python $versions is here; install one, then run this again." >&2; exit 1; }
exit $failed
