"""`idlewave study ft` at small scale: its rows are what the simulator says, and its sentences are true of the rows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, Schedule, memory_needs
from idlewave.errors import MpiError, UsageError
from idlewave.formatting import plain
from idlewave.ft_pattern import EXCHANGES, FtCosts, ft_bytes, ft_computation_ns, ft_iterations_job, ft_job, ft_shape
from idlewave.report import ft_findings
from idlewave.studies.case_runner import Running
from idlewave.studies.ft import measured
from idlewave.studies.ft.losses import loss_of
from idlewave.studies.ft.rows import schedule_of, simulated_row
from idlewave.studies.ft.settings import PRESET, PRESET_COSTS, Case, Setting, cases, with_links
from idlewave.studies.ft.study import FtStudy, Plan, ft_study, ft_tables, loss_memory
from idlewave.studies.ft.transfers import beside_published, flood_bandwidth
from idlewave.timeline import SPANS

COSTS = FtCosts(3, 4, 5, 6)
FREE = Machine.from_toml('name = "free"\n[network]\nL = "0ns"\no = "0ns"\ng = "0ns"\nG = "0ns"\nO = "0ns"\nS = "inf"\n')
SMALL = Plan(problem="S", ranks=(4, 16), links=(1, 6))


def preset(*links: int) -> Setting:
    return Setting(Machine.preset(PRESET), PRESET_COSTS, links or (1,))


def finish_s(exchange: str, iterations: int) -> float:
    job = ft_job(ft_shape("S", 16), exchange, iterations, COSTS)
    return idlewave.simulate(Schedule.compose([job]), PRESET).max_finish / 1e12


@pytest.mark.parametrize("exchange", ["put", "packed-put"])
def test_an_iteration_by_itself_is_what_one_more_iteration_takes_where_barriers_end_exchanges(exchange: str) -> None:
    row = simulated_row(Case(Setting(Machine.preset(PRESET), COSTS), "S", 16, exchange, 1))
    assert row["seconds"] == pytest.approx(finish_s(exchange, 2) - finish_s(exchange, 1), rel=0.01)
    assert row["seconds"] == pytest.approx(finish_s(exchange, 6) - finish_s(exchange, 5), rel=0.01)


@pytest.mark.parametrize("exchange", ["alltoall", "two-sided", "ialltoall"])
def test_one_more_iteration_takes_up_to_a_sixth_longer_where_ranks_drift_apart(exchange: str) -> None:
    row = simulated_row(Case(Setting(Machine.preset(PRESET), COSTS), "S", 16, exchange, 1))
    assert 1.05 < (finish_s(exchange, 6) - finish_s(exchange, 5)) / row["seconds"] < 1.17


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_without_a_network_an_iteration_takes_what_a_rank_computes(exchange: str) -> None:
    job = ft_iterations_job(ft_shape("S", 16), exchange, COSTS)
    timeline = idlewave.simulate(Schedule.compose([job]), FREE)
    assert timeline.max_finish == 1000 * ft_computation_ns(job)


@pytest.mark.parametrize(("problem", "ranks"), [("S", 4), ("S", 16), ("W", 8)])
def test_the_bytes_are_those_that_puts_carry(problem: str, ranks: int) -> None:
    shape = ft_shape(problem, ranks)
    job = ft_iterations_job(shape, "put", COSTS)
    sent = idlewave.simulate(Schedule.compose([job]), PRESET, record=True).ops_to_pandas()
    assert sent.loc[sent["kind"] == "put", "size"].sum() == ranks * ft_bytes(shape)


def test_what_is_not_hidden_is_the_time_beyond_the_computation() -> None:
    for exchange in EXCHANGES:
        row = simulated_row(Case(preset(), "S", 16, exchange, 1))
        assert row["exposed_s"] == pytest.approx(row["seconds"] - row["computation_s"])
        assert row["hidden"] == pytest.approx(1 - row["exposed_s"] / row["communication_s"], abs=1e-8)
        assert (row["iterations"], row["ty"] * row["tz"]) == (1, 16)


def test_nothing_is_hidden_where_all_is_computed_first() -> None:
    for exchange in ("alltoall", "packed-put"):
        assert simulated_row(Case(preset(), "S", 16, exchange, 1))["hidden"] == pytest.approx(0, abs=0.01)
    assert simulated_row(Case(preset(), "S", 16, "put", 1))["hidden"] > 0.05


def bound_of_puts_s(case: Case) -> float:
    """A closed form of an iteration by puts without latencies and barriers, s. A rank computes the next slab once its
    CPU has handed the puts of one to the NIC. So either the CPU works all the time, and the NIC transmits the puts of
    the last slab thereafter; or the NIC transmits all the time from the first slab on."""
    total = 0.0
    for operation in ft_iterations_job(ft_shape(case.problem, case.ranks), "put", case.setting.costs).operations:
        if operation.name == "compute":
            total += operation.options.compute_ns * 1e3
        if operation.name != "slabs_put":
            continue
        assert case.machine.one_sided is not None
        p = case.machine.one_sided.at(operation.bytes)
        others, further = operation.members(case.ranks) - 1, max(operation.bytes - 1, 0)
        slabs, computing = operation.options.blocks, operation.options.compute_ns * 1e3
        by_cpu, by_nic = others * (p.o_s + further * p.O_s), others * (p.g + further * p.G)
        total += max(slabs * computing + (slabs - 1) * by_cpu + max(by_cpu, by_nic), computing + slabs * by_nic)
    return total / 1e12


@pytest.mark.parametrize("computing", [0.01, 1, 10])
@pytest.mark.parametrize(("problem", "ranks", "links"), [("S", 2, 1), ("W", 2, 6), ("W", 16, 1), ("A", 16, 6)])
def test_puts_go_beside_the_computation_as_far_as_cpu_and_nic_allow(
    problem: str, ranks: int, links: int, computing: float
) -> None:
    costs = FtCosts(computing, computing, computing, computing)
    case = Case(Setting(Machine.preset(PRESET), costs), problem, ranks, "put", links)
    row = simulated_row(case)
    latencies_and_barriers = 40e-6
    assert bound_of_puts_s(case) < row["seconds"] < 1.002 * bound_of_puts_s(case) + latencies_and_barriers
    one_after_the_other = row["computation_s"] + row["communication_s"]
    assert computing < 1 or ranks == 2 or row["seconds"] < one_after_the_other - latencies_and_barriers


def test_more_iterations_have_the_mean_time_of_one() -> None:
    one, three = (simulated_row(Case(preset(), "S", 16, "put", 1, n)) for n in (1, 3))
    assert three["seconds"] == pytest.approx(one["seconds"], rel=0.01)
    assert three["computation_s"] == pytest.approx(one["computation_s"])
    assert three["messages"] == one["messages"]
    lost = loss_of(Case(preset(), "S", 16, "two-sided", 1, 3))
    assert sum(lost[f"{name}_s"] for name in SPANS) == pytest.approx(lost["seconds"])


def test_links_divide_the_time_of_a_byte_and_leave_that_of_a_message() -> None:
    one = Machine.preset(PRESET)
    six = with_links(one, 6)
    six_times = 6 * six.network.parameters.G
    assert six_times == pytest.approx(one.network.parameters.G)
    assert six.one_sided is not None
    assert one.one_sided is not None
    six_times = 6 * six.one_sided.parameters.G
    assert six_times == pytest.approx(one.one_sided.parameters.G)
    assert replace(six.network.parameters, G=0) == replace(one.network.parameters, G=0)
    assert with_links(one, 1) is one
    with pytest.raises(UsageError, match="expected at least 1 link, found 0"):
        with_links(one, 0)


def test_short_transfers_gain_less_by_links_than_long_ones() -> None:
    machine = Machine.preset(PRESET)

    def gain(size: int) -> float:
        one, six = (flood_bandwidth(machine, size, links, one_sided=True) for links in (1, 6))
        return six / one

    assert gain(512) < 2 < 5.9 < gain(2 << 20) <= 6


def test_the_preset_does_what_was_published_of_transfers() -> None:
    rows = beside_published(Machine.preset(PRESET), 6)
    assert all(row.holds for row in rows)
    machine = Machine.preset(PRESET)
    assert machine.one_sided is not None
    level = replace(machine.one_sided, parameters=replace(machine.one_sided.parameters, o_s=4_000_000))
    slow = replace(machine, one_sided=level)
    assert not all(row.holds for row in beside_published(slow, 6))


@pytest.mark.parametrize("exchange", ["two-sided", "put"])
def test_the_critical_path_divides_the_time(exchange: str) -> None:
    row = loss_of(Case(preset(), "S", 16, exchange, 1))
    assert sum(float(str(row[f"{name}_s"])) for name in SPANS) == pytest.approx(row["seconds"])
    assert row["computation_s"] <= row["seconds"]
    assert (float(str(row["control_steps"])) > 0) == (exchange == "two-sided")


def test_all_links_are_simulated_on_the_fewest_ranks_alone() -> None:
    found = [(case.ranks, case.links) for case in cases([preset(1, 2, 6)], "S", [16, 4], ["put"])]
    assert found == [(4, 1), (4, 2), (4, 6), (16, 6)]


def test_a_study_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = ft_study(SMALL, tmp_path / "whole")
    done: list[tuple[str, int] | tuple[str, int, int]] = []

    class InterruptError(Exception):
        """Of the user."""

    def interrupt(what: str, number: int, _total: int) -> None:
        if number == 3:
            raise InterruptError(what)

    with pytest.raises(InterruptError):
        ft_study(SMALL, tmp_path / "again", interrupt, Running(workers=1))
    again = ft_study(SMALL, tmp_path / "again", lambda what, number, _: done.append((what, number)))
    first = dict(reversed(done))
    assert 3 <= first["simulations"] <= 4, "what had begun was finished"
    assert first["critical paths"] == 0
    for found, expected in ((again.rows, whole.rows), (again.losses, whole.losses)):
        without = [table.drop(columns="simulation_s") for table in (found, expected)]
        pd.testing.assert_frame_equal(*without, check_exact=True)
    done.clear()
    assert ft_study(SMALL, tmp_path / "again", lambda *now: done.append(now)).rows.equals(again.rows)
    assert all(number == total for _, number, total in done)


def test_other_costs_and_machines_are_other_rows(tmp_path: Path) -> None:
    plan = replace(SMALL, ranks=(4,), links=(1,), exchanges=("put",), machine=Machine.preset("odin"))
    first = ft_study(plan, tmp_path)
    second = ft_study(replace(plan, costs=FtCosts(2, 2, 2, 2)), tmp_path)
    done: list[int] = []
    assert ft_study(plan, tmp_path, lambda _, number, total: done.append(total - number)).rows.equals(first.rows)
    assert {*done} == {0}, "nothing was simulated again"
    assert list(first.rows["machine"]) == list(second.rows["machine"]) == ["bluegene-p", "odin"]
    assert second.rows["computation_s"][1] == pytest.approx(2 * first.rows["computation_s"][1], rel=1e-3)


def scale(**seconds: float) -> pd.DataFrame:
    rows = [{"ranks": 64, "exchange": name, "seconds": value} for name, value in seconds.items()]
    return pd.DataFrame(rows)


def test_the_fastest_is_named_and_equals_are_named_together() -> None:
    assert ft_findings.fastest(scale(put=1.0, alltoall=1.1)) == "Fastest: put at 64 ranks."
    assert ft_findings.fastest(scale(put=1.0001, alltoall=1.0)) == "Fastest: put and alltoall at 64 ranks."


def compared(*rows: tuple[str, float, float, float, float]) -> pd.DataFrame:
    """Of one class: exchange, predicted, and the least, median and greatest measured time."""
    return pd.DataFrame(
        [
            {
                "problem": "S", "ranks": 2, "exchange": name, "predicted_s": predicted, "least_s": least,
                "measured_s": median, "most_s": most, "exchange_s": median / 4, "computation_s": median / 2,
                "error": predicted / median - 1,
            }
            for name, predicted, least, median, most in rows
        ]
    )  # fmt: skip


def test_only_exchanges_that_are_apart_are_compared() -> None:
    near = compared(("put", 1.0, 0.9, 1.0, 1.2), ("two-sided", 0.9, 1.1, 1.2, 1.3))
    assert measured.disagreements(near) == (0, [])
    right = compared(("put", 1.0, 0.9, 1.0, 1.1), ("two-sided", 1.2, 1.2, 1.3, 1.4))
    assert measured.disagreements(right) == (1, [])
    apart, wrong = measured.disagreements(compared(("put", 1.0, 0.9, 1.0, 1.1), ("two-sided", 0.9, 1.2, 1.3, 1.4)))
    assert apart == 1
    assert [(item.faster, item.slower) for item in wrong] == [("put", "two-sided")]
    assert (wrong[0].measured, wrong[0].predicted) == (pytest.approx(0.3), pytest.approx(-0.1))
    assert wrong[0].more_exchange_s == pytest.approx(0.3 / 4)


def test_the_report_says_where_the_simulation_orders_otherwise() -> None:
    table = compared(("put", 1.0, 0.9, 1.0, 1.1), ("two-sided", 0.9, 1.2, 1.3, 1.4))
    empty = pd.DataFrame()
    runs = pd.DataFrame({"load": [1.0], "ranks": [2]})
    said = plain(" ".join(ft_findings.measured(FtStudy([], empty, empty, table, runs))))
    assert "1 pair differ" in said
    assert "0 of them in the same order" in said
    assert "two-sided took 30 % longer than put, predicted -10 %" in said
    assert "wanted to run" not in said
    busy = runs.assign(load=9.0)
    assert "9.0 processes wanted to run" in " ".join(ft_findings.measured(FtStudy([], empty, empty, table, busy)))


def test_the_exchanges_alternate_and_only_missing_runs_are_made() -> None:
    wanted = measured.runs_to_make([("S", 2, "put", 0)], ["S"], [2], ["alltoall", "put"], 2)
    assert wanted == [("S", 2, "alltoall", 0), ("S", 2, "alltoall", 1), ("S", 2, "put", 1)]


def test_costs_are_those_that_make_the_phases() -> None:
    points = 64**3 / 2
    phases = {"FFT x": 7 * points * 6 * 1e-9, "FFT y": 7 * points * 6 * 2e-9, "FFT z": 7 * points * 6 * 3e-9}
    row = {"problem": "S", "ranks": 2, "exchange": "alltoall", "evolve": 6 * points * 4e-9, **phases}
    found = measured.costs_of(pd.DataFrame([row]), "S", 2)
    assert (found.x, found.y, found.z, found.evolution) == pytest.approx((1, 2, 3, 4))


def test_the_command_writes_a_report_and_does_not_simulate_again(tmp_path: Path) -> None:
    words = ["study", "ft", "--problem", "S", "--ranks", "4,16", "--links", "1,6", "-o", "out", "--json"]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    said = json.loads(first.printed)
    assert {row["exchange"] for row in said["rows"]} == {*EXCHANGES}
    assert [row["exchange"] for row in said["losses"]] == ["two-sided", "put"]
    page = (tmp_path / "out" / "report.html").read_text()
    for name in ("ft-time", "ft-hidden", "ft-links"):
        assert f'id="figure-{name}"' in page
        assert (tmp_path / "out" / "figures" / f"{name}.png").stat().st_size > 1000
    assert "figure-ft-measured" not in page
    assert json.loads(run_command(words, tmp_path).printed)["rows"] == said["rows"]


@pytest.mark.long
def test_the_tasks_of_an_array_compute_both_tables_which_are_collected(tmp_path: Path) -> None:
    words = ["study", "ft", "--problem", "S", "--ranks", "4", "--links", "1", "--exchanges", "put,two-sided"]
    made = run_command([*words, "-o", "out", "--array", "slurm", "--tasks", "3"], tmp_path)
    assert made.status == 0, made.complained
    assert "4 cases in 3 tasks" in made.printed
    for task in (0, 1, 2):
        if task == 1:
            early = run_command(["study", "collect", "out"], tmp_path)
            assert "2 of 4 rows are not there, of these tasks: 1 (2)" in early.complained
        assert run_command([*words, "-o", "out", "--share", f"{task}/3"], tmp_path).status == 0
    collected = run_command(["study", "collect", "out", "--json"], tmp_path)
    assert collected.status == 0, collected.complained
    whole = run_command([*words, "-o", "whole", "--json"], tmp_path)
    for name in ("rows", "losses"):
        tables = [pd.DataFrame(json.loads(ended.printed)[name]) for ended in (collected, whole)]
        pd.testing.assert_frame_equal(*(table.drop(columns="simulation_s") for table in tables))
    assert (tmp_path / "out/report.html").is_file()


def test_what_a_recording_needs_at_least_is_no_more_than_its_rows() -> None:
    for case in ft_tables(SMALL)[1].cases:
        ops = len(idlewave.simulate(schedule_of(case.case), case.case.machine, record=True).columns["rank"])
        assert 0 < loss_memory(case) <= memory_needs.recorded(case.ranks, ops, 1 << 40)


@pytest.mark.mpi
def test_the_program_runs_here_and_is_compared_with_what_is_predicted(tmp_path: Path) -> None:
    try:
        measured.Program.built()
    except MpiError as error:
        pytest.skip(str(error))
    words = ["study", "ft", "-m", "odin", "--problem", "S", "--ranks", "4", "--links", "1", "--exchanges", "put"]
    more = ["--measure", "--measured-classes", "S", "--runs", "2", "-o", "out", "--json"]
    done = run_command([*words, *more], tmp_path)
    assert done.status == 0, done.complained
    compared = json.loads(done.printed)["compared"]
    assert [(row["problem"], row["ranks"], row["runs"]) for row in compared] == [("S", 2, 2)] * 2
    assert {row["exchange"] for row in compared} == {"put", "alltoall"}
    assert all(row["predicted_s"] > 0 and row["least_s"] <= row["measured_s"] <= row["most_s"] for row in compared)
    assert 'id="figure-ft-measured"' in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--ranks", "0"], "expected different numbers of ranks from 1 on, such as 1,4, found '0'"),
        (["--links", "7"], "expected up to 6 links, found 7"),
        (["--exchanges", "put,get"], "expected exchanges of alltoall, packed-put"),
        (["--compute-ns", "1"], "expected the ns of transforms and of the evolution"),
        (["--measure"], "--measure compares with the measured machine: expected --machine"),
        (["--measure", "--share", "0/2"], "--measure runs FT here, and an array of jobs elsewhere"),
        (["--problem", "S", "--ranks", "7"], "class S of FT cannot be shared by 7 ranks"),
    ],
)
def test_what_is_no_study_is_refused(tmp_path: Path, words: list[str], reason: str) -> None:
    done = run_command(["study", "ft", *words, "-o", "out"], tmp_path)
    assert done.status != 0
    assert reason in done.complained


def test_a_table_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    pd.DataFrame({"ranks": [1]}).to_parquet(tmp_path / "out" / "study.parquet")
    done = run_command(["study", "ft", "--problem", "S", "--ranks", "4", "-o", "out"], tmp_path)
    assert done.status != 0
    assert "study.parquet: expected a table of `idlewave study ft`" in done.complained
    assert list(pd.read_parquet(tmp_path / "out" / "study.parquet").columns) == ["ranks"], "it is unchanged"


def test_the_preset_as_the_measured_machine_is_simulated_once(tmp_path: Path) -> None:
    twice = replace(SMALL, machine=Machine.preset(PRESET), costs=PRESET_COSTS, ranks=(4,), exchanges=("put",))
    assert len(ft_study(twice, tmp_path).rows) == 2


def test_a_file_called_ft_is_a_schedule(tmp_path: Path) -> None:
    (tmp_path / "ft").write_text("num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 8b from 0\n}\n")
    done = run_command(["study", "./ft", "-m", "odin", "-o", "x.csv"], tmp_path)
    assert done.status == 0, done.complained
