#!/usr/bin/env bash
# From a fresh clone to synthetic windows: installs (once), trains on generated sines, samples.
#   bash launch/quickstart.sh [FOLDER]     runs/quickstart unless another folder is named
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
folder=${1:-runs/quickstart}
echo "== training on generated sines (five channels, windows of 24 steps), then drawing 1000 windows"
python -m pacodi_jax.main --config=configs/sines.py --workdir="$folder" \
  --config.train.steps=6000
echo "== done. Look at $folder/samples/samples.png (real against synthetic) and $folder/loss.png;"
echo "   the windows are in $folder/samples/samples.csv. Run this again and it resumes or says it is done."
[ "$(command -v pacodi || true)" != "$PWD/.venv/bin/pacodi" ] ||
  echo "   For the command pacodi and 'import pacodi_jax' in this shell: source .venv/bin/activate"
