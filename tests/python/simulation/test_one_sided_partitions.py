"""One-sided ops on the kernel's partitions, on machines with parameters of their own: the same as in one loop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from idlewave import Level, Machine, Parameters, Schedule, kernel, sensitivities, simulate
from long_cases import most_long
from partition_ways import noisy_machine, one_sided_schedule
from tracer_support import open_mpi

pytestmark = pytest.mark.slow

BY_NETWORK = Level(Parameters(L=1_500_000, o_s=300_000, o_r=0, g=200_000, G=400.0, O_s=50.0))
BY_CPU = Level(replace(BY_NETWORK.parameters, o_r=700_000, O_r=90.0))
MACHINES = {
    "by network": replace(noisy_machine(), one_sided=BY_NETWORK),
    "by cpu": replace(noisy_machine(), one_sided=BY_CPU, progress="cpu"),
    "of messages": replace(noisy_machine(), node=Level(replace(BY_CPU.parameters, L=400_000)), node_ranks=4),
}
WAYS: tuple[dict[str, Any], ...] = (
    {"scheduler": "check"},
    {"scheduler": "yawns", "threads": 3, "placement": "cyclic"},
    {"scheduler": "timewarp"},
    {"scheduler": "timewarp", "threads": 2, "placement": "cyclic", "migrate": True},
    {"scheduler": "timewarp", "threads": 3, "lazy": True},
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(str(value) for value in way.values()))
@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES.keys())
def test_times_records_and_derivatives_are_those_of_one_loop(
    machine: Machine, way: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "MIGRATE_AFTER", 100)
    schedule = one_sided_schedule()
    alone = simulate(schedule, machine, seed=3, record=True)
    assert len({"put", "get", "await", "lock", "shared_lock", "unlock"} & set(alone.ops_to_pandas()["kind"])) == 6
    assert np.array_equal(simulate(schedule, machine, seed=3, **way).finish, alone.finish)
    found = simulate(schedule, machine, seed=3, record=True, **way)
    assert found.messages == alone.messages
    for name, column in (alone.columns | alone.path).items():
        assert np.array_equal((found.columns | found.path)[name], column), name
    slopes, expected = sensitivities(schedule, machine, seed=3, **way), sensitivities(schedule, machine, seed=3)
    for name in expected.slopes:
        assert np.array_equal(slopes.slopes[name], expected.slopes[name]), name


def locked_ring(ranks: int = 16, rounds: int = 12) -> Schedule:
    """Each rank updates rank 0 under a lock and notifies its neighbour, round by round: locks are always contended.
    On a second CPU it puts to and gets from others meanwhile, so that its NIC always has a queue.
    """
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        ops, before = [], ""
        for i in range(rounds):
            to, source = (rank + 1) % ranks, (rank - 1) % ranks
            statements = ["lock at 0", "put 100b to 0", "unlock at 0", f"put 8b to {to} tag {i}"]
            for number, statement in enumerate([*statements, f"await from {source} tag {i}"]):
                label = f"r{i}_{number}"
                ops += [f"{label}: {statement}", *([f"{label} requires {before}"] if before else [])]
                before = label
            others = [f"put 40b to {source}", f"get 30b from {to}", f"put 1b to {to}"]
            ops += [f"q{i}_{number}: {other} cpu 1" for number, other in enumerate(others)]
            ops += [f"q{i}_{number} irequires r{i}_2" for number in range(len(others))]
        lines += [f"rank {rank} {{", *ops, "}"]
    return Schedule.from_goal("\n".join(lines) + "\n")


@pytest.mark.parametrize("machine", most_long(MACHINES.values(), 1), ids=MACHINES.keys())
def test_a_simulation_goes_on_from_a_checkpoint_amid_locks_and_notifications(machine: Machine, tmp_path: Path) -> None:
    open_mpi()
    schedule = locked_ring()
    alone = simulate(schedule, machine, seed=1, record=True)
    ways: dict[str, Any] = {"seed": 1, "record": True, "checkpoint": tmp_path}
    kept = simulate(schedule, machine, scheduler="timewarp", threads=2, checkpoint_every=0, **ways)
    assert kept.run is not None
    assert kept.run.segments > 2, "there are checkpoints before the end"
    rest = simulate(schedule, machine, scheduler="yawns", processes=2, restart=True, **ways)
    for found in (kept, rest):
        assert np.array_equal(found.finish, alone.finish)
        for name, column in alone.columns.items():
            assert np.array_equal(found.columns[name], column), name


@pytest.mark.parametrize("machine", most_long(MACHINES.values(), 1), ids=MACHINES.keys())
def test_ranks_with_locks_and_notifications_move_between_processes(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_mpi()
    monkeypatch.setattr(kernel, "MIGRATE_AFTER", 100)
    alone = simulate(locked_ring(), machine, seed=5)
    found = simulate(locked_ring(), machine, seed=5, scheduler="timewarp", processes=2, placement="graph")
    assert np.array_equal(found.finish, alone.finish)
    assert found.run is not None
    assert found.run.segments > 1, "ranks have moved"
