#!/usr/bin/env bash
# Trains on this machine and resumes after a crash; an error in the command ends it at once.
#
#   launch/local.sh --config=configs/etth1.py --workdir=runs/etth1 [--mode=all] [--config.x.y=v]
#
# The command resumes from its last checkpoint whenever it is run again. Exit codes: 0 is done or
# stopped by a signal, 2 is a user error or a full disk; anything else is tried again up to RETRIES
# times (5), unless this script received a signal.
set -uo pipefail
if [[ $# -lt 2 ]]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
retries=${RETRIES:-5} stopping= child=
# SIGTERM for both: bash starts what runs in the background with SIGINT ignored.
trap 'signalled=1 stopping=1; [[ ! $child ]] || kill -TERM "$child" 2>/dev/null' TERM INT
for ((attempt = 0; ; attempt++)); do
    python -m pacodi_jax.main "$@" &
    child=$!
    [[ ! $stopping ]] || kill -TERM "$child" 2>/dev/null # the signal came before the child was started
    while true; do
        signalled=
        wait "$child"
        code=$?
        [[ $signalled ]] || break # a trapped signal ends wait early
    done
    case $code in
    0 | 2 | 130) exit "$code" ;;
    esac
    if [[ $stopping ]] || ((attempt >= retries)); then
        exit "$code"
    fi
    echo "ended with $code; attempt $((attempt + 1)) of $retries to go on" >&2
done
