#!/usr/bin/env bash
# Several processes on this machine over loopback, to test a multi-host run.
#
#   launch/multiprocess_cpu.sh PROCESSES DEVICES_EACH --config=configs/sines.py:size=tiny --workdir=runs/pod
#
# Every process acts as a host of DEVICES_EACH devices. Output goes to WORKDIR.process-N.log, that of
# process 0 also to the terminal. A signal to this script is passed on to all processes. The exit
# code is the largest of theirs.
set -euo pipefail
if [[ $# -lt 3 ]]; then
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
processes=$1 devices=$2
shift 2
logs=runs/multiprocess
for argument in "$@"; do
    [[ $argument == --workdir=* ]] && logs=${argument#--workdir=}
done
mkdir -p "$(dirname "$logs")"

export JAX_PLATFORMS=cpu
export XLA_FLAGS="--xla_force_host_platform_device_count=$devices ${XLA_FLAGS:-}"
export NPROC=${NPROC:-16} # more threads than devices, or collectives of forced devices can deadlock
export PACODI_COORDINATOR=127.0.0.1:${PORT:-$((20000 + RANDOM % 20000))}
export PACODI_PROCESSES=$processes

pids=() stopping=''
stop() { ((${#pids[@]} == 0)) || kill -TERM "${pids[@]}" 2>/dev/null || true; }
trap 'signalled=1 stopping=1; stop' TERM INT
for ((process = 0; process < processes; process++)); do
    : >"$logs.process-$process.log" # tail must find a file, whether or not process 0 has opened it yet
done
for ((process = 0; process < processes; process++)); do
    PACODI_PROCESS=$process python -m pacodi_jax.main "$@" >>"$logs.process-$process.log" 2>&1 &
    pids+=($!)
done
[[ ! $stopping ]] || stop # the signal came before all of them were started
tail --pid="${pids[0]}" -n +1 -f "$logs.process-0.log" &

worst=0
for pid in "${pids[@]}"; do
    while true; do
        signalled='' code=0
        wait "$pid" || code=$?
        [[ $signalled ]] || break # a trapped signal ends wait early
    done
    ((code <= worst)) || worst=$code
done
wait
exit "$worst"
