#!/usr/bin/env bash
# A Cloud TPU slice: create it, push this tree, run on all workers, resume after preemption.
# Untested: it was written from Google's documentation and not run.
#
#   launch/tpu_pod.sh NAME ZONE TYPE WORKDIR --config=configs/ecl.py [--config.x.y=v]
#   launch/tpu_pod.sh pacodi us-central2-b v4-32 /mnt/bucket/ecl --config=configs/ecl.py
#
# WORKDIR must outlive the slice: a bucket mounted with gcsfuse (set BUCKET, and it is mounted at
# /mnt/bucket on every worker) or a network file system. Only worker 0 reads and writes it.
# SPOT=1 asks for a preemptible slice. DELETE=1 deletes the slice at the end.
set -euo pipefail
if [[ $# -lt 5 ]]; then
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
name=$1 zone=$2 type=$3 workdir=$4
shift 4
version=${VERSION:-tpu-ubuntu2204-base}
tpu=(gcloud compute tpus tpu-vm)

state() { "${tpu[@]}" describe "$name" --zone="$zone" --format='value(state)' 2>/dev/null || echo ABSENT; }
everywhere() { "${tpu[@]}" ssh "$name" --zone="$zone" --worker=all --command="$1"; }

create() {
    "${tpu[@]}" create "$name" --zone="$zone" --accelerator-type="$type" --version="$version" \
        ${SPOT:+--spot}
}

push() {
    git archive --format=tar.gz --output=/tmp/pacodi.tar.gz HEAD
    "${tpu[@]}" scp /tmp/pacodi.tar.gz "$name": --zone="$zone" --worker=all
    everywhere "mkdir -p pacodi && tar -xzf pacodi.tar.gz -C pacodi && cd pacodi &&
        python3 -m pip install -q -e . 'jax[tpu]' -c constraints.txt"
    if [[ -n ${BUCKET:-} ]]; then
        everywhere "sudo mkdir -p /mnt/bucket && sudo chown \$USER /mnt/bucket &&
            (mountpoint -q /mnt/bucket || gcsfuse --implicit-dirs $BUCKET /mnt/bucket)"
    fi
}

train() {
    local command
    command=$(printf '%q ' python3 -m pacodi_jax.main --workdir="$workdir" --mode=train "$@")
    everywhere "cd pacodi && PACODI_CLUSTER=gcetpu $command"
}

while true; do
    case $(state) in
    ABSENT) create && push ;;
    READY) ;;
    PREEMPTED | TERMINATED | STOPPED)
        "${tpu[@]}" delete "$name" --zone="$zone" --quiet
        continue
        ;;
    *)
        sleep 30
        continue
        ;;
    esac
    code=0
    train "$@" || code=$?
    [[ $code -eq 0 || $code -eq 2 ]] && break
    echo "ended with $code; looking at the slice before going on" >&2
    sleep 30
done
[[ -n ${DELETE:-} ]] && "${tpu[@]}" delete "$name" --zone="$zone" --quiet
exit "$code"
