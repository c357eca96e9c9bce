"""A machine's rules choose the algorithms of collectives where none is named."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from idlewave import AlgorithmRule, InputError, Job, Machine, Operation, Schedule, UsageError, simulate
from trace_files import write_trace

RULES = (
    AlgorithmRule("allreduce", "ring", bytes=1000, reduction_cost=0.5),
    AlgorithmRule("allreduce", "dissemination", call_ns=30, call_ns_per_byte=0.5),
    AlgorithmRule("allreduce", "reduce_bcast", ranks=16),
)
TOML = """[network]
L = "5.3us"
o = "2.3us"
g = "2us"
G = "2.5ns"
O = "1ns"
S = 65536

[[collective]]
name = "allreduce"
algorithm = "ring"
ranks = 2
from = 1000
segment = 4096
reduction_cost = "0.5ns"
call = "1.5us"
call_per_byte = "20ps"
residual = 0.04
"""


def allreduce(size: int, ranks: int = 8, **options: object) -> Schedule:
    return Schedule.pattern("allreduce", ranks=ranks, bytes=size, **options)  # type: ignore[arg-type]


def test_the_rule_for_the_size_and_the_ranks_chooses_the_algorithm_and_its_costs() -> None:
    large = allreduce(4000, algorithm="ring", reduction_cost=0.5)
    assert allreduce(4000, rules=RULES).to_goal().splitlines()[2:] == large.to_goal().splitlines()[2:]
    many = allreduce(8, 16, algorithm="reduce_bcast")
    assert allreduce(8, 16, rules=RULES).to_goal().splitlines()[2:] == many.to_goal().splitlines()[2:]


def test_the_time_of_a_call_passes_before_its_messages() -> None:
    plain = simulate(allreduce(100, algorithm="dissemination"), "odin").max_finish
    assert simulate(allreduce(100, rules=RULES), "odin").max_finish == plain + (30 + 50) * 1000


def test_what_is_named_in_a_call_goes_before_a_rule() -> None:
    named = allreduce(100, algorithm="ring")
    assert allreduce(100, algorithm="ring", rules=RULES).identity() != named.identity()
    assert simulate(allreduce(100, algorithm="ring", rules=RULES), "odin").finish.tolist() == (
        simulate(named, "odin").finish.tolist()
    )
    costly = allreduce(4000, rules=RULES, reduction_cost=2.0)
    assert simulate(costly, "odin").max_finish > simulate(allreduce(4000, rules=RULES), "odin").max_finish


def test_the_members_of_a_group_are_the_ranks_that_count() -> None:
    groups = [Operation("allreduce", bytes=8, group="blocks", group_size=4)]
    whole = Schedule.compose([Job(32, groups)], rules=RULES)
    own = Schedule.compose([Job(32, [replace(groups[0], algorithm="dissemination")])])
    assert simulate(whole, "odin").max_finish == simulate(own, "odin").max_finish + 34_000


def test_a_schedule_with_rules_is_another_and_stays_so_in_another_process() -> None:
    with_rules = allreduce(100, rules=RULES)
    assert with_rules.identity() != allreduce(100).identity()
    assert pickle.loads(pickle.dumps(with_rules)).identity() == with_rules.identity()
    assert "algorithm_rules" in with_rules.provenance.options


def test_an_unknown_algorithm_and_two_rules_for_one_size_are_refused() -> None:
    with pytest.raises(InputError, match="no algorithm for allreduce is called 'linear'"):
        allreduce(8, rules=[AlgorithmRule("allreduce", "linear")])
    with pytest.raises(InputError, match="expected costs from 0 on, found -5"):
        allreduce(8, rules=[AlgorithmRule("allreduce", "ring", call_ns=-5)])
    with pytest.raises(UsageError, match="expected ranks from 1 to"):
        allreduce(8, rules=[AlgorithmRule("allreduce", "ring", ranks=-1)])
    with pytest.raises(InputError, match="two rules for allreduce from 1 ranks and 0 bytes on"):
        allreduce(8, rules=[AlgorithmRule("allreduce", "ring"), AlgorithmRule("allreduce", "dissemination")])


# ---- of a trace


def test_a_traced_collective_follows_the_rule_for_its_size(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace")
    by_rule = Schedule.from_trace(trace, rules=[AlgorithmRule("allreduce", "ring")])
    named = Schedule.from_trace(trace, algorithms={"allreduce": "ring"})
    assert simulate(by_rule, "odin").finish.tolist() == simulate(named, "odin").finish.tolist()
    assert by_rule.identity() != named.identity()
    assert pickle.loads(pickle.dumps(by_rule)).identity() == by_rule.identity()


def test_what_is_named_for_a_trace_goes_before_a_rule(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace")
    rules = [AlgorithmRule("allreduce", "reduce_bcast", call_ns=1e6)]
    both = Schedule.from_trace(trace, algorithms={"allreduce": "ring"}, rules=rules)
    named = Schedule.from_trace(trace, algorithms={"allreduce": "ring"})
    assert simulate(both, "odin").max_finish == simulate(named, "odin").max_finish


def test_an_extrapolated_trace_follows_the_rules_for_its_ranks(tmp_path: Path) -> None:
    trace = Schedule.from_trace(
        write_trace(tmp_path / "trace"),
        rules=[AlgorithmRule("allreduce", "ring"), AlgorithmRule("allreduce", "dissemination", ranks=33)],
    )
    many = Schedule.from_trace(tmp_path / "trace", algorithms={"allreduce": "dissemination"}).extrapolate(64)
    few = Schedule.from_trace(tmp_path / "trace", algorithms={"allreduce": "ring"})
    assert simulate(trace, "odin").messages == simulate(few, "odin").messages
    assert simulate(trace.extrapolate(64), "odin").messages == simulate(many, "odin").messages


def test_a_schedule_written_out_has_the_ops_of_the_rules(tmp_path: Path) -> None:
    trace = Schedule.from_trace(
        write_trace(tmp_path / "trace"), rules=[AlgorithmRule("allreduce", "ring", call_ns=5_000)]
    )
    written = Schedule.from_goal(trace.to_goal())
    assert simulate(written, "odin").finish.tolist() == simulate(trace, "odin").finish.tolist()


# ---- in a machine.toml


def test_a_machine_says_its_rules_in_their_units() -> None:
    (found,) = Machine.from_toml(TOML).algorithm_rules
    assert found == AlgorithmRule(
        "allreduce",
        "ring",
        ranks=2,
        bytes=1000,
        segment=4096,
        reduction_cost=0.5,
        call_ns=1500,
        call_ns_per_byte=0.02,
        residual=0.04,
    )


def test_rules_are_written_as_they_are_read() -> None:
    machine = replace(Machine.from_toml(TOML), algorithm_rules=RULES)
    assert Machine.from_toml(machine.to_toml()).algorithm_rules == RULES


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"ring"', '"rings"', "no algorithm for allreduce is called 'rings'"),
        ('"allreduce"', '"allreducing"', "no collective is called 'allreducing'"),
        ("ranks = 2", "ranks = 0", r"collective\[0\].ranks: expected a whole number from 1"),
        ('"1.5us"', '"1.5"', r"collective\[0\].call: expected a time with a unit"),
        ("from = 1000", "form = 1000", r"collective\[0\].form"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_place(old: str, new: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        Machine.from_toml(TOML.replace(old, new), name="machine.toml")
