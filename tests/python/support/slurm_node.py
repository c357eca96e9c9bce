"""A Slurm of one node, of this machine's Debian packages slurm-wlm and munge, with all its files in a folder."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
START_S = 60
_CONFIGURATION = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """Why no Slurm can be started here; "" if it can."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    missing = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    return f"no {missing[0]}: apt-get install slurm-wlm munge" if missing else ""


@contextmanager
def one_node(folder: Path) -> Iterator[dict[str, str]]:
    """In the block there is a Slurm; yields the environment of its commands."""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))
    configuration = folder / "slurm.conf"
    user, host = pwd.getpwuid(os.geteuid()).pw_name, socket.gethostname().partition(".")[0]
    text = _CONFIGURATION.format(host=host, user=user, folder=folder, ports=_free_ports())
    configuration.write_text(text)
    environment = {**os.environ, "SLURM_CONF": str(configuration), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    files = {"key": "key", "pid": "munged.pid", "log": "munged.log", "seed": "seed"}
    munged = [f"--{name}-file={folder / file}" for name, file in files.items()]
    with ExitStack() as stack:
        for command in (
            ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *munged],
            ["slurmctld", "-D", "-i"],
            ["slurmd", "-D"],
        ):
            with (folder / f"{command[0]}.out").open("w") as out:
                process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
            stack.callback(_end, process)
            if command[0] == "munged":
                _wait_for(lambda: (folder / "munge.socket").exists(), folder)
        _wait_for(lambda: "idle" in _said(["sinfo", "-h", "-o", "%T"], environment), folder)
        yield environment


def _free_ports() -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _said(command: list[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False).stdout


def _wait_for(is_there: Callable[[], bool], folder: Path) -> None:
    until = time.monotonic() + START_S
    while not is_there():
        logs = {path.name: path.read_text()[-500:] for path in folder.glob("*.out")}
        assert time.monotonic() < until, f"Slurm did not start: {logs}"
        time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
