"""Programs are run, their traces simulated, and the times compared."""

from __future__ import annotations

import math
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run
from idlewave import mpi
from idlewave.errors import Deadlock, InputError
from idlewave.trace import Trace
from idlewave.validation import COLUMNS, Network, Program, Suite, page_of, read_suite, steps, validate
from idlewave.validation.comparison import Pair, row_of_runs
from idlewave.validation.loops import simulated_ps
from idlewave.validation.rows import repeat_error, table_of
from idlewave.validation.runs import run_program
from idlewave.validation.speeds import machines_at_speeds
from places import PROGRAMS
from tracer_support import compiled, open_mpi
from validation_rows import row


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program on two networks, and one that is not there."""
    folder = tmp_path_factory.mktemp("suite")
    found = open_mpi()
    program = mpi.build_example(found, "halo2d", folder / "halo2d")
    networks = "".join(
        f'[[network]]\nname = "{name}"\nmachine = "{machine}"\nlaunch = ["{found.mpiexec}"]\n'
        for name, machine in (("near", "odin"), ("far", "ethernet.toml"))
    )
    slow = idlewave.Machine.preset("odin").to_toml().replace('"5.3us"', '"5ms"', 1)
    (folder / "ethernet.toml").write_text(slow)
    programs = f'[[program]]\nname = "halo2d"\ncommand = ["{program}", "8", "3", "1"]\n'
    (folder / "suite.toml").write_text(networks + programs)
    (folder / "broken.toml").write_text(networks + programs + '[[program]]\nname = "none"\ncommand = ["./nothing"]\n')
    return folder


def test_each_program_runs_on_each_network_and_is_simulated_on_each(suite: Path, tmp_path: Path) -> None:
    table = validate(read_suite(suite / "suite.toml"), tmp_path, runs=2)
    assert list(table.columns) == list(COLUMNS)
    assert list(zip(table.traced_on, table.simulated_on, strict=True)) == [
        ("near", "near"),
        ("near", "far"),
        ("far", "near"),
        ("far", "far"),
    ]
    assert (table.measured_least_s <= table.measured_s).all()
    assert (table.measured_s <= table.measured_most_s).all()
    assert table.error.tolist() == pytest.approx((table.simulated_s / table.measured_s - 1).tolist())
    far = table[table.simulated_on == "far"].simulated_s.min()
    assert far > 3 * 5e-3, "three exchanges over a network with a latency of 5 ms"
    assert far > table[table.simulated_on == "near"].simulated_s.max()
    assert len(list(tmp_path.glob("halo2d-*-*/rank-*"))) == 2 * 2 * 2, "the traces of two runs on two networks"


@pytest.mark.long
def test_copies_predict_more_ranks_and_the_machine_alone_predicts_loops(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one of two networks, and with all runs, whatever else the machine does."""
    monkeypatch.setattr(Trace, "share_without_core", 0.0)
    text = (suite / "suite.toml").read_text()
    one = text.replace('"halo2d"\n', '"one"\nranks = 1\nnetworks = ["near"]\n')
    two = text[text.index("[[program]]") :].replace('"halo2d"\n', '"two"\nnetworks = ["near"]\ncopies_of = "one"\n')
    loops = '[loops]\nnames = ["allreduce", "latency"]\nseconds = 0.2\nmax_size = 16\nnetworks = ["near"]\n'
    (tmp_path / "suite.toml").write_text((one + two + loops).replace("ethernet.toml", "odin"))
    told: list[str] = []
    chosen = read_suite(tmp_path / "suite.toml")
    table = validate(chosen, tmp_path / "traces", runs=2, on_run=told.append)
    assert len(told) == steps(chosen, 2)
    turns = [step.split(" of ")[0] for step in told if "run" in step and step.startswith(("two on", "one beside"))]
    larger, copies = "two on near", "one beside itself on near"
    assert turns == [f"{what}, run {run}" for run in (1, 2) for what in (larger, copies)], "a busy minute meets both"
    programs = table[table.traced_on != ""]
    assert list(zip(programs.program, programs.ranks, programs.traced_ranks, strict=True)) == [
        ("one", 1, 1),
        ("two", 2, 2),
        ("two", 2, 1),
        ("one", 1, 2),
    ]
    of_two, of_one = programs.iloc[1], programs.iloc[3]
    assert of_one.simulated_s == of_two.measured_computation_s, "what a rank of two computes"
    assert of_one.calls == programs.iloc[0].calls
    assert math.isnan(of_one.simulated_computation_s)
    assert programs.iloc[3].measured_s > 0
    rows = table[table.traced_on == ""].set_index(["program", "size"])
    assert list(rows.index) == [(name, size) for name in ("allreduce", "latency") for size in (1, 4, 16)][1:]
    assert (rows.runs == 2).all()
    assert (rows.measured_s > 0).all()
    assert rows.simulated_s["latency", 4] == simulated_ps(idlewave.Machine.named("odin"), 2, "latency", 4) / 1e12


def test_a_trace_that_cannot_end_on_another_network_is_said_and_the_others_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages that meet head-on are eager where they ran. Where each waits for its receiver, none arrives."""
    monkeypatch.setattr(Trace, "share_without_core", 0.0)
    (tmp_path / "waits.toml").write_text(idlewave.Machine.preset("odin").to_toml().replace('S = "inf"', "S = 0", 1))
    launch = (str(open_mpi().mpiexec),)
    networks = (Network("eager", ("odin",), launch), Network("waits", (str(tmp_path / "waits.toml"),), launch))
    program = Program("head-on", (str(compiled(open_mpi().mpicc, PROGRAMS / "head_on.c")),))
    runs = {name: [run_program(program, networks[0], (), tmp_path / name, None)] for name in ("first", "second")}
    table = table_of(
        [
            row_of_runs(program, Pair(("eager", network.name), *runs.values()), machines_at_speeds(network.machines))
            for network in networks
        ]
    )
    assert table.doubt.tolist() == [
        "",
        "on waits 1 of 1 trace cannot end: deadlock: 2 ops wait for each other in a cycle",
    ]
    assert (table.measured_s > 0).all(), "what was measured stays"
    assert table.simulated_s[0] > 0
    assert table.loc[1, ["simulated_s", "error"]].isna().all()
    page = page_of(table, "Head-on")
    assert "| none | not to be compared |" in page
    assert "Replayed on the machine where they were traced: the median error of 1 comparison" in page
    with pytest.raises(Deadlock):
        validate(Suite(networks[1:], (program,)), tmp_path / "own", runs=1)


def test_the_computation_of_a_row_is_that_of_the_runs_and_of_the_traces(suite: Path, tmp_path: Path) -> None:
    table = validate(read_suite(suite / "suite.toml"), tmp_path, runs=1)
    computation = {
        network: Trace.load(tmp_path / f"halo2d-{network}-1").computations().groupby("rank")["ns"].sum().mean() / 1e9
        for network in ("near", "far")
    }
    assert table.measured_computation_s.tolist() == pytest.approx([computation[n] for n in table.simulated_on])
    assert table.simulated_computation_s.tolist() == pytest.approx([computation[n] for n in table.traced_on])
    assert table.repeat_error.isna().all(), "a single run is near to no other one"


def test_how_far_a_run_is_from_the_others() -> None:
    """Of three, from the mean of the other two: 1 from 1.75, 1.5 from 1.5, 2 from 1.25."""
    assert repeat_error([1, 1.5, 2]) == pytest.approx(0.75 / 1.75)
    assert repeat_error([2, 2, 2, 9]) == 0
    assert math.isnan(repeat_error([1]))


def test_an_error_that_the_computation_explains_is_not_one_of_the_communication() -> None:
    explained = row(simulated_on="b", error=0.25, measured_computation_s=1.0, simulated_computation_s=1.48)
    page = page_of(pd.DataFrame([explained]), "Title")
    assert "is 25 %, and nine of ten are within 25 %. Without what the computation differs by, that is 1.0 %" in page
    assert "| +25 % | +24 % | 2.0 % |" in page
    replayed = page_of(pd.DataFrame([row()]), "Title")
    assert "Without what the computation" not in replayed
    runs = "half are within 2.0 % of the median of the other runs, nine of ten within 2.0 %."
    assert f"The runs themselves, in the median of each program and network: {runs}" in replayed
    assert "each loop" not in replayed
    loop = row(program="latency", size=1, traced_on="", repeat_error=0.05)
    assert "in the median of each loop and size: half are within 5.0 %" in page_of(pd.DataFrame([loop]), "Title")


def test_a_loop_takes_the_time_that_the_machine_gives_it() -> None:
    quick, slow = (
        idlewave.Machine.preset("odin").to_toml().replace('"5.3us"', latency, 1) for latency in ('"1us"', '"2us"')
    )
    machines = [idlewave.Machine.from_toml(text) for text in (quick, slow)]
    there_and_back = [simulated_ps(machine, 2, "latency", 1) for machine in machines]
    assert there_and_back[1] - there_and_back[0] == pytest.approx(2e6)


def test_the_page_says_how_far_replays_and_other_networks_are_off() -> None:
    rows = [row(program=f"p{i}", error=0.01 * i) for i in range(1, 11)]
    rows += [row(simulated_on="b", error=-0.2), row(program="late", error=3.0, doubt="2 ranks shared cores")]
    rows += [
        row(traced_ranks=1, error=-0.3, round_trip_ratio=float("nan")),
        row(program="latency", size=1, traced_on="", error=0.04),
    ]
    rows += [row(program="latency", size=1, traced_on="", error=0.02, machine_round_trip_ns=365.0)]
    rows += [row(ranks=1, error=0.06)]
    page = page_of(pd.DataFrame(rows), "Title")
    beside = "one rank beside copies of itself, by what a rank of the larger program computes"
    assert f"{beside}: the median error of 1 comparison is 6.0 %" in page
    assert "| p | 1 | 12,345 | a, 2 ranks | a |" in page
    assert page.startswith("# Title\n")
    assert "traced: the median error of 10 comparisons is 5.5 %, and nine of ten are within 9.0 %" in page
    assert "another network than the traced one: the median error of 1 comparison is 20 %" in page
    assert "more ranks by copies of a trace: the median error of 1 comparison is 30 %" in page
    assert "| p | 2 | 12,345 | a, 1 rank | a |" in page
    assert "from the machine alone: the median error of 2 comparisons is 3.0 %" in page
    assert "Loops on a where a byte takes 365 ns there and back: the median error of 1 comparison is 2.0 %" in page
    assert "50 % of the samples were taken at this speed." in page
    assert "| loop on a | ranks |" in page
    assert "| latency, 1 B | 2 | 2 s (1.5 s to 2.5 s) | 1 s | +4.0 % | 50 % |" in page
    assert "| p1 | 2 | 12,345 | a | a | 2 s (1.5 s to 2.5 s) |" in page
    assert "| × 1.04 (0.97 to 2.00) |" in page
    assert "| not known |" in page
    assert "not to be compared" in page
    assert "- late, traced on a: 2 ranks shared cores." in page


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", r"suite.toml: network: expected"),
        ('[[network]]\nname = "a"\nmachine = "odin"\n', "program"),
        (
            '[[network]]\nname = "a"\nmachine = "odin"\n[[program]]\nname = "x"\ncommand = ["x"]\nranks = 0\n',
            r"program\[0\].ranks: expected",
        ),
        (
            '[[network]]\nname = "a"\nmachine = "odin"\n[[program]]\nname = "x"\ncommand = []\n',
            r"program\[0\].command: expected",
        ),
        ('[[network]]\nname = "a"\nmachine = "odin"\n[loops]\nnames = ["x"]\n', "expected some of latency, bandwidth"),
        (
            '[[network]]\nname = "a"\nmachine = "odin"\n[[program]]\nname = "x"\ncommand = ["x"]\nnetworks = ["b"]\n',
            "networks: expected some of a, found 'b'",
        ),
        (
            '[[network]]\nname = "a"\nmachine = "odin"\n[[program]]\nname = "x"\ncommand = ["x"]\ncopies_of = "y"\n',
            "copies_of: expected the name of a program before x",
        ),
        (
            2 * '[[network]]\nname = "a"\nmachine = "odin"\n' + '[[program]]\nname = "x"\ncommand = ["x"]\n',
            "network: expected different names, found a twice",
        ),
    ],
)
def test_a_suite_that_is_none_is_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(text)
    with pytest.raises(InputError, match=why):
        read_suite(tmp_path / "suite.toml")


def test_the_command_writes_a_table_and_a_page_and_keeps_what_was_finished(suite: Path, tmp_path: Path) -> None:
    done = run("validate", str(suite / "suite.toml"), "--runs", "1", "-o", str(tmp_path / "done"))
    assert done.returncode == 0, done.stderr
    assert len(pd.read_csv(tmp_path / "done/validation.csv")) == 4
    assert (tmp_path / "done/validation.md").read_text() in done.stdout
    assert (tmp_path / "done/validation.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "done/loops.png").exists(), "the suite has none"
    broken = run("validate", str(suite / "broken.toml"), "--runs", "1", "-o", str(tmp_path / "broken"))
    assert broken.returncode == 1
    assert "'./nothing' was not found" in broken.stderr
    assert len(pd.read_csv(tmp_path / "broken/unfinished-validation.csv")) == 4
    assert not (tmp_path / "broken/validation.csv").exists()


def test_a_program_without_a_network_or_with_two_is_refused(tmp_path: Path) -> None:
    neither = run("validate")
    assert neither.returncode == 2
    assert "expected a SUITE.toml, or --machine" in neither.stderr
    network = Network("a", ("no such machine",), ("mpiexec",))
    with pytest.raises(InputError):
        validate(Suite((network,), (Program("x", ("./x",)),)), tmp_path, runs=1)


def test_runs_without_their_cores_are_left_out_and_if_none_had_them_that_is_said(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of two runs on the near network, and all on the far one."""
    taken = {"halo2d-near-1": 0.03, "halo2d-far-1": 0.5, "halo2d-far-2": 0.021}
    monkeypatch.setattr(Trace, "share_without_core", property(lambda trace: taken.get(trace.directory.name, 0.01)))
    table = validate(read_suite(suite / "suite.toml"), tmp_path, runs=2).set_index(["traced_on", "simulated_on"])
    near = table.loc["near", "near"]
    assert (near.runs, near.left_out, near.doubt) == (1, 1, "")
    assert near.measured_s == Trace.load(tmp_path / "halo2d-near-2").measured_s
    for pair in (("far", "far"), ("near", "far"), ("far", "near")):
        row = table.loc[pair]
        assert (row.runs, row.left_out) == (2, 0)
        assert "in each run ranks waited for a core for more than" in row.doubt
    page = page_of(table.reset_index(), "Title")
    assert "Something else had the cores of 1 run, left out here, of halo2d on near." in page
    assert page.count("not to be compared") == 3
