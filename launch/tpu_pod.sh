#!/usr/bin/env bash
# A Cloud TPU slice: create it, push this tree, run on all workers, resume after preemption.
# Untested: it was written from Google's documentation and not run on a TPU.
#
#   launch/tpu_pod.sh NAME ZONE TYPE WORKDIR --config=configs/ecl.py [--config.x.y=v]
#   launch/tpu_pod.sh pacodi us-central2-b v4-32 /mnt/bucket/ecl --config=configs/ecl.py
#
# WORKDIR must outlive the slice: a bucket mounted with gcsfuse (set BUCKET, and it is mounted at
# /mnt/bucket on every worker) or a network file system. Only worker 0 reads and writes it. What is
# pushed is the last commit. SPOT=1 asks for a preemptible slice, DELETE=1 deletes the slice at the
# end, VERSION names another image. An existing slice is used. Preemption is waited out; a run
# that fails on a healthy slice is tried again up to RETRIES times (5).
set -euo pipefail
if [[ $# -lt 5 ]]; then
    sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=$1 zone=$2 type=$3 workdir=$4
shift 4
version=${VERSION:-tpu-ubuntu2204-base} wait=${WAIT:-30} retries=${RETRIES:-5}
tpu=(gcloud compute tpus tpu-vm)

state() { "${tpu[@]}" describe "$name" --zone="$zone" --format='value(state)' 2>/dev/null || echo ABSENT; }
everywhere() { "${tpu[@]}" ssh "$name" --zone="$zone" --worker=all --command="$1"; }
delete() { "${tpu[@]}" delete "$name" --zone="$zone" --quiet; }

create() {
    "${tpu[@]}" create "$name" --zone="$zone" --accelerator-type="$type" --version="$version" \
        ${SPOT:+--spot}
}

# The image's Python is older than 3.11: uv brings one. (Steps are chained by &&, since
# set -e does not apply to what is called before ||.)
push() {
    local archive
    archive=$(mktemp -d)/pacodi.tar.gz
    git archive --format=tar.gz --output="$archive" HEAD &&
        "${tpu[@]}" scp "$archive" "$name": --zone="$zone" --worker=all &&
        everywhere "mkdir -p pacodi && tar -xzf pacodi.tar.gz -C pacodi && cd pacodi &&
            python3 -m pip install -q --user uv &&
            ~/.local/bin/uv venv -q --allow-existing --python 3.11 .venv &&
            ~/.local/bin/uv pip install -q -e . 'jax[tpu]' -c constraints.txt" &&
        if [[ -n ${BUCKET:-} ]]; then
            everywhere "sudo mkdir -p /mnt/bucket && sudo chown \$USER /mnt/bucket &&
                (mountpoint -q /mnt/bucket || gcsfuse --implicit-dirs $BUCKET /mnt/bucket)"
        fi
}

# A run left behind by a lost connection would hold the TPU: it is told to save and end first.
train() {
    local command
    command=$(printf '%q ' .venv/bin/python -m pacodi_jax.main --workdir="$workdir" --mode=train \
        --exit_on_signal=75 "$@")
    everywhere "pkill -TERM -f '[p]acodi_jax.main' && sleep 15 || true" &&
        everywhere "cd pacodi && PACODI_CLUSTER=gcetpu $command"
}

created='' pushed='' failures=0
while true; do
    case $(state) in
    READY) ;;
    ABSENT)
        pushed=
        if create; then
            created=1
        elif [[ $created ]]; then
            sleep "$wait" # preempted, and no capacity for another one yet
        else
            exit 1
        fi
        continue
        ;;
    PREEMPTED | TERMINATED | STOPPED)
        created=1
        delete
        continue
        ;;
    *)
        sleep "$wait"
        continue
        ;;
    esac
    code=0
    if [[ $pushed ]] || push; then
        pushed=1
        train "$@" || code=$?
        [[ $code -eq 0 || $code -eq 2 ]] && break
    else
        code=1
    fi
    sleep "$wait"
    if [[ $(state) == READY ]] && ((++failures > retries)); then
        break
    fi
    echo "ended with $code; going on" >&2
done
[[ -n ${DELETE:-} ]] && delete
exit "$code"
