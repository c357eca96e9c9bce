"""Derivatives, and what a recorded timeline says, against what simulations give."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import idlewave
import pytest
from click.testing import CliRunner
from idlewave import Job, Level, Machine, Operation, Parameters, PatternOptions, Schedule, Segment, UsageError
from idlewave.cli import cli
from idlewave.machine import Progress
from idlewave.sensitivity import PARAMETERS

COARSE = Machine(name="coarse", network=Level(Parameters(L=50, o_s=7, o_r=9, g=12, G=1.0, O_s=0.5, O_r=0.5)))


def stencil(repetitions: int = 3) -> Schedule:
    halo = Operation("halo2d", bytes=40, options=PatternOptions(compute_ns=1))
    return Schedule.compose([Job(ranks=6, operations=[halo, Operation("allreduce", bytes=8)], repetitions=repetitions)])


def nudged(machine: Machine, parameter: str) -> Machine:
    p = machine.network.parameters
    names = (f"{parameter}_s", f"{parameter}_r") if parameter in ("o", "O") else (parameter,)
    changed = replace(p, **{name: getattr(p, name) + 1 for name in names})
    return replace(machine, network=replace(machine.network, parameters=changed))


FINE = Parameters(
    L=5_000_037, o_s=700_013, o_r=900_007, g=1_200_017, G=1003.0, O_s=511.0, O_r=307.0, c=40_009, o_p=100_003
)
"""Parameters of many digits, so that one ps more changes no order in which things happen."""


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_derivative_is_what_a_little_more_of_the_parameter_costs(parameter: str) -> None:
    machine = Machine(name="fine", network=Level(FINE))
    schedule = stencil()
    found = idlewave.sensitivities(schedule, machine)
    slower = idlewave.simulate(schedule, nudged(machine, parameter))
    assert found.time == idlewave.simulate(schedule, machine).max_finish
    assert slower.max_finish - found.time == found.network[parameter]
    assert (slower.finish - found.finish == found.slopes[f"network.{parameter}"]).all()


@pytest.mark.parametrize("parameter", ["c", "o_p"])
def test_by_what_a_machine_does_not_have_the_derivative_is_0(parameter: str) -> None:
    """Its first picosecond may change what goes first."""
    without = replace(FINE, **{parameter: 0})
    assert idlewave.sensitivities(stencil(), Machine(name="fine", network=Level(without))).network[parameter] == 0


def test_the_derivative_by_computation_is_what_a_little_more_of_it_costs() -> None:
    text = "num_ranks 2\nrank 0 {\nc: calc %d\ns: send 8b to 1\ns requires c\n}\n"
    text += "rank 1 {\nc: calc %d\nr: recv 8b from 0\n}\n"
    for first, second in ((5000, 100), (100, 50_000), (7000, 7100)):
        before = idlewave.sensitivities(Schedule.from_goal(text % (first, second)), COARSE)
        after = idlewave.simulate(Schedule.from_goal(text % (first + first // 100, second + second // 100)), COARSE)
        assert after.max_finish - before.time == before.computation // 100


def test_a_network_inside_nodes_has_derivatives_of_its_own() -> None:
    machine = replace(COARSE, node=Level(Parameters(L=11, o_s=3, o_r=3, g=5)), node_ranks=2)
    found = idlewave.sensitivities(stencil(), machine)
    assert found.node is not None
    assert found.node["L"] > 0
    assert idlewave.sensitivities(stencil(), COARSE).node is None


@pytest.mark.parametrize("node", [None, Level(Parameters(L=11, o_s=3, o_r=3, g=5))])
@pytest.mark.parametrize("parameter", ["L", "o_s", "o_r", "g", "O_r"])
def test_a_shared_buffer_has_derivatives_of_its_own(parameter: str, node: Level | None) -> None:
    buffer = Parameters(L=170_003, o_s=1_009, o_r=2_003, g=507, O_r=91.0)
    machine = replace(COARSE, node=node, node_ranks=4, shared_buffer=Level(buffer))
    operations = [Operation(name, bytes=100, algorithm="release_gather") for name in ("reduce", "bcast", "allreduce")]
    schedule = Schedule.compose([Job(ranks=4, operations=operations, repetitions=3)])
    found = idlewave.sensitivities(schedule, machine)
    more = replace(buffer, **{parameter: getattr(buffer, parameter) + 1})
    slower = idlewave.simulate(schedule, replace(machine, shared_buffer=Level(more)))
    assert found.shared_buffer is not None
    assert slower.max_finish - found.time == found.shared_buffer[parameter]
    assert (slower.finish - found.finish == found.slopes[f"shared_buffer.{parameter}"]).all()
    assert not any(found.network.values())
    assert idlewave.sensitivities(stencil(), COARSE).shared_buffer is None


ONE_SIDED = """num_ranks 3
rank 0 {
l: lock at 1
p: put 1000b to 1 tag 4
g: get 2000b from 1
u: unlock at 1
p requires l
g requires p
u requires g
}
rank 1 {
a: await from 0 tag 4
c: calc 3000
}
rank 2 {
c: calc 20
l: shared_lock at 1
l requires c
p: put 300b to 1
p requires l
u: unlock at 1
u requires p
}
"""


ORIGINS = ("L", "o_s", "g", "G", "O_s")
BY_NETWORK = Parameters(L=170_003, o_s=1_009, o_r=0, g=507, G=3.0, O_s=1.0)
BY_CPU = replace(BY_NETWORK, o_r=2_003, O_r=2.0)


@pytest.mark.parametrize(
    ("progress", "own", "parameter"),
    [
        *(("network", BY_NETWORK, name) for name in ORIGINS),
        *(("cpu", BY_CPU, name) for name in (*ORIGINS, "o_r", "O_r")),
    ],
)
def test_one_sided_ops_have_derivatives_of_their_own(progress: Progress, own: Parameters, parameter: str) -> None:
    machine = replace(COARSE, one_sided=Level(own), progress=progress)
    schedule = Schedule.from_goal(ONE_SIDED)
    found = idlewave.sensitivities(schedule, machine)
    more = replace(own, **{parameter: getattr(own, parameter) + 1})
    slower = idlewave.simulate(schedule, replace(machine, one_sided=Level(more)))
    assert found.one_sided is not None
    assert slower.max_finish - found.time == found.one_sided[parameter]
    assert (slower.finish - found.finish == found.slopes[f"one_sided.{parameter}"]).all()
    assert not any(found.network.values())
    assert set(found.to_pandas(machine)["level"]) == {"network", "one_sided", ""}


def test_one_sided_ops_without_parameters_of_their_own_count_in_those_of_messages() -> None:
    schedule, machine = Schedule.from_goal(ONE_SIDED), Machine(name="fine", network=Level(FINE))
    found = idlewave.sensitivities(schedule, machine)
    assert found.one_sided is None
    slower = idlewave.simulate(schedule, nudged(machine, "L"))
    assert slower.max_finish - found.time == found.network["L"] > 0
    assert found.network["o_r"] == found.network["O_r"] == 0


def uneven_ring() -> Schedule:
    lines = ["num_ranks 200"]
    for rank in range(200):
        lines += [f"rank {rank} {{", f"c: calc {1000 + 17 * rank}", f"s: send 100b to {(rank + 1) % 200}"]
        lines += [f"r: recv 100b from {(rank - 1) % 200}", "s requires c", "}"]
    return Schedule.from_goal("\n".join(lines) + "\n")


def uneven_gather() -> Schedule:
    return Schedule.pattern("gather", ranks=200, algorithm="linear", recv_counts=range(100, 20_100, 100))


@pytest.mark.parametrize("node_ranks", [1, 3])
@pytest.mark.parametrize("schedule", [uneven_ring, uneven_gather])
def test_derivatives_of_ranks_that_all_differ_are_exact_too(schedule: Callable[[], Schedule], node_ranks: int) -> None:
    machine = Machine(name="fine", network=Level(FINE))
    if node_ranks > 1:
        machine = replace(machine, node=Level(FINE), node_ranks=node_ranks)
    found = idlewave.sensitivities(schedule(), machine)
    before = idlewave.simulate(schedule(), machine)
    assert (found.finish == before.finish).all()
    for parameter in PARAMETERS:
        slower = idlewave.simulate(schedule(), nudged(machine, parameter))
        assert (slower.finish - before.finish == found.slopes[f"network.{parameter}"]).all()


@pytest.mark.parametrize("threads", [2, 3])
def test_derivatives_are_the_same_on_any_number_of_threads(threads: int) -> None:
    one = idlewave.sensitivities(stencil(), COARSE)
    many = idlewave.sensitivities(stencil(), COARSE, scheduler="yawns", threads=threads)
    assert all((one.slopes[name] == many.slopes[name]).all() for name in one.slopes)


def test_odd_records_are_refused() -> None:
    for wrong in ({"ranks": (1,)}, {"ranks": (3, 1)}, {"since_ps": 5, "until_ps": 5}, {"until_ps": 2**70}):
        with pytest.raises(UsageError, match="expected"):
            idlewave.Recording(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected 16 send_counts for 4 ranks"):
        Schedule.pattern("alltoall", ranks=4, send_counts=range(1, 8))
    with pytest.raises(UsageError, match="expected at most 4 send_counts"):
        Schedule.pattern("scatter", ranks=4, send_counts=range(1, 17))


def test_the_critical_path_runs_from_the_beginning_to_the_finish() -> None:
    timeline = idlewave.simulate(stencil(), COARSE, record=True)
    path = timeline.critical_path()
    assert path["from_ps"].iloc[0] == 0
    assert path["to_ps"].iloc[-1] == timeline.max_finish
    assert (path["from_ps"].iloc[1:].to_numpy() == path["to_ps"].iloc[:-1].to_numpy()).all()
    assert sum(timeline.path_division().values()) == timeline.max_finish


def test_waits_in_collectives_and_elsewhere_are_told_apart() -> None:
    waits = idlewave.simulate(stencil(), COARSE, record=True).wait_states(("call",))
    states = set(zip(waits["call"], waits["wait_state"], strict=True))
    assert ("allreduce recursive_doubling", "wait at collective") in states
    assert ("halo2d", "late sender") in states
    assert ("halo2d", "wait at collective") not in states


def test_traffic_and_queues_count_every_message() -> None:
    timeline = idlewave.simulate(stencil(), COARSE, record=True)
    assert timeline.traffic("pair")["messages"].sum() == timeline.messages
    assert timeline.traffic("size")["messages"].sum() == timeline.messages
    assert set(timeline.traffic("size")["size"]) == {8, 40}
    assert timeline.matching_queues()["arrivals"].sum() == timeline.messages


def test_finish_times_alone_explain_nothing() -> None:
    with pytest.raises(UsageError, match="record=True"):
        idlewave.simulate(stencil(), COARSE).critical_path()


def test_explain_prints_what_a_time_is_made_of() -> None:
    arguments = ["explain", "allreduce", "--ranks", "8", "--bytes", "1000", "--machine", "odin"]
    text = CliRunner().invoke(cli, arguments)
    assert text.exit_code == 0, text.output
    assert all(word in text.output for word in ("Critical path", "By how much the time grows", "Waits", "unexpected"))
    result = CliRunner().invoke(cli, [*arguments, "--json"])
    found = json.loads(result.output)
    assert sum(found["critical_path_ps"].values()) == found["max_finish_ps"]
    first, *_, last = found["latency_tolerance"]["brackets"]
    assert (first["growth"], last["growth"]) == (0.01, 0.05)
    assert 0 < first["low_ps"] < last["low_ps"]


def test_shares_are_left_out_where_a_level_has_segments() -> None:
    segments = (Segment(100, Parameters(L=20, o_s=9, o_r=3, g=4)),)
    machine = replace(COARSE, network=replace(COARSE.network, segments=segments))
    shares = idlewave.sensitivities(stencil(), machine).to_pandas(machine).set_index("parameter")["share"]
    assert shares[list(PARAMETERS)].isna().all()
    assert not math.isnan(shares["computation"])
