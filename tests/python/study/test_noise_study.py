"""`idlewave study noise`: noise costs what its shape says, and the page says what the rows show."""

from __future__ import annotations

import json
import math
from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command_runs import run_command
from idlewave import Machine, Schedule, UsageError
from idlewave.cli import study_noise_command
from idlewave.cli.study_noise_options import scales_of
from idlewave.formatting import plain
from idlewave.jobs import Job, Operation
from idlewave.noise_presets import (
    REGULAR,
    chosen_noises,
    co_scheduled,
    noise_named,
    noise_preset,
    noise_presets,
    noise_text,
    with_noise_named,
)
from idlewave.pattern_options import PatternOptions
from idlewave.report.noise_page import bottleneck, noise_page
from idlewave.report.noise_plots import plot_noise_slowdowns
from idlewave.report.noise_published import beside_published
from idlewave.studies.case_runner import run_cases
from idlewave.studies.noise_study import (
    NOISE,
    NoisePlan,
    network_cases,
    noise_cases,
    noise_row,
    published_cases,
)
from idlewave.studies.programs import ProgramSettings, generated, program_named
from trace_files import write_trace

US = 10**6
PUBLISHED_PERCENT = {"altix": 0.05, "chic": 0.21, "jaguar": 0.02, "zeptoos": 0.08}


def rows(*noises: str, program: str = "dissemination", ranks: int = 64, **more: object) -> pd.DataFrame:
    options = {"sizes": (1,), "published": False, "seeds": 4} | more
    return idlewave.study.noise(programs=(program,), noise=noises, ranks=(ranks,), **options).set_index("noise")


@pytest.mark.parametrize("name", noise_presets())
def test_each_published_system_has_its_share_of_time(name: str) -> None:
    assert round(100 * noise_preset(name).overhead, 2) == PUBLISHED_PERCENT[name]
    assert co_scheduled(noise_preset(name)).overhead == noise_preset(name).overhead


@pytest.mark.parametrize("name", ["jaguarr", "100Hz", "1000Hz:2ms", "0Hz:1us", "1000Hz:10", "jaguar:samewhat"])
def test_what_is_no_noise_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        noise_named(name)


def test_all_studies_take_noise_by_the_same_names() -> None:
    quiet = Machine.preset("odin")
    noisy = quiet.with_noise(noise_named("1000Hz:100us"))
    assert with_noise_named(noisy, "own") is noisy
    assert with_noise_named(noisy, "own:same").noise == noise_named("1000Hz:100us:same")
    assert with_noise_named(quiet, "jaguar").noise == noise_preset("jaguar")
    with pytest.raises(UsageError, match="'odin' has no noise of its own"):
        with_noise_named(quiet, "own")
    assert list(chosen_noises(None, quiet)) == list(REGULAR)
    assert list(chosen_noises(None, noisy)) == ["own"]
    words = {"1000Hz:100us": "detours of 100 µs at 1000 Hz", "jaguar": "detours like those of jaguar"}
    assert {name: plain(noise_text(name)) for name in words} == words
    assert noise_text("own:same") == "detours of the machine at the same times on all ranks"


@pytest.mark.parametrize(("ranks", "length_us"), [(64, 100), (256, 100), (64, 20)])
def test_the_worst_loss_to_regular_noise_is_all_detours_that_can_hit_the_work(ranks: int, length_us: int) -> None:
    """Of 1 MiB, which takes many periods T: the slowest rank is hit as soon as it begins, and then each T - d of work,
    ceil(w / (T - d)) times in all."""
    row = rows(f"1000Hz:{length_us}us", ranks=ranks, sizes=(1 << 20,)).iloc[0]
    work = -(-row["quiet_ps"] // 1000) * 1000
    assert row["worst_ps"] == length_us * US * math.ceil(work / (1000 * US - length_us * US))


@pytest.mark.parametrize("ranks", [32, 512])
def test_short_detours_cost_at_most_one_for_each_rank_on_the_path_to_the_last(ranks: int) -> None:
    """Those of ZeptoOS come once in 1 ms, in which no rank has two during an operation of 0.1 ms, and a path through a
    dissemination visits log2 P + 1 ranks."""
    row = rows("zeptoos", ranks=ranks, seeds=10).iloc[0]
    assert 0 < row["most"] * row["quiet_ps"] <= 0.8 * US * (math.log2(ranks) + 1) + 1


def test_shape_decides_and_not_intensity() -> None:
    found = rows("jaguar", "zeptoos", program="halo2d", ranks=1024, seeds=20)
    jaguar, zeptoos = found.loc["jaguar"], found.loc["zeptoos"]
    assert jaguar["overhead"] < zeptoos["overhead"] / 3
    assert jaguar["low"] > zeptoos["high"]
    assert jaguar["slowdown"] > 20 * zeptoos["slowdown"]


def test_co_scheduling_takes_most_of_the_damage_away() -> None:
    found = rows("altix", "altix:same", program="solver", ranks=256, seeds=6)
    assert found.loc["altix:same", "lost_ps"] < 0.5 * found.loc["altix", "lost_ps"]


def test_the_published_experiments_with_regular_noise_at_small_scale() -> None:
    """The loss grows linearly with the length of the detours, and detours of 2.5 ms cost many times the operation."""
    table = run_cases(NOISE, published_cases(ranks=1024))
    said = beside_published(table)
    linear = {statement: holds for statement, _, _, holds in said if "linear" in statement and "1000 Hz" in statement}
    assert set(linear.values()) == {"yes"}
    ferreira = table[table["noise"] == "10Hz:2.5ms"]
    assert (ferreira["slowdown"] > 10).all()
    assert (ferreira["lost_ps"] > ferreira["steps"] * 2500 * US).all(), "a detour an operation, at least"


@pytest.mark.long
def test_32k_processes_take_16_times_as_long_as_beckman_et_al_measured() -> None:
    case = next(
        case for case in published_cases() if case.program.endswith("reduce_bcast") and case.noise == "1000Hz:200us"
    )
    assert 13 <= 1 + noise_row(case)["slowdown"] <= 17, "measured 16, simulated in the talk 13"


def test_a_faster_network_makes_the_operation_faster_and_not_the_noise() -> None:
    """o = 2.3 us and L = 5.3 us of odin: a hop takes 2 o + L, on the faster network 2 o + L / 10."""
    plan = NoisePlan(Machine.preset("odin"), ranks=(4096,), seeds=8)
    table = run_cases(NOISE, network_cases(plan)).query("noise == 'chic'").set_index("network")
    assert list(table["quiet_ps"]) == [12 * hop for hop in (57_600_000, 9_900_000, 5_130_000)]
    assert table.loc[10.0, "lost_ps"] > 0.5 * table.loc[1.0, "lost_ps"]
    assert table.loc[10.0, "slowdown"] > table.loc[1.0, "slowdown"]


def test_a_grid_of_regular_noise_is_named_by_frequencies_and_lengths(tmp_path: Path) -> None:
    words = ["--frequencies", "100,1000Hz", "--lengths", "16us,50us,100us", "--programs", "barrier"]
    more = ["--ranks", "4", "--seeds", "2", "--bytes", "1", "--no-published", "-o", "out", "--json"]
    done = run_command(["study", "noise", *words, *more], tmp_path)
    assert done.status == 0, done.complained
    found = {row["noise"] for row in json.loads(done.printed)["rows"]}
    assert found == {f"{rate}Hz:{length}us" for rate in (100, 1000) for length in (16, 50, 100)}
    assert (tmp_path / "out/figures/regular-scale.svg").is_file()


def test_the_noise_of_the_machine_is_simulated_and_the_page_says_from_where_on_it_matters() -> None:
    machine = Machine.preset("odin").with_noise(noise_named("1000Hz:100us"))
    table = idlewave.study.noise(
        machine, programs=("barrier",), noise=("own", "zeptoos"), ranks=(2, 64), sizes=(1,), seeds=4, published=False
    )
    assert list(table["noise"]) == ["own", "zeptoos"] * 2
    said = [plain(text) for _, text in noise_page(table).findings]
    where = "costs at least a tenth from 64 ranks on and takes more time than all else from 64 ranks on"
    assert any(f"The noise of the machine itself {where}." in text for text in said)


def test_the_solver_is_that_of_the_other_studies_with_fewer_iterations() -> None:
    """halo2d and an allreduce of 8 B, five times: as `generated` makes it for --programs of other studies."""
    here, there = program_named("solver", 16, 1, 1), generated("solver", 16, ProgramSettings(iterations=5))
    halo = Operation("halo2d", bytes=8192, options=PatternOptions(compute_ns=1_000_000))
    composed = Schedule.compose([Job(16, [halo, Operation("allreduce", bytes=8)], repetitions=5)])
    times = [idlewave.simulate(each, "odin").finish.tolist() for each in (here.schedule, there, composed)]
    assert times[0] == times[1] == times[2]


def test_ones_own_program_is_one_of_the_programs() -> None:
    own = idlewave.Schedule.pattern("halo2d", ranks=16, bytes=100)
    found = idlewave.study.noise(programs=(), schedule=own, noise=("1000Hz:100us",), ranks=(16,), published=False)
    assert list(found["schedule"]) == [own.name]
    assert found["quiet_ps"].iloc[0] == idlewave.simulate(own, "odin").max_finish


def test_a_trace_is_simulated_on_its_ranks_and_on_multiples(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace")
    schedule = idlewave.Schedule.from_trace(tmp_path / "trace")
    own = schedule.ranks
    assert scales_of(None, schedule, (4, 15 * own)) == (own, 4 * own)
    assert scales_of("8,1KiB", schedule, (64,)) == (8, 1024)
    fixed = idlewave.Schedule.pattern("halo2d", ranks=4)
    assert scales_of(None, fixed, (64,)) == (4,), "a pattern has its own number of ranks"
    words = ["study", "noise", "trace", "--programs", "-", "--noise", "1000Hz:10us", "--seeds", "2", "--no-published"]
    done = run_command([*words, "--ranks", f"{own},{2 * own}", "-o", "out", "--json"], tmp_path)
    assert done.status == 0, done.complained
    assert [row["ranks"] for row in json.loads(done.printed)["rows"]] == [own, 2 * own]


def of_scale(ranks: list[int], low: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"ranks": ranks, "low": low})


def test_a_bottleneck_begins_where_it_stays() -> None:
    assert bottleneck(of_scale([8, 64, 512], [0.0, 1.2, 3.0]), 1.0) == 64
    assert bottleneck(of_scale([8, 64, 512], [1.5, 0.2, 3.0]), 1.0) == 512
    assert bottleneck(of_scale([8, 64, 512], [0.0, 1.2, 0.3]), 1.0) is None
    assert bottleneck(of_scale([8], [math.nan]), 1.0) is None


def test_the_statements_of_the_talk_are_held_against_the_rows() -> None:
    found = rows("jaguar", "zeptoos", "altix", "altix:same", ranks=64).reset_index()
    said = {statement: holds for statement, _, _, holds in beside_published(found)}
    assert said["ZeptoOS shows nearly no propagation"] == "–"
    assert set(said.values()) == {"–"}, "64 ranks are few"
    assert beside_published(found[found["noise"] == "chic"]) == []


def test_a_program_that_takes_no_time_has_no_slowdown(tmp_path: Path) -> None:
    text = '[network]\nL = "0us"\no = "0us"\ng = "1us"\nG = "0ns"\nO = "0ns"\nS = "inf"\n'
    (tmp_path / "free.toml").write_text(f'name = "free"\n{text}')
    words = ["-m", "free.toml", "--ranks", "2", "--programs", "bcast", "--bytes", "1", "--noise", "jaguar"]
    done = run_command(["study", "noise", *words, "--no-published", "-o", "out"], tmp_path)
    assert done.status == 0, done.complained
    assert "nan" not in done.printed
    assert "nan" not in (tmp_path / "out/report.html").read_text().partition("<main>")[2]


def made_up(noise: str, overhead: float, slowdown: float, reach: float, ranks: int = 64) -> dict[str, object]:
    """A row of the table, of a dissemination of a byte that takes 0.1 ms."""
    low, high = slowdown - reach, slowdown + reach
    quiet = 100 * US
    what = {"machine": "m", "program": "dissemination", "bytes": 1, "steps": 1, "collective": True, "asks": "scale"}
    quantiles = {"median": slowdown, "most": high, "lost_ps": slowdown * quiet, "worst_ps": slowdown * quiet}
    found = {"noise": noise, "overhead": overhead, "slowdown": slowdown, "low": low, "high": high, "ranks": ranks}
    return {**what, **found, **quantiles, "quiet_ps": quiet, "seeds": 4, "seed": 0, "network": 1.0}


def test_the_page_says_that_shape_decides_only_where_intervals_are_apart() -> None:
    apart = pd.DataFrame([made_up("rare", 0.001, 2.0, 0.5), made_up("often", 0.004, 0.1, 0.05)])
    said = [plain(text) for _, text in noise_page(apart).findings]
    more = "often takes 4.0 times as much time of a core as rare, and slows down by 10 % where rare does by 200 %."
    assert any(f"Shape decides, not intensity: {more}" in text for text in said)
    over = pd.DataFrame([made_up("rare", 0.001, 2.0, 1.95), made_up("often", 0.004, 0.1, 0.05)])
    assert not any("Shape decides" in text for _, text in noise_page(over).findings)


def test_the_page_says_whether_the_worst_loss_or_the_share_decides() -> None:
    rows = [made_up("rare", 0.001, 0.01 * 2**power, 0.0, 2**power) for power in range(1, 5)]
    rows += [made_up("often", 0.01, 0.001 * 2**power, 0.0, 2**power) for power in range(1, 5)]
    said = [plain(text) for topic, text in noise_page(pd.DataFrame(rows)).findings if topic == "what decides"]
    assert "expected worst loss is 1.00" in said[0], "as made up"
    assert "noise takes -0" in said[0], "the noise that takes more time costs less"
    assert "loses 1.0 times the expected worst loss" in said[0]


def test_equal_cases_give_equal_rows_with_other_workers() -> None:
    cases = {"programs": ("bcast", "solver"), "noise": ("jaguar",), "ranks": (16,), "seeds": 3, "published": False}
    one, two = (idlewave.study.noise(workers=workers, **cases).drop(columns="simulation_s") for workers in (1, 3))
    pd.testing.assert_frame_equal(one, two)


def test_the_command_writes_the_table_and_the_page_and_continues(tmp_path: Path) -> None:
    words = ["study", "noise", "--ranks", "8,16", "--seeds", "2", "--no-published", "--bytes", "1,1KiB", "-o", "out"]
    first = run_command([*words, "--noise", "jaguar,zeptoos"], tmp_path)
    assert first.status == 0, first.complained
    assert "Slowdowns at 16 ranks" in first.printed
    assert (tmp_path / "out/report.html").read_text().count("<figure") == 2
    again = run_command([*words, "--noise", "jaguar,zeptoos", "--json"], tmp_path)
    found = json.loads(again.printed)["rows"]
    assert len(found) == 2 * 2 * (2 + 1 + 1)
    table = pd.read_parquet(tmp_path / "out/study.parquet")
    assert [row["simulation_s"] for row in found] == list(table["simulation_s"])


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ({"sizes": ()}, "sizes of collectives, found none"),
        ({"ranks": ()}, "numbers of ranks, found none"),
        ({"ranks": (1,)}, "a number of ranks from 2 on"),
        ({"programs": ("bcats",)}, "bcats"),
        ({"seeds": 1}, "at least 2 seeds"),
        ({"noise": ()}, "expected different noises"),
    ],
)
def test_what_is_no_study_is_refused(plan: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        noise_cases(NoisePlan(Machine.preset("odin"), **plan))  # type: ignore[arg-type]


def own_noise(*rows: tuple[int, float, float]) -> str:
    """What the page says of a machine's own noise with these ranks, slowdowns and reaches."""
    table = pd.DataFrame([made_up("own", 0.001, mean, reach, ranks) for ranks, mean, reach in rows])
    return next(plain(text).partition("itself ")[2] for _, text in noise_page(table).findings)


def test_from_where_on_noise_matters_is_said_as_far_as_the_intervals_say() -> None:
    assert own_noise((8, 0.01, 0.001), (64, 0.02, 0.001)).startswith("costs at least a tenth at none of these scales")
    assert "a tenth from no scale on, up to the largest" in own_noise((8, 0.2, 0.05), (64, 0.02, 0.001))
    assert "a tenth not decidedly" in own_noise((8, 0.01, 0.001), (64, 0.1, 0.05))
    assert "a tenth from 64 ranks on" in own_noise((8, 0.1, 0.05), (64, 0.2, 0.05))


def statements(*rows: dict[str, object]) -> dict[str, str]:
    return {statement: holds for statement, _, _, holds in beside_published(pd.DataFrame(rows))}


def test_statements_on_systems_hold_or_not_only_where_intervals_ranks_and_seeds_say_so() -> None:
    shape = "shape decides, not intensity"

    def said(jaguar: float, zeptoos: float, ranks: int = 4096, seeds: int = 10) -> str:
        rows = made_up("jaguar", 0.0002, jaguar, 0.5, ranks), made_up("zeptoos", 0.0008, zeptoos, 0.5, ranks)
        return statements(*(row | {"seeds": seeds} for row in rows))[shape]

    assert [said(3.0, 1.0), said(1.0, 3.0), said(1.2, 1.0)] == ["yes", "no", "–"]
    assert [said(3.0, 1.0, ranks=64), said(3.0, 1.0, seeds=4)] == ["–", "–"]


def test_the_bottleneck_does_not_move_where_it_is_shown_at_all_three_speeds() -> None:
    def said(*slowdowns: float) -> str:
        rows = [
            made_up("chic", 0.002, slowdown, 0.1, 4096) | {"network": speed, "asks": "network", "seeds": 10}
            for speed, slowdown in zip((0.1, 1.0, 10.0), slowdowns, strict=True)
        ]
        (holds,) = statements(*rows).values()
        return holds

    assert [said(2, 3, 4), said(0.5, 3, 4), said(1, 3, 4), said(0.1, 0.2, 0.3)] == ["yes", "no", "–", "–"]


def test_the_page_names_the_noises_that_were_simulated() -> None:
    page = noise_page(pd.DataFrame([made_up("jaguar", 0.0002, 2.0, 0.5)]))
    said = [plain(text) for topic, text in page.rests if topic == "noises"]
    assert len(said) == 1
    assert said[0].startswith("jaguar has the published share")
    alone = noise_page(pd.DataFrame([made_up("own", 0.1, 2, 0.5)]))
    assert not [text for topic, text in alone.rests if topic == "noises"]


def test_no_loss_is_not_drawn_and_said_in_the_legend() -> None:
    rows = pd.DataFrame([made_up("same", 0.001, 0.0, 0.0), made_up("often", 0.004, 0.1, 0.05)]).assign(title="t")
    axes = plot_noise_slowdowns(rows).axes[0]
    lines = {str(line.get_label()): np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()}
    assert np.isnan(lines["same (0 where not drawn)"]).all()
    assert list(lines["often"]) == [0.1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [([], True), (["-m", "odin"], False), (["--programs", "bcast"], False), (["-m", "odin", "--published"], True)],
)
def test_the_published_experiments_are_made_beside_nothing_that_was_asked_for(
    words: list[str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[bool] = []

    def cases(plan: NoisePlan) -> list[object]:
        found.append(plan.published)
        return []

    monkeypatch.setattr(study_noise_command, "noise_cases", cases)
    monkeypatch.setattr(study_noise_command, "run_command", lambda *_: None)
    CliRunner().invoke(study_noise_command.study_noise, words, catch_exceptions=False)
    assert found == [expected]
