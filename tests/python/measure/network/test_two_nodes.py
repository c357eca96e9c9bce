"""MPI over TCP gives a machine: on one host, and between two network namespaces, which stand for two nodes."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from idlewave.machine import BETWEEN, Machine
from idlewave.measure import assess_pair
from idlewave.measure.network.files.network_files import load_network, machine_of
from idlewave.measure.network.fitting.pattern_times import COLD
from tracer_support import open_mpi

ADDRESSES = ("10.89.0.1", "10.89.0.2")
OVER_TCP = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1"}

pytestmark = [pytest.mark.alone, pytest.mark.mpi, pytest.mark.long]


def test_mpi_over_tcp_on_one_host_gives_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """By PRTT L is negative there, since a send's CPU time overlaps with its message's way."""
    for name, value in OVER_TCP.items():
        monkeypatch.setenv(name, value)
    found = assess_pair(open_mpi(), max_size=65536)
    assert found.patterns is not None
    warm = found.patterns.table[found.patterns.table["pattern"] != COLD]
    assert warm["error"].abs().median() < 0.15
    way = machine_of("tcp", found).network.parameters
    small = warm[(warm["pattern"] == "ping-pong") & (warm["size"] == 1)]["median_ps"].iloc[0] / 2
    assert way.L + way.o_s + way.o_r == pytest.approx(small, rel=0.25)


def do(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=30)


@contextlib.contextmanager
def two_nodes() -> Iterator[list[str]]:
    """Two network namespaces joined by a pair of veth; removed at the end."""
    names = [f"iwn{side}{os.getpid()}" for side in "ab"]
    ends = [f"n{side}{os.getpid()}" for side in "ab"]
    made = []
    try:
        for name in names:
            do("ip", "netns", "add", name)
            made.append(name)
            do("ip", "-n", name, "link", "set", "lo", "up")
        do("ip", "link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
        for name, end, address in zip(names, ends, ADDRESSES, strict=True):
            do("ip", "-n", name, "addr", "add", f"{address}/24", "dev", end)
            do("ip", "-n", name, "link", "set", end, "up")
        yield names
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=30)


def test_two_namespaces_are_measured_as_two_nodes(tmp_path: Path) -> None:
    for tool in ("ip", "unshare", "taskset"):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool}")
    launcher = open_mpi()
    with contextlib.ExitStack() as stack:
        try:
            names = stack.enter_context(two_nodes())
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        agent = tmp_path / "agent"  # in place of ssh: agent HOST COMMAND…
        cpus = sorted(os.sched_getaffinity(0))  # two nodes have processors of their own
        within = f'ip netns exec {names[1]} taskset -c {cpus[-1]} unshare --uts bash -c "hostname node-b; $*"'
        agent.write_text(f"#!/bin/bash\nshift\nexec {within}\n")
        agent.chmod(0o700)
        variables = OVER_TCP | {
            "IDLEWAVE_MPIEXEC": str(launcher.mpiexec),
            "PRTE_MCA_plm_ssh_agent": str(agent),
            "PRTE_MCA_prte_if_include": f"{ADDRESSES[0]}/24",
            "OMPI_MCA_btl_tcp_if_include": f"{ADDRESSES[0]}/24",
        }
        words = ["measure", "network", "--hosts", ",".join(ADDRESSES), "--max-size", "65536"]
        words += ["-o", str(tmp_path / "m"), "--name", "two"]
        command = f"hostname node-a; exec {sys.executable} -m idlewave {' '.join(words)}"
        done = subprocess.run(
            ["ip", "netns", "exec", names[0], "taskset", "-c", str(cpus[0]), "unshare", "--uts", "bash", "-c", command],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found = load_network(tmp_path / "m")
    assert found.one_node is False
    assert found.patterns is not None
    assert Machine.load(tmp_path / "m" / "machine.toml").measured == BETWEEN
