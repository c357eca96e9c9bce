"""`idlewave study where`: noise in one kind of work costs what that work meets of it, to the picosecond."""

from __future__ import annotations

from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, Schedule
from idlewave.formatting import plain
from idlewave.jobs import Job, Operation
from idlewave.noise_models import REACHES
from idlewave.pattern_options import PatternOptions
from idlewave.report.line_figures import LINES, MARKS
from idlewave.report.where_page import where_page
from idlewave.studies.programs import ProgramSettings

US, MS = 10**6, 10**9


def machine(**costs: str) -> Machine:
    given = {"L": "5us", "o": "0us", "g": "0us", "G": "0ns", "O": "0ns"} | costs
    text = "\n".join(f'{name} = "{value}"' for name, value in given.items())
    return Machine.from_toml(f'name = "small"\n[network]\n{text}\nS = "inf"\n')


def added(table: pd.DataFrame) -> pd.Series:
    """What noise adds in each kind of work, ps, of a table of one program, number of ranks, noise and seed."""
    quiet = int(table.loc[table["noise"] == "", "finish_ps"].iloc[0])
    return table[table["noise"] != ""].set_index("where")["finish_ps"] - quiet


def computation(ranks: int, milliseconds: int) -> Schedule:
    work = Operation("compute", options=PatternOptions(compute_ns=milliseconds * 10**6))
    return Schedule.compose([Job(ranks, [work])], name="computation")


def test_a_program_that_only_computes_loses_in_computation_alone() -> None:
    """90 ms of work are 100 periods of 1 ms with a detour of 0.1 ms, or 99 where a run begins after one."""
    found = added(idlewave.study.where("odin", programs=[computation(1, 90)], noise=["1000Hz:100us"], seeds=[4]))
    assert {*found.index} == {"all", *REACHES}
    assert found["calc"] == found["all"]
    assert 99 * MS // 10 <= found["all"] <= 100 * MS // 10
    assert (found[["o_s", "o_r", "O", "reduction"]] == 0).all()


def test_a_stream_of_sends_loses_in_their_overheads_alone() -> None:
    """A root that does nothing but 63 sends of o = 1 ms each meets a detour in each: without costs per byte, and with
    overheads of receives that no rank has two of."""
    program = Schedule.pattern("scatter", ranks=64, bytes=1, algorithm="linear")
    found = added(idlewave.study.where(machine(o="900us"), programs=[program], noise=["1000Hz:100us"], seeds=[1]))
    assert (found[["calc", "reduction"]] == 0).all()
    assert found["o_s"] == pytest.approx(63 * MS // 10, abs=MS // 10)
    assert found["o_r"] <= 2 * MS // 10, "one detour, and the rest of one that the message comes in"


def test_work_that_takes_no_time_waits_for_the_end_of_a_detour_that_it_would_begin_in() -> None:
    """O alone: bytes cost a nanosecond, and a message that would begin within a detour of 0.1 ms waits for its end."""
    table = idlewave.study.where(
        "odin", programs=("dissemination",), ranks=(64,), noise=["1000Hz:100us"], seeds=2,
        settings=ProgramSettings(bytes=2),
    )  # fmt: skip
    by = table[table["noise"] != ""].groupby("where")["finish_ps"].mean()
    quiet = table.loc[table["noise"] == "", "finish_ps"].iloc[0]
    assert by["O"] - quiet > 0.7 * (by["all"] - quiet)


def test_reductions_are_a_kind_of_their_own() -> None:
    table = idlewave.study.where(
        "odin", programs=("allreduce",), ranks=(16,), noise=["1000Hz:100us"], seeds=2,
        settings=ProgramSettings(bytes=8000, reduction_cost=10.0),
    )  # fmt: skip
    by = table[table["noise"] != ""].groupby("where")["finish_ps"].mean()
    quiet = table.loc[table["noise"] == "", "finish_ps"].iloc[0]
    assert by["reduction"] > 1.1 * quiet
    assert "calc" not in by, "a collective computes nothing"


def test_the_sentences_say_what_the_rows_say() -> None:
    table = idlewave.study.where("odin", programs=[computation(4, 90)], noise=["1000Hz:100us"], seeds=2)
    said = [plain(text) for _, text in where_page(table).findings]
    assert said[0].startswith(
        "On 4 ranks noise everywhere makes the run 11 % longer. Noise in computation alone causes 100 % of that; in"
    )
    others = "overheads of sends (o_s), overheads of receives (o_r), costs per byte (O) or reductions"
    assert f"; in {others} alone nothing." in said[0]
    assert "In sum" not in said[0]


def test_nothing_is_said_to_be_lost_only_if_it_is_so_in_all_kinds_of_work() -> None:
    rows = [("", "all", 0, 1000), *(("1000Hz:100us", "all", seed, 1000) for seed in (0, 1))]
    table = pd.DataFrame(rows, columns=["noise", "where", "seed", "finish_ps"]).assign(
        program="p", machine="m", ranks=4
    )
    (_, text), *_ = where_page(table).findings
    assert plain(text) == "On 4 ranks nothing was lost in the mean of these 2 seeds."
    more = table[table["noise"] != ""].assign(where="calc", finish_ps=1100)
    assert not where_page(pd.concat([table, more])).findings


def test_options_of_generated_programs_are_refused_beside_ones_own_alone(tmp_path: Path) -> None:
    computation(2, 1).save(tmp_path / "own.goal")
    words = ["study", "where", "own.goal", "--seeds", "2", "-o", "out"]
    for option in (["--bytes", "7"], ["--compute-ns", "9"], ["--iterations", "5"]):
        refused = run_command([*words, *option], tmp_path)
        assert refused.status == 2
        assert f"{option[0]} has no meaning beside it" in refused.complained
    taken = run_command([*words, "--programs", "bcast", "--ranks", "2", "--bytes", "8KiB"], tmp_path)
    assert taken.status == 0, taken.complained


def test_the_command_takes_generated_programs_and_writes_table_and_page(tmp_path: Path) -> None:
    words = ["study", "where", "--programs", "halo1d,bcast", "--ranks", "2,4", "--seeds", "2", "-o", "out"]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "halo1d, detours of 100 µs at 1000 Hz: On 4 ranks noise everywhere" in first.printed
    assert (tmp_path / "out/report.html").exists()
    table = pd.read_parquet(tmp_path / "out/study.parquet")
    kinds = {program: {*own["where"]} for program, own in table.groupby("program")}
    assert kinds == {"halo1d": {"all", "o_s", "o_r", "O", "calc"}, "bcast": {"all", "o_s", "o_r", "O"}}
    assert len(table) == 2 * (1 + 2 * 5 * 2) + 2 * (1 + 2 * 4 * 2)


def test_the_lines_of_a_figure_look_different_without_their_colours() -> None:
    assert len({(MARKS[n % len(MARKS)], LINES[n % len(LINES)]) for n in range(14)}) == 14
