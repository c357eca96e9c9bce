"""What the system gave the ranks while they were traced."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from command_runs import run
from idlewave import Trace
from trace_files import Core, write_trace
from tracer_support import command_of, open_mpi, program

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


@pytest.mark.mpi
@pytest.mark.slow
def test_ranks_on_one_core_are_said_to_share_it(tmp_path: Path) -> None:
    use = open_mpi()
    command = command_of(use, 4, Path("taskset"), "-c", "0", program(use, "many"), 1_000_000)
    one = run("trace", "-o", str(tmp_path / "trace"), "--", *command)
    assert one.returncode == 0, one.stderr
    assert "cores: a rank had" in one.stdout
    with_json = run("trace", "--json", "--overwrite", "-o", str(tmp_path / "trace"), "--", *command)
    said = json.loads(with_json.stdout)
    assert said["ranks_that_shared_cores"] > 0
    least, most = said["core_share"]
    assert 0 < least <= most < 1
    assert "shared cores: the computations of this trace hold waits for a core" in " ".join(one.stderr.split())
