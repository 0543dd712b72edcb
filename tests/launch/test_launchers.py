"""The launchers, over stand-ins for Python, SLURM and gcloud: when they go on, and when not."""

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
LAUNCH = ROOT / "launch"
ARGUMENTS = ("--config=configs/sines.py", "--workdir=run")


class Stand:
    """A folder of stand-in programs, and what was asked of them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.log = folder / "log"
        self.log.touch()
        self.started: list[subprocess.Popen] = []

    def program(self, name: str, script: str) -> None:
        path = self.folder / name
        path.write_text(f'#!/usr/bin/env bash\necho "{name} $*" >>"$LOG"\n{script}\n')
        path.chmod(0o755)

    def start(self, script: str, *arguments: str, **environ: str) -> subprocess.Popen:
        process = subprocess.Popen(
            ["env", "--default-signal=INT", "bash", str(LAUNCH / script), *arguments],
            cwd=self.folder,
            env=os.environ
            | {"PATH": f"{self.folder}:{os.environ['PATH']}", "LOG": str(self.log)}
            | environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def close(self) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def run(self, script: str, *arguments: str, **environ: str) -> int:
        process = self.start(script, *arguments, **environ)
        self.said = process.communicate(timeout=60)[0]
        return process.returncode

    def asked(self, pattern: str) -> int:
        return len(re.findall(pattern, self.log.read_text()))


@pytest.fixture
def stand(tmp_path):
    with contextlib.closing(Stand(tmp_path)) as stand:
        yield stand


@pytest.mark.parametrize(("code", "runs"), [(0, 1), (2, 1), (130, 1), (75, 3), (1, 3)])
def test_local_tries_again_only_what_may_help(stand, code, runs):
    stand.program("python", f"exit {code}")
    assert stand.run("local.sh", *ARGUMENTS, RETRIES="2") == code
    assert stand.asked("python -m pacodi_jax.main") == runs
    assert "attempt 3" not in stand.said


#: Says that it is ready, and ends with CODE once it is asked to.
WAITS = """
trap 'exit $CODE' TERM
echo ready
while :; do sleep 0.05; done
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("code", [0, 143])
def test_local_passes_a_signal_on_and_does_not_start_again(stand, number, code):
    stand.program("python", WAITS)
    process = stand.start("local.sh", *ARGUMENTS, CODE=str(code))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == code
    assert stand.asked("python") == 1


@pytest.mark.parametrize(
    ("script", "count"), [("local.sh", ()), ("multiprocess_cpu.sh", ("1", "1"))]
)
def test_a_signal_right_after_the_start_reaches_the_program(stand, script, count):
    stand.program("python", WAITS)
    slow = stand.folder / "slow"  # holds the script after the line that starts the program
    slow.write_text(f"[[ $0 != *{script} ]] || trap '[[ ! $(jobs -p) ]] || sleep 0.3' DEBUG\n")
    process = stand.start(script, *count, *ARGUMENTS, CODE="0", BASH_ENV=str(slow))
    while not stand.asked("python"):
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode in (0, 143)  # 143: the program had not yet said how it wants to end
    assert stand.asked("python") == 1


def test_multiprocess_passes_a_signal_to_all_and_tells_the_worst_code(stand):
    stand.program("python", f"CODE=$((3 * PACODI_PROCESS))\n{WAITS}")
    process = stand.start("multiprocess_cpu.sh", "3", "2", *ARGUMENTS)
    assert process.stdout.readline() == "ready\n"
    while any("ready" not in p.read_text() for p in stand.folder.glob("run.process-*.log")):
        pass
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 6
    assert stand.asked("python") == 3


def test_multiprocess_makes_every_log_before_it_starts_anything(stand):
    stand.program("python", "")
    stand.program("tail", "")
    (stand.folder / "run.process-1.log").mkdir()
    assert stand.run("multiprocess_cpu.sh", "2", "1", *ARGUMENTS) == 1
    assert (stand.folder / "run.process-0.log").read_text() == ""
    assert stand.asked("python") == stand.asked("tail") == 0


def test_multiprocess_starts_its_logs_anew(stand):
    stand.program("python", "echo new")
    (stand.folder / "run.process-0.log").write_text("old\n")
    assert stand.run("multiprocess_cpu.sh", "1", "1", *ARGUMENTS) == 0
    assert (stand.folder / "run.process-0.log").read_text() == "new\n"


@pytest.mark.parametrize(
    ("code", "progress", "again"),
    [(0, True, 0), (2, True, 0), (75, True, 1), (137, True, 1), (137, False, 0), (1, False, 0)],
)
def test_slurm_job_is_queued_again_while_it_gets_further(stand, code, progress, again):
    (stand.folder / "run/checkpoints/900").mkdir(parents=True)
    new = "mkdir -p run/checkpoints/1000" if progress else "mkdir run/checkpoints/1000.damaged"
    stand.program("srun", f"{new}\nexit {code}")
    stand.program("scontrol", "")
    ended = stand.run("slurm.sbatch", *ARGUMENTS, SLURM_JOB_ID="7")
    assert stand.asked("scontrol requeue 7") == again
    assert again or ended == code
    assert stand.asked(r"srun .*--mode=train --exit_on_signal=75 --config=\S+ --workdir=run") == 1


#: A cloud whose slice is in the state that the file `state` names; it is preempted during the
#: first PREEMPTIONS trainings, and later ones end with CODE.
GCLOUD = """
case "$*" in
*describe*) cat state 2>/dev/null ;;
*create*) echo READY >state ;;
*delete*) rm state ;;
*pacodi_jax.main\\ *)
    count=$(($(cat count 2>/dev/null || echo 0) + 1))
    echo $count >count
    if ((count <= PREEMPTIONS)); then echo PREEMPTED >state; exit 255; fi
    exit $CODE ;;
esac
"""
SLICE = ("slice", "zone", "v4-32", "/mnt/bucket/run", "--config=configs/ecl.py")


def tpu(stand, code, preemptions=0, **environ):
    stand.program("gcloud", f"cd {stand.folder}\n{GCLOUD}")
    environ = {"CODE": str(code), "PREEMPTIONS": str(preemptions), "WAIT": "0"} | environ
    return stand.run("tpu_pod.sh", *SLICE, **environ)


def test_tpu_slice_is_made_again_after_every_preemption(stand):
    assert tpu(stand, 0, preemptions=7, RETRIES="2", SPOT="1", DELETE="1") == 0
    assert stand.asked("tpu-vm create slice .*--spot") == stand.asked("uv pip install") == 8
    assert stand.asked("tpu-vm delete") == 8
    assert stand.asked("PACODI_CLUSTER=gcetpu .*--workdir=/mnt/bucket/run .*configs/ecl.py") == 8


@pytest.mark.parametrize(("code", "runs"), [(2, 1), (1, 3), (75, 3)])
def test_tpu_run_that_fails_on_a_healthy_slice_is_given_up(stand, code, runs):
    (stand.folder / "state").write_text("READY\n")
    assert tpu(stand, code, RETRIES="2") == code
    assert stand.asked("PACODI_CLUSTER=gcetpu") == runs
    assert stand.asked("tpu-vm create") == 0
    assert stand.asked("uv pip install") == 1  # a slice that was there may hold an older tree


def test_tpu_slice_that_cannot_be_made_is_a_mistake(stand):
    stand.program("gcloud", "exit 1")
    assert stand.run("tpu_pod.sh", *SLICE, WAIT="0") == 1
    assert stand.asked("create") == 1


@pytest.mark.parametrize("script", ["local.sh", "multiprocess_cpu.sh", "tpu_pod.sh"])
def test_script_without_arguments_explains_itself(stand, script):
    assert stand.run(script) == 2
    assert f"launch/{script}" in stand.said
    assert "set -" not in stand.said


def test_kubernetes_signals_the_program_itself_and_does_not_repeat_mistakes():
    made = yaml.safe_load((LAUNCH / "gke_jobset.yaml").read_text())
    job = made["spec"]["replicatedJobs"][0]["template"]["spec"]
    container = job["template"]["spec"]["containers"][0]
    assert container["command"][:3] == ["python", "-m", "pacodi_jax.main"]
    assert "--exit_on_signal=75" in container["command"]
    assert job["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"] == [2]
    assert job["parallelism"] == job["completions"]


@pytest.mark.parametrize(("code", "again"), [(0, 0), (1, 0), (143, 1), (137, 1)])
def test_a_task_of_the_grid_is_queued_again_if_a_signal_ended_it(stand, code, again):
    stand.program("srun", f"exit {code}")
    stand.program("scontrol", "exit 0")
    task = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "8", "SLURM_ARRAY_JOB_ID": "70"}
    assert stand.run("tables.sbatch", "etth1-*", **task) == code
    assert stand.asked(r"srun python benchmarks/tables.py run --shard 3/8 etth1-\*") == 1
    assert stand.asked("scontrol requeue 70_3") == again


def test_kubernetes_gives_every_pod_of_the_grid_its_own_shard():
    made = yaml.safe_load((LAUNCH / "gke_tables.yaml").read_text())["spec"]
    (container,) = made["template"]["spec"]["containers"]
    assert made["completionMode"] == "Indexed"
    assert container["command"][-1] == f"--shard=$(JOB_COMPLETION_INDEX)/{made['completions']}"
    places = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert places == {"/pacodi/runs", "/pacodi/docs/results"}
