"""What the system gave the ranks while they were traced."""

from __future__ import annotations

import json
import math
import re
import struct
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run
from idlewave import Trace, traced_run
from idlewave.trace import CORE_WAIT
from idlewave.trace_hosts import cores_text, foreign_cores_text, host_table
from trace_files import FINALIZE, INIT, Core, with_header, write_trace
from tracer_support import command_of, mpich, open_mpi, program

RUN_NS = 4 * 5000 + 3 * 700
"""Between MPI_Init and MPI_Finalize."""


@pytest.mark.parametrize(
    ("core", "shared"),
    [
        (Core(RUN_NS, voluntary=3), False),
        (Core(RUN_NS // 4, voluntary=1, involuntary=50), True),
        (Core(RUN_NS // 4, voluntary=50, involuntary=1), False),  # it slept in its calls
        (Core(2 * RUN_NS, involuntary=50), False),  # two threads
    ],
)
def test_a_rank_shared_its_core_if_it_had_less_and_was_preempted(tmp_path: Path, core: Core, shared: bool) -> None:
    shares = Trace.load(write_trace(tmp_path / "trace", core=core)).core_shares()
    assert shares["share"].tolist() == pytest.approx([core.cpu_ns / RUN_NS] * 2, rel=0.01)
    assert shares["shared"].tolist() == [shared] * 2
    assert shares["involuntary_switches"].tolist() == [core.involuntary] * 2


def test_a_rank_that_did_not_end_has_no_share(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", core=Core(RUN_NS))
    file = folder / "rank-0000001.iwtrace"
    data = bytearray(file.read_bytes())
    data[48] = 0  # state: running
    file.write_bytes(data)
    shares = Trace.load(folder).core_shares()
    assert math.isnan(shares["share"][1])
    assert not shares["shared"][1]


SECOND, RUN = 10**9, 7


def on_host(folder: Path, usable: list[int], busy_ns: tuple[int, int]) -> Trace:
    """A run of a second, of ranks on a host of four cores that may each use one set of them, a bit a core."""
    folder.mkdir()
    for rank, mask in enumerate(usable):
        records = struct.pack("<IHHqq4Q", 4, INIT, 0, 1000, 1000, RUN, busy_ns[0] % 2**64, 4, mask)
        records += struct.pack("<IHHqqq", 1, FINALIZE, 0, SECOND, SECOND, busy_ns[1])
        core = Core(cpu_ns=SECOND // 2)
        data = with_header(rank, len(usable), "n1", records, SECOND, core=core)
        (folder / f"rank-{rank:07}.iwtrace").write_bytes(data)
    return Trace.load(folder)


def test_hosts_have_the_cores_of_their_ranks_and_what_others_used(tmp_path: Path) -> None:
    hosts = on_host(tmp_path / "trace", [0b0001, 0b0010, 0b0001], (5 * SECOND, 7 * SECOND)).hosts()
    row = hosts.iloc[0]
    assert (row["host"], row["ranks"], row["usable_cores"], row["host_cores"]) == ("n1", 3, 2, 4)
    assert row["foreign_cores"] == pytest.approx(0.5, rel=1e-5), "2 s busy, of which three ranks used 0.5 s each"
    assert cores_text(hosts) == "3 ranks on 2 cores"
    assert foreign_cores_text(hosts) == "other processes kept 0.50 of the 4 cores of n1 busy on average"


def test_hosts_are_summed_up_and_the_busiest_is_named() -> None:
    hosts = pd.DataFrame(
        {
            "host": ["n1", "n2"],
            "ranks": [4, 12],
            "usable_cores": [4, 8],
            "host_cores": [8, 8],
            "foreign_cores": [0.2, 1.5],
        }
    )
    assert cores_text(hosts) == "16 ranks on 12 cores of 2 hosts"
    assert foreign_cores_text(hosts) == "other processes kept 1.50 of the 8 cores of n2 busy on average"
    assert foreign_cores_text(hosts.assign(foreign_cores=[0.2, math.nan])) == "", "n2 may have been busier"


def test_of_a_short_run_and_of_one_that_did_not_end_nobody_knows_what_else_was_busy() -> None:
    rank = {
        "host": "n1",
        "usable_cores": [0],
        "host_cores": 4,
        "finalized": True,
        "host_busy_begin_ns": 0,
        "host_busy_end_ns": SECOND,
        "init_end_ns": 0,
        "finalize_begin_ns": SECOND,
        "cpu_ns": SECOND,
    }
    assert host_table([rank])["foreign_cores"].tolist() == [0.0]
    assert host_table([rank | {"finalize_begin_ns": SECOND // 3}])["foreign_cores"].isna().all()
    assert host_table([rank, rank | {"finalized": False}])["foreign_cores"].isna().all()


@pytest.mark.parametrize("busy", [(-1, -1), (2**63 - 1, -(2**63))])
def test_what_the_system_does_not_say_of_a_host_is_missing(tmp_path: Path, busy: tuple[int, int]) -> None:
    hosts = on_host(tmp_path / "trace", [0, 1], busy).hosts()
    assert hosts["usable_cores"].isna().all()
    assert hosts["foreign_cores"].isna().all()
    assert cores_text(hosts) == foreign_cores_text(hosts) == ""
    imported = Trace.load(write_trace(tmp_path / "other", core=Core(RUN_NS))).hosts()
    assert imported[["usable_cores", "host_cores", "foreign_cores"]].isna().all().all()


@pytest.mark.mpi
@pytest.mark.slow
def test_ranks_on_one_core_are_said_to_share_it(tmp_path: Path) -> None:
    use = open_mpi()
    command = command_of(use, 4, Path("taskset"), "-c", "0", program(use, "many"), 1_000_000)
    one = run("trace", "-o", str(tmp_path / "trace"), "--", *command)
    assert one.returncode == 0, one.stderr
    assert "cores: 4 ranks on 1 core, a rank had" in one.stdout
    with_json = run("trace", "--json", "--overwrite", "-o", str(tmp_path / "trace"), "--", *command)
    said = json.loads(with_json.stdout)
    assert said["ranks_that_shared_cores"] > 0
    assert [(host["ranks"], host["usable_cores"]) for host in said["hosts"]] == [(4, 1)]
    least, most = said["core_share"]
    assert 0 < least <= most < 1
    if with_json and said["core_wait_s"] is None:
        assert "shared cores: the computations of this trace hold waits for a core" in " ".join(one.stderr.split())
    else:
        assert "in which they waited for a core" in one.stdout


def simulated_s(trace: Path, gaps: str) -> float:
    schedule = idlewave.Schedule.from_trace(trace, gaps=gaps)  # type: ignore[arg-type]
    return idlewave.simulate(schedule, idlewave.Machine.preset("odin")).max_finish / 1e12


def computed_by_rank(trace: Path, gaps: str) -> list[float]:
    """The computation of each rank, s."""
    text = idlewave.Schedule.from_trace(trace, gaps=gaps).to_goal()  # type: ignore[arg-type]
    ranks = re.split(r"^rank \d+ ", text, flags=re.MULTILINE)[1:]
    return [sum(int(ns) for ns in re.findall(r"calc (\d+)", rank)) / 1e9 for rank in ranks]


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("vendor", ["Open MPI", "MPICH"])
def test_computations_are_without_the_waits_for_a_core_and_with_what_the_program_slept(
    tmp_path: Path, vendor: str
) -> None:
    use = open_mpi() if vendor == "Open MPI" else mpich()
    computed_s = 5 * (0.04 + 0.005)
    command = command_of(use, 4, Path("taskset"), "-c", "0", program(use, "shares"))
    traced_run.trace(command, tmp_path / "trace")
    trace = Trace.load(tmp_path / "trace")
    if not trace.processes["core_waits_known"].all():
        pytest.skip("this system does not report for how long a thread waited for a core")
    waits = trace.core_shares()["core_wait_s"]
    assert waits.sum() > 0.3, "each of four ranks has a quarter of the core"
    assert simulated_s(tmp_path / "trace", "own") >= computed_s
    own, wall = computed_by_rank(tmp_path / "trace", "own"), computed_by_rank(tmp_path / "trace", "wall")
    for rank, wait in enumerate(waits):
        assert wall[rank] - own[rank] == pytest.approx(wait, rel=0.1, abs=0.005)


def test_a_wait_is_taken_out_of_the_computation_before_a_call_and_no_more_than_that(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", waits=[(3000, 0), (10**9, 700), (0, 0)])
    trace = Trace.load(folder)
    assert trace.core_shares()["core_wait_s"].tolist() == pytest.approx([(3000 + 10**9) / 1e9] * 2)
    assert trace.core_shares()["core_wait_in_calls_s"].tolist() == pytest.approx([700e-9] * 2)
    time = trace.time().set_index(["rank", "category"])["seconds"]
    assert time[0, CORE_WAIT] + time[0, "computation"] == pytest.approx(4 * 5000e-9), "no more than there was"
    text = idlewave.Schedule.from_trace(folder).to_goal()
    computed = [int(ns) for ns in re.findall(r"calc (\d+)", text.split("rank 1")[0])]
    assert sum(computed) == 1900 + 0 + 4900
    whole = idlewave.Schedule.from_trace(folder, gaps="wall").to_goal()
    assert sum(int(ns) for ns in re.findall(r"calc (\d+)", whole.split("rank 1")[0])) == 3 * (5000 - 100)
