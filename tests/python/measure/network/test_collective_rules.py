"""Collectives are measured by size, and the algorithms whose simulation comes nearest to them become rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from collective_recordings import PILOT_NS, SAMPLES, recorded, time_ns
from idlewave import AlgorithmRule, Operation, Schedule, simulate
from idlewave.algorithm_rules import core_rules
from idlewave.algorithm_tables import rules_of_library
from idlewave.errors import InputError
from idlewave.formatting import plain
from idlewave.machine import Level, Machine, Parameters
from idlewave.measure.network.assessment import assess_collectives
from idlewave.measure.network.fitting.collective_rules import fit_rules, merged
from idlewave.measure.network.fitting.collective_times import call_times
from idlewave.measure.network.fitting.machine_speeds import Reference, Speed
from idlewave.measure.network.job.collectives import CollectiveMeasurement, measure_collectives, read_collectives
from tracer_support import mpich, open_mpi

NS = 1000
PARAMETERS = Parameters(L=900 * NS, o_s=300 * NS, o_r=400 * NS, g=350 * NS, G=60, O_s=90, O_r=110)
MACHINE = Machine("known", Level(PARAMETERS))
RANKS = 8
SIZES = [4**i for i in range(2, 11)]
REDUCTION_NS_PER_BYTE = 0.2


def measured(rules: Sequence[AlgorithmRule], scatter: float = 0.01, machine: Machine = MACHINE) -> pd.DataFrame:
    """What a library with these rules would be measured to do: the simulator's times, with a scatter."""
    names = list(dict.fromkeys(rule.collective for rule in rules))
    operations = [Operation(name, bytes=size) for name in names for size in ([0] if name == "barrier" else SIZES)]
    times = call_times(operations, machine, RANKS, rules)
    rows = [(operation.name, operation.bytes, time) for operation, time in zip(operations, times, strict=True)]
    rows += [("reduction", size, 15 * NS + REDUCTION_NS_PER_BYTE * NS * size) for size in SIZES]
    random = np.random.default_rng(5)
    table = pd.DataFrame(rows, columns=["collective", "size", "median_ps"])
    table["median_ps"] *= random.normal(1, scatter, len(table))
    return table.assign(samples=20, low_ps=table["median_ps"] * 0.99, high_ps=table["median_ps"] * 1.01)


def rule(collective: str, algorithm: str, size: int = 0, **costs: float) -> AlgorithmRule:
    return AlgorithmRule(collective, algorithm, ranks=RANKS, bytes=size, reduction_cost=REDUCTION_NS_PER_BYTE, **costs)


LIBRARY = [
    rule("bcast", "binomial", call_ns=80.0),
    rule("bcast", "scatter_allgather", 16384),
    rule("allreduce", "recursive_doubling", call_ns=150.0, call_ns_per_byte=0.1),
    rule("allreduce", "rabenseifner", 4096, call_ns_per_byte=0.1),
    rule("alltoall", "bruck", call_ns=100.0),
    rule("alltoall", "pairwise", 1024),
]


def test_the_algorithms_of_a_known_library_are_found_with_the_sizes_at_which_they_change() -> None:
    # A barrier is part of the time of a bcast, whose algorithms for 8 ranks differ by few percent of it.
    found = fit_rules(measured(LIBRARY, 0.003), MACHINE, RANKS).rules
    assert [(r.collective, r.algorithm, r.bytes) for r in found] == [
        (r.collective, r.algorithm, r.bytes) for r in LIBRARY
    ]
    assert all(r.ranks == RANKS for r in found)


def allreduces_of_two(rules: Sequence[AlgorithmRule]) -> pd.DataFrame:
    """Times of two ranks, as few samples on a machine that is not quiet show them."""
    sizes = [4**i for i in range(1, 12)]
    times = call_times([Operation("allreduce", bytes=size) for size in sizes], MACHINE, 2, rules)
    times = times * np.random.default_rng(3).normal(1, 0.1, len(times))
    table = pd.DataFrame({"collective": "allreduce", "size": sizes, "median_ps": times})
    return table.assign(samples=5, low_ps=table["median_ps"] * 0.85, high_ps=table["median_ps"] * 1.15)


def test_what_a_library_is_known_to_choose_is_found_where_scatter_hides_single_sizes() -> None:
    own = [r for r in rules_of_library("Open MPI v5.0.11") if (r.collective, r.ranks) == ("allreduce", 2)]
    assert len(own) > 5
    table = allreduces_of_two([replace(r, of_library=False) for r in own])
    found = fit_rules(table, MACHINE, 2, library="Open MPI v5.0.11").rules
    for size in table["size"]:
        chosen, known = (max((r for r in rules if r.bytes <= size), key=lambda r: r.bytes) for rules in (found, own))
        assert chosen.algorithm == known.algorithm, size
    assert not any(r.of_library for r in found)
    alone = fit_rules(table, MACHINE, 2).rules
    assert len(alone) < len(found)


def test_a_library_that_does_otherwise_than_it_is_known_to_is_not_believed() -> None:
    table = allreduces_of_two([AlgorithmRule("allreduce", "recursive_doubling", ranks=2)])
    found = fit_rules(table, MACHINE, 2, library="Open MPI v5.0.11").rules
    assert [r.algorithm for r in found] == ["recursive_doubling"]


BUFFER = Level(Parameters(L=170 * NS, o_s=0, o_r=0, g=0, O_r=90.0))
THROUGH_BUFFER = [
    rule("barrier", "release_gather", call_ns=100.0),
    rule("bcast", "release_gather"),
    rule("reduce", "release_gather", call_ns=60.0),
    rule("allreduce", "release_gather"),
    rule("alltoall", "pairwise"),
]


def test_a_library_whose_ranks_share_a_buffer_is_found_with_the_parameters_of_the_buffer() -> None:
    table = measured(THROUGH_BUFFER, 0.005, replace(MACHINE, shared_buffer=BUFFER))
    fitted = fit_rules(table, MACHINE, RANKS)
    assert {(r.collective, r.algorithm) for r in fitted.rules} == {(r.collective, r.algorithm) for r in THROUGH_BUFFER}
    assert fitted.shared_buffer is not None
    p = fitted.shared_buffer.parameters
    assert pytest.approx(170 * NS, rel=0.08) == p.L  # with what the smallest allreduce reduces and copies
    assert pytest.approx(90, rel=0.05) == p.O_r
    assert fitted.table["error"].abs().max() < 0.06
    assert any("a buffer that the ranks of a node share" in note for note in fitted.notes)


def test_a_library_that_sends_messages_has_no_shared_buffer() -> None:
    known = [rule("barrier", "dissemination"), *(rule(name, "binomial", call_ns=40.0) for name in ("bcast", "reduce"))]
    table = measured([*known, rule("allreduce", "recursive_doubling")])
    for speed in (1.0, 0.85):  # the second is another speed of the machine than that of its parameters
        times = table.assign(**{name: speed * table[name] for name in ("median_ps", "low_ps", "high_ps")})
        fitted = fit_rules(times, MACHINE, RANKS)
        assert fitted.shared_buffer is None
        assert "release_gather" not in {r.algorithm for r in fitted.rules}


def test_ranks_of_several_nodes_share_no_buffer_and_a_machine_keeps_the_one_that_it_has() -> None:
    table = measured(THROUGH_BUFFER, 0.005, replace(MACHINE, shared_buffer=BUFFER))
    assert fit_rules(table, MACHINE, RANKS, one_node=False).shared_buffer is None
    assert fit_rules(table, replace(MACHINE, shared_buffer=BUFFER), RANKS).shared_buffer == BUFFER


def test_what_calls_cost_beside_their_messages_is_found() -> None:
    found = fit_rules(measured(LIBRARY, 0.001), MACHINE, RANKS).rules
    for known, fitted in zip(LIBRARY, found, strict=True):
        assert fitted.call_ns == pytest.approx(known.call_ns, abs=40)
        assert fitted.call_ns_per_byte == pytest.approx(known.call_ns_per_byte, abs=0.02)
    assert found[2].reduction_cost == pytest.approx(REDUCTION_NS_PER_BYTE, rel=0.05)


def test_the_table_has_the_error_of_each_size_and_a_rule_its_largest() -> None:
    fitted = fit_rules(measured(LIBRARY), MACHINE, RANKS)
    assert np.allclose(fitted.table["error"], fitted.table["simulated_ps"] / fitted.table["median_ps"] - 1)
    assert fitted.table["error"].abs().max() < 0.05
    own = fitted.table[(fitted.table["collective"] == "alltoall") & (fitted.table["size"] >= 1024)]
    assert fitted.rules[-1].residual == pytest.approx(own["error"].abs().max(), abs=1e-4)


def test_a_library_that_sends_no_messages_is_said_to_have_another_way() -> None:
    table = measured(LIBRARY)
    quick = table["collective"] == "bcast"
    table.loc[quick, ["median_ps", "low_ps", "high_ps"]] /= 20
    fitted = fit_rules(table, MACHINE, RANKS)
    assert any("Measured calls of bcast take less time than the messages of any" in note for note in fitted.notes)
    assert all(r.residual is not None and r.residual > 1 for r in fitted.rules if r.collective == "bcast")


def test_a_simulation_with_the_rules_takes_the_measured_time() -> None:
    table = measured(LIBRARY)
    fitted = replace(MACHINE, algorithm_rules=fit_rules(table, MACHINE, RANKS).rules)
    row = table[(table["collective"] == "allreduce") & (table["size"] == 65536)].iloc[0]
    schedule = Schedule.pattern("allreduce", ranks=RANKS, bytes=65536, rules=fitted.algorithm_rules)
    assert simulate(schedule, fitted).max_finish == pytest.approx(row["median_ps"], rel=0.05)


# ---- beyond the ranks that were measured

OPEN_MPI = "Open MPI v5.0.11, package: Open MPI"
MPICH = "MPICH Version:      5.0.2\nMPICH Release date: none"


def test_beyond_the_measured_ranks_the_rules_are_the_librarys_own_with_the_measured_costs() -> None:
    fitted = fit_rules(measured(LIBRARY), MACHINE, RANKS)
    beyond = [r for r in merged((), fitted.rules, OPEN_MPI) if r.of_library]
    assert {r.collective for r in beyond} == {"bcast", "allreduce", "alltoall"}
    assert min(r.ranks for r in beyond) == RANKS + 1
    # Open MPI 5.0 uses for 9 to 15 ranks recursive doubling below 8 KiB, else Rabenseifner's algorithm; the costs that
    # were measured change at 4 KiB.
    own = {r.bytes: r for r in beyond if (r.collective, r.ranks) == ("allreduce", RANKS + 1)}
    assert {size: r.algorithm for size, r in own.items()} == {
        0: "recursive_doubling",
        4096: "recursive_doubling",
        8192: "rabenseifner",
    }
    held = [r for r in fitted.rules if r.collective == "allreduce"]
    assert [own[0].call_ns, own[4096].call_ns, own[8192].call_ns] == [r.call_ns for r in (*held, held[1])]
    assert merged((), fitted.rules, "Some MPI 1.0") == fitted.rules


@pytest.mark.parametrize("library", [OPEN_MPI, MPICH])
def test_every_choice_of_a_known_library_is_an_algorithm_of_the_simulator(library: str) -> None:
    rules = rules_of_library(library)
    core_rules(rules)
    assert {r.collective for r in rules} >= {"allreduce", "bcast", "reduce", "alltoall", "allgather"}


def test_a_shared_buffer_is_used_by_as_many_ranks_as_a_node_has_and_messages_by_more() -> None:
    through_buffer = AlgorithmRule("allreduce", "release_gather", ranks=2, call_ns=90.0, residual=0.1)
    large = replace(through_buffer, bytes=4096, reduction_cost=0.25)
    messages = AlgorithmRule("alltoall", "pairwise", ranks=2, call_ns=50.0, residual=0.1)
    rules = merged((), [through_buffer, large, messages], MPICH, node_ranks=16)
    assert {r.reduction_cost for r in rules if r.collective == "allreduce" and r.ranks > 16} == {0.0, 0.25}

    def chosen(collective: str, ranks: int) -> AlgorithmRule:
        own = [r for r in rules if r.collective == collective and r.ranks <= ranks and r.bytes == 0]
        return max(own, key=lambda r: r.ranks)

    assert chosen("allreduce", 16) == through_buffer
    assert (chosen("allreduce", 17).algorithm, chosen("allreduce", 17).call_ns) == ("recursive_doubling", 0)
    assert (chosen("alltoall", 3).algorithm, chosen("alltoall", 3).call_ns) == ("linear", 50.0)


def test_rules_measured_with_other_numbers_of_ranks_and_those_written_by_hand_stay() -> None:
    by_hand = AlgorithmRule("bcast", "chain", ranks=4)
    two = AlgorithmRule("bcast", "binomial", ranks=2, residual=0.1)
    eight = AlgorithmRule("bcast", "linear", ranks=8, residual=0.1)
    first = merged([by_hand], [two], OPEN_MPI)
    assert first[:2] == (by_hand, two)
    assert min(r.ranks for r in first[2:]) == 5
    for order in (
        merged(merged([by_hand], [two], OPEN_MPI), [eight], OPEN_MPI),
        merged([by_hand, eight], [two], OPEN_MPI),
    ):
        assert {r.ranks for r in order if not r.of_library} == {2, 4, 8}
        assert min(r.ranks for r in order if r.of_library) == 9


# ---- recordings

SPEED = Speed(PILOT_NS)
"""Of all samples, if nothing shared their cores."""


def test_a_recording_gives_the_median_time_of_a_call(tmp_path: Path) -> None:
    recorded(tmp_path)
    table = read_collectives(tmp_path).table()
    assert list(table["collective"].unique()) == ["barrier", "bcast", "allreduce", "reduction"]
    row = table[(table["collective"] == "allreduce") & (table["size"] == 4096)].iloc[0]
    assert (row["median_ps"], row["samples"]) == (1000 * time_ns(2, 4096), SAMPLES)


def test_only_samples_at_the_speed_of_the_machine_count(tmp_path: Path) -> None:
    recorded(tmp_path)
    found = read_collectives(tmp_path)
    assert len(found.table(SPEED)) == len(found.table())
    assert (found.rows_at(SPEED), found.rows_at(Speed(3.0 * PILOT_NS))) == (1, 0)


@pytest.fixture
def on_shared_cores(tmp_path: Path) -> CollectiveMeasurement:
    """Nine rounds, of which something else shared the cores in the last three."""
    recorded(tmp_path)
    found = read_collectives(tmp_path)
    shared = found.samples["at_ns"] >= 6 * 10**6
    found.samples[["reference_before_ns", "reference_after_ns"]] = np.where(shared, 1100, 670)[:, None].repeat(
        2, axis=1
    )
    return found


@pytest.mark.parametrize(("median_ns", "rounds"), [(670, 6), (1100, 3)])
def test_samples_on_shared_cores_count_only_at_that_speed(
    on_shared_cores: CollectiveMeasurement, median_ns: float, rounds: int
) -> None:
    speed = Speed(PILOT_NS, Reference(median_ns, limit_ns=840))
    assert on_shared_cores.rows_at(speed) == 1
    assert on_shared_cores.rows_at(replace(speed, pilot_ns=3 * PILOT_NS)) == 0
    assert (on_shared_cores.table(speed)["samples"] == rounds).all()


def test_without_a_speed_of_the_machine_the_samples_on_unshared_cores_count(
    on_shared_cores: CollectiveMeasurement,
) -> None:
    assert (on_shared_cores.table()["samples"] == 6).all()
    assert (on_shared_cores.table(on_shared_cores.best_at(1.1 * PILOT_NS))["samples"] == 6).all()
    assert (on_shared_cores.table(SPEED)["samples"] == SAMPLES).all()  # that speed says nothing of cores


def test_a_size_without_a_sample_at_the_machine_s_speed_has_those_of_all_and_that_is_said(
    on_shared_cores: CollectiveMeasurement,
) -> None:
    samples = on_shared_cores.samples
    of_row = (samples["collective"] == "bcast") & (samples["size"] == 8)
    samples.loc[of_row, "reference_before_ns"] = 1100
    speed = Speed(PILOT_NS, Reference(670, limit_ns=840))
    assert on_shared_cores.rows_at(speed) == pytest.approx(6 / 7)
    notes = assess_collectives(on_shared_cores, MACHINE, speed).notes
    assert any("14 % of the collectives and sizes have no sample at" in plain(note) for note in notes)
    table = on_shared_cores.table(speed)
    assert table.loc[(table["collective"] == "bcast") & (table["size"] == 8), "samples"].item() == SAMPLES


def test_of_several_speeds_of_the_barrier_at_one_pilot_the_usual_one_counts_and_a_note_says_so(tmp_path: Path) -> None:
    """Collectives through a buffer of the node may take twice as long while a ping-pong takes as long as ever."""
    recorded(tmp_path, barriers_ns=[600] * 6 + [1400] * 3)
    found = read_collectives(tmp_path)
    table = found.table(SPEED)
    row = table[(table["collective"] == "allreduce") & (table["size"] == 4096)].iloc[0]
    assert row["samples"] == 6
    assert row["median_ps"] == pytest.approx(1000 * time_ns(2, 4096), rel=1e-3)
    (note,) = (note for note in assess_collectives(found, MACHINE, SPEED).notes if "A barrier took" in note)
    assert "A barrier took 600 ns beside most samples of collectives." in plain(note)
    assert "The 33 % of them beside which it took 1.4 µs do not count, where a size has others." in plain(note)


def test_a_size_without_the_usual_barrier_keeps_the_samples_at_the_machine_s_speed(tmp_path: Path) -> None:
    recorded(tmp_path, barriers_ns=[600] * 6 + [1400] * 3)
    found = read_collectives(tmp_path)
    samples = found.samples
    of_row = (samples["collective"] == "bcast") & (samples["size"] == 8)
    slow = samples["barrier_before_ns"] == 1400
    samples.loc[of_row & ~slow, "pilot_before_ns"] = 9 * PILOT_NS
    table = found.table(SPEED)
    row = table[(table["collective"] == "bcast") & (table["size"] == 8)].iloc[0]
    assert row["samples"] == 3
    assert (table.loc[table["collective"] == "allreduce", "samples"] == 6).all()


def test_interrupted_samples_say_nothing_of_the_usual_barrier(tmp_path: Path) -> None:
    recorded(tmp_path, barriers_ns=[600] * 3 + [1400] * 6)
    found = read_collectives(tmp_path)
    found.samples.loc[found.samples["barrier_before_ns"] == 1400, "disturbed"] = 1
    assert (found.table(SPEED)["samples"] == 3).all()


def test_a_barrier_that_differs_before_and_after_a_sample_is_no_other_speed(tmp_path: Path) -> None:
    recorded(tmp_path, barriers_ns=[600] * SAMPLES)
    found = read_collectives(tmp_path)
    found.samples.loc[found.samples.index % 3 == 0, "barrier_after_ns"] = 1400
    assert (found.table(SPEED)["samples"] == SAMPLES).all()
    assert not any("A barrier took" in note for note in assess_collectives(found, MACHINE, SPEED).notes)


def test_of_epochs_of_which_one_has_no_barriers_all_samples_count(tmp_path: Path) -> None:
    recorded(tmp_path / "epoch-1", barriers_ns=[600] * 6 + [1400] * 3)
    recorded(tmp_path / "epoch-2")
    assert (read_collectives(tmp_path).table(SPEED)["samples"] == 2 * SAMPLES).all()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"barriers_ns": [600] * SAMPLES},
        {"barriers_ns": [600] * 6 + [1400] * 3, "ranks": [{"host": "a", "cpu": 1}, {"host": "a", "cpu": 1}]},
    ],
)
def test_without_barriers_with_one_speed_and_of_ranks_that_take_turns_all_samples_count(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    recorded(tmp_path, **changes)
    found = read_collectives(tmp_path)
    assert (found.table(SPEED)["samples"] == SAMPLES).all()
    assert not any("A barrier took" in note for note in assess_collectives(found, MACHINE, SPEED).notes)


def test_a_negative_barrier_is_refused_with_its_place(tmp_path: Path) -> None:
    recorded(tmp_path, barriers_ns=[-1] * SAMPLES)
    with pytest.raises(InputError, match=r"barrier_before_ns of sample 0: expected 0 to "):
        read_collectives(tmp_path)


def test_a_machine_of_another_speed_is_said_to_be_one(tmp_path: Path) -> None:
    recorded(tmp_path)
    fitted = assess_collectives(read_collectives(tmp_path), MACHINE)
    assert any("Collectives were measured at another speed than the machine's" in note for note in fitted.notes)
    assert {r.collective for r in fitted.rules} == {"barrier", "bcast", "allreduce"}


def test_settings_that_choose_an_algorithm_and_shared_processors_are_said(tmp_path: Path) -> None:
    recorded(
        tmp_path,
        ranks=[{"host": "a", "cpu": 1}, {"host": "a", "cpu": 1}],
        control_variables=[
            {"name": "coll_tuned_use_dynamic_rules", "value": "true"},
            {"name": "coll_tuned_allreduce_algorithm", "value": "ring"},
            {"name": "coll_tuned_bcast_algorithm", "value": "ignore"},
            {"name": "MPIR_CVAR_BCAST_INTRA_ALGORITHM", "value": "2", "in_environment": False},
            {"name": "MPIR_CVAR_REDUCE_INTRA_ALGORITHM", "value": "3", "in_environment": True},
        ],
    )
    notes = " ".join(read_collectives(tmp_path).notes)
    chosen = "coll_tuned_allreduce_algorithm = ring, MPIR_CVAR_REDUCE_INTRA_ALGORITHM = 3"
    assert f"choose algorithms here: {chosen}." in notes
    assert "Ranks shared processors" in notes


def test_without_dynamic_rules_open_mpi_reads_no_choice(tmp_path: Path) -> None:
    recorded(tmp_path, control_variables=[{"name": "coll_tuned_allreduce_algorithm", "value": "ring"}])
    assert read_collectives(tmp_path).forced == {}


def test_epochs_are_one_measurement_if_they_have_the_same_ranks_and_one_may_be_empty(tmp_path: Path) -> None:
    recorded(tmp_path / "epoch-1")
    recorded(tmp_path / "epoch-2")
    (tmp_path / "epoch-2" / "collectives.i64").write_bytes(b"")
    assert len(read_collectives(tmp_path).samples) == SAMPLES * 7
    recorded(tmp_path / "epoch-2", ranks=[{"host": "b"}, {"host": "a"}])
    with pytest.raises(InputError, match=r"epoch-2: expected the ranks of .*epoch-1, found those of another run"):
        read_collectives(tmp_path)


def test_ranks_of_a_node_are_simulated_within_it() -> None:
    node = Level(Parameters(L=90 * NS, o_s=30 * NS, o_r=40 * NS, g=35 * NS))
    apart = replace(MACHINE, node=node, node_ranks=4)
    operations = [Operation("allreduce", bytes=8), Operation("bcast", bytes=8), Operation("barrier")] * 3
    within = call_times(operations, Machine("node", node), 3)
    assert call_times(operations, apart, 3).tolist() == within.tolist()


def test_a_recording_with_a_wrong_number_is_refused_with_its_place(tmp_path: Path) -> None:
    recorded(tmp_path, collectives=["barrier"])
    with pytest.raises(InputError, match=r"collective of sample 1: expected 0 to 0, found 1"):
        read_collectives(tmp_path)


@pytest.mark.parametrize("library", ["Open MPI", "MPICH"])
def test_each_collective_and_size_is_measured_with_both_libraries(library: str, tmp_path: Path) -> None:
    found = measure_collectives(
        2, open_mpi() if library == "Open MPI" else mpich(), seconds=0.05, max_size=64, folder=tmp_path
    )
    sizes = found.samples.groupby("collective")["size"].apply(lambda own: sorted(set(own))).to_dict()
    assert sizes["barrier"] == [0]
    assert sizes["bcast"] == sizes["alltoall"] == [1, 4, 16, 64]
    assert sizes["allreduce"] == sizes["reduction"] == [4, 16, 64]
    assert sizes["reduce_scatter"] == [16, 64]
    assert (found.table()["median_ps"] > 0).all()
    assert (found.samples[["barrier_before_ns", "barrier_after_ns"]] > 0).all(axis=None)
    assert (tmp_path / "collectives.parquet").exists()
    assert found.ranks == 2
    names = [row["name"] for row in found.probe["control_variables"]]
    assert any("allreduce" in name.lower() for name in names)
