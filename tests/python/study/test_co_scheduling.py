"""`idlewave study co-scheduling`: detours at the same time on all ranks cost what they cost one rank, and no more."""

from __future__ import annotations

import json
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, Noise, Schedule, UsageError
from idlewave.formatting import plain
from idlewave.jobs import Job, Operation
from idlewave.pattern_options import PatternOptions
from idlewave.random_noise import FixedLength, PoissonNoise
from idlewave.report.co_scheduling_page import beside_published, co_scheduling_page
from idlewave.studies.co_scheduling import co_scheduled, co_scheduling_cases, co_scheduling_row
from idlewave.studies.programs import ProgramSettings, generated
from trace_files import write_trace

MS = 10**9
PERIOD, LENGTH = MS, MS // 10
FREE = Machine.from_toml('name = "free"\n[network]\nL = "1ps"\no = "0us"\ng = "0us"\nG = "0ns"\nO = "0ns"\nS = "inf"\n')


def steps(ranks: int, count: int, compute_ns: int) -> Schedule:
    """Computations with a barrier after each."""
    compute = Operation("compute", options=PatternOptions(compute_ns=compute_ns))
    return Schedule.compose([Job(ranks, [compute, Operation("barrier")], repetitions=count)], name="steps")


def study(schedule: Schedule, **more: object) -> pd.DataFrame:
    return idlewave.study.co_scheduling(FREE, programs=[schedule], noise=["1000Hz:100us"], **more)  # type: ignore[arg-type]


def test_ranks_that_detour_together_take_the_detours_of_one_and_nothing_more() -> None:
    """A hundred times 0.9 ms and 100 detours fill 100 periods of 1 ms, whenever in the period a run begins outside of a
    detour, as all of these do; each of the barriers has three rounds of 1 ps."""
    table = study(steps(8, 100, 900_000), together=(1, 8), seeds=8)
    together = table[(table["together"] == 8) & (table["noise"] != "")]["finish_ps"]
    assert (together == 100 * PERIOD + 300).all()


def steps_by_hand(phases: tuple[int, ...], count: int, compute: int) -> int:
    """When the steps end, by the model's rules alone: a CPU stands still in detours, and what begins in one begins at
    its end; in each round of the dissemination a message comes after 1 ps, and takes no CPU time."""

    def free(rank: int, time: int) -> int:
        within = (time + phases[rank]) % PERIOD
        return time + LENGTH - within if within < LENGTH else time

    def computed(rank: int, time: int) -> int:
        now, left = free(rank, time), compute
        while (until := PERIOD - (now + phases[rank]) % PERIOD) < left:
            now, left = now + until + LENGTH, left - until
        return now + left

    times = [0] * len(phases)
    for _ in range(count):
        times = [computed(rank, time) for rank, time in enumerate(times)]
        distance = 1
        while distance < len(phases):
            sent = [free(rank, time) for rank, time in enumerate(times)]
            times = [free(rank, max(time, sent[rank - distance] + 1)) for rank, time in enumerate(sent)]
            distance *= 2
    return max(times)


@pytest.mark.parametrize(("together", "skew_ns"), [(2, 0), (8, 0), (16, 300), (4, 20_000)])
def test_groups_of_ranks_are_simulated_as_by_hand(together: int, skew_ns: int) -> None:
    program = steps(16, 40, 480_000)
    for case in co_scheduling_cases(
        FREE, [program], noise=["1000Hz:100us"], together=[together], skews_ns=[skew_ns], seeds=3
    )[1:]:
        noise = co_scheduled(case).noise
        assert isinstance(noise, Noise)
        assert isinstance(noise.phase, tuple)
        spread = [
            max(noise.phase[i : i + together]) - min(noise.phase[i : i + together]) for i in range(0, 16, together)
        ]
        assert all(width <= 2000 * skew_ns or width > PERIOD - 2000 * skew_ns for width in spread)
        assert co_scheduling_row(case)["finish_ps"] == steps_by_hand(noise.phase, 40, 480 * 10**6)


def test_the_more_ranks_are_together_the_less_is_lost_down_to_the_share_of_detours() -> None:
    table = study(steps(64, 40, 500_000), together=(1, 8, 64), seeds=4)
    by_group = table[table["noise"] != ""].groupby("together")["finish_ps"].mean() / (40 * MS // 2)
    assert by_group[1] > by_group[8] > by_group[64]
    assert by_group[64] == pytest.approx(1 / 0.9, abs=0.01)


def test_a_skew_of_half_a_period_is_no_co_scheduling() -> None:
    table = study(steps(64, 40, 500_000), together=(1, 64), skews_ns=(0, 1000, 500_000), seeds=4)
    noisy = table[table["noise"] != ""]
    by = noisy.groupby(["together", "skew_ns"])["finish_ps"].mean()
    assert by[64, 500_000] == pytest.approx(by[1, 0], rel=0.03)
    said = [plain(text) for _, text in co_scheduling_page(table).findings]
    assert re.search(r"With a skew of 500 µs that is (nothing|[\d.<]+ %)", said[0])
    assert abs(by[64, 1000] - by[64, 0]) < LENGTH + 40 * 2_000_000, "each step waits for two skews at most"


def test_the_published_statement_holds_for_collectives_and_applications() -> None:
    table = idlewave.study.co_scheduling(programs=("allreduce", "cg"), ranks=(64,), seeds=10)
    found = beside_published(table)
    assert [holds for _, _, holds in found] == ["yes"] * 4


def test_what_remains_of_compute_alone_is_all_of_it() -> None:
    """Ranks that never wait for each other lose the same in all cases, but for which of them has the longest."""
    compute = Operation("compute", options=PatternOptions(compute_ns=90_000_000))
    program = Schedule.compose([Job(16, [compute])], name="alone")
    table = study(program, seeds=4)
    assert (table.loc[table["noise"] != "", "finish_ps"] / (90 * MS)).between(1 / 0.9, 1 / 0.9 + 0.0012).all()
    said = [plain(text) for topic, text in co_scheduling_page(table).findings if topic != "published"]
    assert said[0].startswith("On 16 ranks the run is 11 % longer if each rank has detours of its own, 11 % if all")


def made_up(finish: dict[int, list[int]]) -> pd.DataFrame:
    """A table of a program on 4 ranks that takes 1000 ps without noise, and with so many ranks together as here."""
    noisy = [(together, seed, time) for together, times in finish.items() for seed, time in enumerate(times)]
    rows = [("", 1, 0, 1000), *(("1000Hz:100us", *row) for row in noisy)]
    table = pd.DataFrame(rows, columns=["noise", "together", "seed", "finish_ps"])
    return table.assign(program="p", machine="m", ranks=4, skew_ns=0, overhead=0.1)


def test_of_one_seed_there_is_no_interval_and_of_few_no_conclusion() -> None:
    for seeds in (1, 2, 4):
        page = co_scheduling_page(made_up({1: [2000] * seeds, 4: [1100] * seeds}))
        assert [holds for _, _, holds in beside_published(made_up({1: [2000] * seeds, 4: [1100] * seeds}))] == ["–"]
        assert "published" not in dict(page.findings)
    page = co_scheduling_page(made_up({1: [2000], 4: [1100]}))
    assert "100 % (1 seed) longer" in plain(page.findings[0][1])
    assert "takes away 90 % (1 seed) of it" in plain(page.findings[0][1])
    assert [row[7] for row in page.tables[1].rows] == ["–", "–"]
    assert beside_published(made_up({1: [2000] * 5, 4: [1100] * 5}))[0][2] == "yes"


def test_nothing_is_said_to_be_lost_only_if_it_is_so_in_all_variants() -> None:
    said = co_scheduling_page(made_up({1: [1000, 1000], 4: [1000, 1000]})).findings
    assert [plain(text) for _, text in said] == ["On 4 ranks nothing was lost in the mean of these 2 seeds."]
    said = co_scheduling_page(made_up({1: [1000, 1000], 4: [1100, 1100]})).findings
    assert plain(said[0][1]).startswith("On 4 ranks the run is not longer if each rank has detours of its own, 10 % if")


def test_random_detours_come_on_one_rank_or_on_all() -> None:
    machine = Machine.preset("odin").with_noise(PoissonNoise(10**9, FixedLength(10**8)))
    table = idlewave.study.co_scheduling(machine, programs=("allreduce",), ranks=(32,), seeds=2)
    assert {*table.loc[table["noise"] == "own", "together"]} == {1, 32}
    with pytest.raises(UsageError, match="recorded or regular"):
        idlewave.study.co_scheduling(machine, programs=("allreduce",), ranks=(32,), together=(4,))
    with pytest.raises(UsageError, match="it has no skews"):
        idlewave.study.co_scheduling(machine, programs=("allreduce",), ranks=(32,), skews_ns=(0, 100))


def test_noise_of_each_rank_for_itself_is_that_of_any_simulation() -> None:
    settings = ProgramSettings(iterations=2)
    table = idlewave.study.co_scheduling(
        "odin", programs=("cg",), ranks=(8,), noise=["10Hz:5ms"], seeds=[3], together=(1,), settings=settings
    )
    noise = Noise(np.array([0]), np.array([5 * MS]), 100 * MS)
    alone = idlewave.simulate(generated("cg", 8, settings), "odin", noise=noise, seed=3)
    assert table["finish_ps"].iloc[-1] == alone.max_finish


def test_the_command_takes_generated_programs_and_a_schedule_and_continues(tmp_path: Path) -> None:
    Schedule.pattern("allreduce", ranks=4, bytes=8).save(tmp_path / "own.goal")
    words = [
        "study",
        "co-scheduling",
        "own.goal",
        "--programs",
        "halo2d",
        "--ranks",
        "4",
        "--seeds",
        "2",
        "--skews-ns",
        "0,100",
        "-o",
        "out",
    ]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "halo2d, detours of 100 µs at 1000 Hz: On 4 ranks" in first.printed
    assert (tmp_path / "out/report.html").read_text().count("<figure") == 4
    again = run_command([*words, "--json"], tmp_path)
    rows = json.loads(again.printed)["rows"]
    assert len(rows) == 2 * (1 + 2 * 2 * (1 + 2))
    assert [row["simulation_s"] for row in rows] == list(
        pd.read_parquet(tmp_path / "out/study.parquet")["simulation_s"]
    )


def test_a_trace_is_continued_on_more_ranks_in_every_study_of_programs(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace")
    own = Schedule.from_trace(tmp_path / "trace")
    for study in (
        idlewave.study.co_scheduling,
        idlewave.study.network,
        idlewave.study.overlap,
        idlewave.study.sensitivity,
        idlewave.study.where,
    ):
        table = study("odin", programs=[own], ranks=(own.ranks, 4 * own.ranks))
        assert {*table["program"]} == {str(tmp_path / "trace")}
        assert {*table["ranks"]} == {own.ranks, 4 * own.ranks}
        assert (table["finish_ps"] > 0).all() or table["overheads"].eq("free").any()
    words = ["study", "co-scheduling", "trace", "--ranks", f"{2 * own.ranks}", "--seeds", "1", "-a", "allreduce=ring"]
    done = run_command([*words, "-o", "out"], tmp_path)
    assert done.status == 0, done.complained
    assert {*pd.read_parquet(tmp_path / "out/study.parquet")["ranks"]} == {2 * own.ranks}


def test_an_array_of_jobs_has_the_words_of_the_command(tmp_path: Path) -> None:
    Schedule.pattern("bcast", ranks=4).save(tmp_path / "own.goal")
    words = ["study", "co-scheduling", "own.goal", "-m", "odin", "--seeds", "1", "-o", "out"]
    assert run_command([*words, "--array", "slurm", "--tasks", "2"], tmp_path).status == 0
    for share in ("0/2", "1/2"):
        done = run_command([*words, "--share", share], tmp_path)
        assert done.status == 0, done.complained
    collected = run_command(["study", "collect", "out"], tmp_path)
    assert collected.status == 0, collected.complained
    assert len(pd.read_parquet(tmp_path / "out/study.parquet")) == 1 + 2 * 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"programs": ("halo4d",)}, "did you mean 'halo"),
        ({"programs": ()}, "at least one program"),
        ({"noise": ["own"]}, "has no noise of its own"),
        ({"noise": ["altix:same"]}, "the study co-schedules them"),
        ({"noise": ["10Hz:1s"]}, "shorter than their period"),
        ({"together": (0,)}, "together from 1 on"),
        ({"skews_ns": (-1,)}, "skews from 0"),
        ({"skews_ns": (0, 100), "together": (1,)}, "a rank for itself has none"),
        ({"seeds": 0}, "at least one seed"),
        ({"programs": ("cg", "cg")}, "each program once"),
    ],
)
def test_what_is_no_study_is_refused(options: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        idlewave.study.co_scheduling(**options)  # type: ignore[arg-type]


def test_processes_compute_the_same_rows_as_threads(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace")
    own = Schedule.from_trace(tmp_path / "trace")
    programs = ("cg", own)
    here = idlewave.study.co_scheduling(programs=programs, ranks=(8,), seeds=1, together=(1, 2))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        there = idlewave.study.co_scheduling(programs=programs, ranks=(8,), seeds=1, together=(1, 2), executor=executor)
    pd.testing.assert_frame_equal(here.drop(columns="simulation_s"), there.drop(columns="simulation_s"))
