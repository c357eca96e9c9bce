"""What a variation of L and G costs a program, and the variation that a recording has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import (
    FixedLength,
    InputError,
    Level,
    Machine,
    Parameters,
    PoissonNoise,
    Schedule,
    UsageError,
    Variation,
    simulate,
)
from idlewave.cli.study_variation_command import recorded_variation
from idlewave.formatting import plain
from idlewave.machine import WITHIN
from idlewave.measure.overtime import read_overtime
from idlewave.recorded_pairs import recorded_pairs
from idlewave.report.variation_page import variation_page
from idlewave.studies.variation import slowdown_by_variation, slowdowns
from idlewave.variation import LEAST_RECORDED, unvaried_notes, variation_from_recording
from overtime_recordings import recording_table, write_recording

SECOND = 10**9  # ns
MACHINE = Machine("m", Level(Parameters(L=1_000_000, o_s=100_000, o_r=100_000, g=100_000, G=100.0)))


def recording(rows: list[tuple[int, str, float]], **columns: object) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["start_ns", "test", "value"])
    return table.assign(**{"length_ns": SECOND, "rank": 0, "peer": 1, "size": 1, **columns})


def test_a_recordings_factors_are_relative_to_the_medians_of_its_tests() -> None:
    rows = [
        (5 * SECOND, "latency", 1e-6),
        (6 * SECOND, "bandwidth", 8e9),
        (7 * SECOND, "allreduce", 1.0),
        (8 * SECOND, "idle", float("nan")),
        (9 * SECOND, "latency", 2e-6),
        (10 * SECOND, "bandwidth", 4e9),
        (11 * SECOND, "latency", 3e-6),
        (12 * SECOND, "bandwidth", 16e9),
        (13 * SECOND, "idle", float("nan")),
    ]
    found = variation_from_recording(recording(rows), recorded="here")
    assert found.starts.tolist() == [n * SECOND * 1000 for n in (0, 1, 4, 5, 6, 7)]
    assert found.L.tolist() == [0.5, 0.5, 1, 1, 1.5, 1.5]
    assert found.G.tolist() == [1, 1, 1, 2, 2, 0.5]
    assert (found.period, found.recorded) == (9 * SECOND * 1000, "here")
    found.core()


def test_a_recording_of_one_test_leaves_the_other_parameter_as_it_is() -> None:
    found = variation_from_recording(recording([(0, "latency", 1.0), (5, "latency", 3.0)]))
    assert (found.L.tolist(), found.G.tolist()) == ([0.5, 1.5], [1, 1])


def test_before_the_first_phase_its_factor_holds() -> None:
    rows = [(0, "allreduce", 1.0), (2 * SECOND, "latency", 3.0), (4 * SECOND, "latency", 1.0)]
    found = variation_from_recording(recording(rows))
    assert (found.starts.tolist(), found.L.tolist()) == ([0, 4 * SECOND * 1000], [1.5, 0.5])
    assert found.period == 5 * SECOND * 1000


def test_pairs_have_medians_of_their_own_and_the_mean_of_a_phase_counts() -> None:
    table = recording([(0, "latency", 1.0), (1, "latency", 10.0), (8, "latency", 3.0), (9, "latency", 50.0)])
    found = variation_from_recording(table.assign(phase=[0, 0, 1, 1], rank=[0, 2, 0, 2], peer=[1, 3, 1, 3]))
    assert found.starts.tolist() == [0, 8000]
    assert found.L.tolist() == pytest.approx([(1 / 2 + 10 / 30) / 2, (3 / 2 + 50 / 30) / 2])


def test_a_factor_of_nothing_is_said_to_change_nothing() -> None:
    table = recording([(0, "bandwidth", 1.0), (5, "bandwidth", 3.0)], size=[64, 64])
    free = replace(MACHINE, network=Level(replace(MACHINE.network.parameters, G=0)))
    assert unvaried_notes(table, MACHINE) == ()
    (note,) = unvaried_notes(table, free)
    assert plain(note).startswith("G of messages of 64 B is 0 on ")


WITHIN_NODE = replace(MACHINE, measured=WITHIN, node_ranks=8)
BOTH = replace(MACHINE, node=MACHINE.network, node_ranks=8)


def two_kinds() -> pd.DataFrame:
    """Latency of ranks 0 and 1, and of 0 and 2, in turn: the first swings by two, the second by four."""
    rows = [(n * SECOND, "latency", 1.0 + n // 2 % 2 * (1.0 if n % 2 == 0 else 3.0)) for n in range(16)]
    return recording(rows, peer=[1 + n % 2 for n in range(16)])


@pytest.mark.parametrize(("machine", "within"), [(None, False), (MACHINE, False), (BOTH, False), (WITHIN_NODE, True)])
def test_pairs_within_a_node_and_between_nodes_are_never_mixed(machine: Machine | None, within: bool) -> None:
    table, hosts = two_kinds(), ["a", "a", "b"]
    found = variation_from_recording(table, None, hosts=hosts) if machine is None else None
    chosen = recorded_pairs(table, hosts, machine)
    assert set(chosen.table["peer"]) == {1 if within else 2}
    (note,) = chosen.notes
    left, network = ("between nodes", "within a node") if within else ("within a node", "between nodes")
    assert note.startswith(f"1 of 2 pairs of ranks of the recording is {left}, and left out: ")
    assert f"those of the network {network}" in note
    if found is not None:
        assert sorted(set(found.L)) == pytest.approx([0.4, 1.6])  # of 1 and 4, whose median is 2.5


@pytest.mark.parametrize(
    ("hosts", "machine", "note"),
    [
        (
            ["a", "a", "a"],
            MACHINE,
            "the recording is of one host; its factors stand for the network between nodes here",
        ),
        (["a", "a", "a"], WITHIN_NODE, None),
        (["a", "b", "c"], BOTH, None),
        (["a", "b", "b"], WITHIN_NODE, "its factors stand for the network within a node here"),
        ([], MACHINE, "does not say on which hosts its ranks were"),
    ],
)
def test_of_one_kind_all_pairs_count_and_another_kind_than_the_machine_s_is_said(
    hosts: list[str], machine: Machine, note: str | None
) -> None:
    found = recorded_pairs(two_kinds(), hosts, machine)
    assert len(found.table) == 16
    assert ([] if note is None else [True]) == [note in one for one in found.notes]


def test_the_command_says_which_pairs_were_left_out(tmp_path: Path) -> None:
    write_machine(tmp_path)
    table = recording_table(40)
    table.loc[(table["peer"] == 1) & (table["phase"] % 12 > 5), "peer"] = 2
    write_recording(tmp_path / "night", table, hosts=["a", "a", "b"], settings={"ranks": 3}, interrupted=1)
    words = ["study", "variation", "p.goal", "-m", "machine.toml", "--recording", "night", "--runs", "3"]
    ended = run_command(words, tmp_path)
    assert ended.status == 0, ended.complained
    assert "1 of 2 pairs of ranks of the recording is within a node, and left out" in ended.complained
    assert "The recording was interrupted once" in ended.complained


def test_no_factor_holds_beyond_an_interruption() -> None:
    rows = [(0, "latency", 1.0), (1, "bandwidth", 4.0), (2, "latency", 1.0), (3, "bandwidth", 1.0)]
    table = recording([(n * SECOND, test, value) for n, test, value in rows], run=[0, 0, 1, 1])
    found = variation_from_recording(table)
    assert found.G.tolist() == [0.625, 0.625, 2.5, 2.5]  # of a median of 2.5: not 0.625 until the fourth


def test_the_pause_between_two_runs_of_a_recording_is_left_out() -> None:
    rows = [(0, "latency", 1.0), (SECOND, "latency", 2.0), (3600 * SECOND, "latency", 3.0)]
    found = variation_from_recording(recording(rows, run=[0, 0, 1]))
    assert found.starts.tolist() == [0, SECOND * 1000, 2 * SECOND * 1000]
    assert found.period == 3 * SECOND * 1000


def test_a_run_of_phases_without_lengths_ends_one_step_after_its_last_start() -> None:
    rows = [(n * SECOND, "latency", 1.0 + n % 3) for n in (0, 1, 2, 3600, 3601)]
    table = recording(rows, run=[0, 0, 0, 1, 1]).drop(columns="length_ns")
    found = variation_from_recording(table)
    assert found.starts.tolist() == [n * SECOND * 1000 for n in range(5)]
    assert found.period == 5 * SECOND * 1000
    found.core()
    variation_from_recording(table.head(1)).core()  # of one phase no step is known


def test_a_table_without_ranks_does_not_say_of_which_pairs_it_is() -> None:
    (note,) = recorded_pairs(two_kinds().drop(columns=["rank", "peer"]), ["a", "b"]).notes
    assert note.startswith("the recording does not say on which hosts its ranks were")


def test_of_a_machine_its_overheads_and_gap_do_not_vary() -> None:
    machine = Machine("m", Level(Parameters(L=600_000, o_s=200_000, o_r=200_000, g=50_000, G=50.0)))
    latencies = [(n, "latency", value) for n, value in enumerate([1e-6, 1e-6, 1.3e-6, 0.1e-6])]
    found = variation_from_recording(recording(latencies), machine)
    assert found.L.tolist() == pytest.approx([1, 1, 1.5, LEAST_RECORDED])  # 0.3 us more of 0.6
    bandwidths = [(n, "bandwidth", value) for n, value in enumerate([1.0, 1.0, 0.5])]
    found = variation_from_recording(recording(bandwidths, size=1001), machine)
    assert found.G.tolist() == pytest.approx([1, 1, 3])  # 50 + 50 ns become 50 + 150


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            recording([(0, "idle", float("nan")), (1, "latency", float("nan"))]),
            "expected phases of latency or bandwidth",
        ),
        (recording([]), "expected phases of latency or bandwidth"),
        (recording([(0, "latency", 1.0)]).drop(columns="value"), "expected the columns .* found no value"),
    ],
)
def test_a_recording_without_phases_is_refused(table: pd.DataFrame, said: str) -> None:
    with pytest.raises(InputError, match=said):
        variation_from_recording(table)


PING = Schedule.from_goal("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n")
QUIET, SLOW = 1_200_000, 3_200_000
HALF = Variation(np.array([0, 10**9]), np.array([1.0, 3.0]), np.array([1.0, 1.0]), 2 * 10**9)


def test_the_slowdown_is_that_of_random_offsets_into_the_variation() -> None:
    found = slowdown_by_variation(PING, MACHINE, HALF, runs=400, seed=3)
    more = SLOW / QUIET - 1
    slow = found.runs["offset_ps"] >= 10**9 - 100_000
    assert set(found.runs["constant_ps"]) == {QUIET}
    assert (found.runs["finish_ps"][slow] == SLOW).all()
    assert (found.runs["finish_ps"][~slow] == QUIET).all()
    assert found.runs["offset_ps"].between(0, 2 * 10**9 - 1).all()
    assert found.runs["offset_ps"].nunique() > 390
    assert found.mean == pytest.approx(more * slow.mean())
    assert found.low < more / 2 < found.high
    assert found.low < found.mean < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 * more / 2 / 20, rel=0.1)


def test_the_same_seed_gives_the_same_runs_on_any_number_of_workers() -> None:
    one, two = (slowdown_by_variation(PING, MACHINE, HALF, runs=30, seed=1, workers=n) for n in (1, 2))
    assert one.runs.equals(two.runs)
    assert one.row() == two.row()
    assert not one.runs.equals(slowdown_by_variation(PING, MACHINE, HALF, runs=30, seed=2).runs)


def test_noise_is_the_same_with_the_variation_and_without_it() -> None:
    noisy = MACHINE.with_noise(PoissonNoise(3e6, FixedLength(200_000)))
    schedule = Schedule.pattern("dissemination", ranks=32)
    ones = Variation(np.array([0]), np.array([1.0]), np.array([1.0]), 10**9)
    found = slowdown_by_variation(schedule, noisy, ones, runs=5, seed=7)
    assert (found.runs["slowdown"] == 0).all()
    assert found.runs["constant_ps"].tolist() == [simulate(schedule, noisy, seed=7 + n).max_finish for n in range(5)]
    assert found.runs["constant_ps"].nunique() > 1


def test_what_makes_no_study_is_refused() -> None:
    with pytest.raises(UsageError, match="a machine with one"):
        slowdown_by_variation(PING, MACHINE)
    with pytest.raises(UsageError, match="with a period"):
        slowdown_by_variation(PING, MACHINE, Variation(HALF.starts, HALF.L, HALF.G))
    with pytest.raises(UsageError, match="at least one run"):
        slowdown_by_variation(PING, MACHINE, HALF, runs=0)


def write_machine(folder: Path) -> None:
    (folder / "variation.csv").write_text("start_ns,L_factor,G_factor\n0,1,1\n1e6,3,1\n")
    (folder / "machine.toml").write_text(
        '[network]\nL = "1us"\no = "0.1us"\ng = "0.1us"\nG = "0.1ns"\nO = "0ns"\nS = "inf"\n'
        '[network.variation]\nfile = "variation.csv"\nperiod = "2ms"\n'
    )
    (folder / "p.goal").write_text("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n")


def test_the_command_simulates_the_machines_own_variation_and_continues(tmp_path: Path) -> None:
    write_machine(tmp_path)
    words = ["study", "variation", "p.goal", "-m", "machine.toml", "-o", "out", "--runs"]
    assert run_command([*words, "30"], tmp_path).status == 0
    before = pd.read_parquet(tmp_path / "out/study.parquet")
    made = run_command([*words, "40"], tmp_path)
    assert made.status == 0, made.complained
    table = pd.read_parquet(tmp_path / "out/study.parquet")
    assert {*table["finish_ps"]} == {1_200_000, 3_200_000}
    pd.testing.assert_frame_equal(table.head(30), before)  # with the time that each took
    found = slowdowns(table)[0].row()
    assert f"{100 * found['mean']:.0f} % longer in the mean" in plain(made.printed)
    assert (tmp_path / "out/report.html").read_text().count("<figure") == 2
    said = run_command([*words, "40", "--json"], tmp_path)
    assert json.loads(said.printed)["rows"] == table.to_dict("records")


@pytest.mark.long
def test_the_tasks_of_an_array_have_the_options_and_the_source_of_the_command(tmp_path: Path) -> None:
    write_machine(tmp_path)
    write_recording(tmp_path / "night", recording_table(40, steps={"latency": [(20, 2.0)]}))
    words = ["study", "variation", "p.goal", "-m", "machine.toml", "--allow-outside", "--recording", "night"]
    made = run_command([*words, "--runs", "3", "-o", "out", "--array", "slurm", "--tasks", "2"], tmp_path)
    assert made.status == 0, made.complained
    assert (
        "--machine machine.toml --allow-outside --recording night --runs 3 p.goal"
        in (tmp_path / "out/array.sh").read_text()
    )
    for task in (0, 1):
        assert run_command([*words, "--runs", "3", "-o", "out", "--share", f"{task}/2"], tmp_path).status == 0
    collected = run_command(["study", "collect", str(tmp_path / "out"), "--json"], Path("/"))
    assert collected.status == 0, collected.complained
    assert len(json.loads(collected.printed)["rows"]) == 3


def test_more_ranks_are_said_to_lose_more_only_if_the_intervals_are_apart() -> None:
    rows = [(ranks, n, 100 + loss + n % 2 * 2) for ranks, loss in ((2, 10), (8, 30), (16, 30)) for n in range(20)]
    table = pd.DataFrame(rows, columns=["ranks", "offset_ps", "finish_ps"])
    table = table.assign(schedule="p", machine="m", seed=0, constant_ps=100, slowdown=table["finish_ps"] / 100 - 1)
    said = [dict(variation_page(table[table["ranks"].isin(both)]).findings) for both in ((2, 8), (8, 16))]
    assert plain(said[0]["scale"]) == "8 ranks lose more than 2: 31 % instead of 11 %."
    assert "scale" not in said[1]


def test_one_run_has_no_interval_and_a_few_do_not_say_which_ranks_lose_more() -> None:
    rows = [(ranks, n, 100 + loss) for ranks, loss in ((4, 10), (8, 30)) for n in range(4)]
    table = pd.DataFrame(rows, columns=["ranks", "offset_ps", "finish_ps"])
    table = table.assign(schedule="p", machine="m", seed=0, constant_ps=100, slowdown=table["finish_ps"] / 100 - 1)
    assert "scale" not in dict(variation_page(table).findings)
    page = variation_page(table[table["offset_ps"] == 0])
    assert [plain(text) for _, text in page.findings] == ["10 % longer in one run.", "30 % longer in one run."]
    assert [row[4:6] for row in page.tables[0].rows] == [("–", "–")] * 2


def test_the_command_needs_a_variation(tmp_path: Path) -> None:
    write_machine(tmp_path)
    made = run_command(["study", "variation", "p.goal", "-m", "odin"], tmp_path)
    assert made.status == 2
    assert "expected --recording" in made.complained


def test_a_recordings_variation_is_that_of_its_table(tmp_path: Path) -> None:
    folder = write_recording(tmp_path / "night", recording_table(40, steps={"latency": [(20, 2.0)]}))
    found = recorded_variation(folder, MACHINE)
    assert found == variation_from_recording(read_overtime(folder).table, MACHINE, recorded="night")
    assert found.L.max() > 1.5 * found.L.min()
