"""`idlewave study benchmark-error`: what benchmarks report is what LogGP says, and the page says what the rows show."""

from __future__ import annotations

import json
import math
from pathlib import Path

import idlewave
import numpy as np
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, UsageError
from idlewave.formatting import plain
from idlewave.report.benchmark_error_page import beside_published
from idlewave.studies.benchmark_error import BENCHMARK_ERROR, METHODS, REPETITIONS, BenchmarkCase, benchmark_row

US = 10**6
L, O, G = 5 * US, US, 2 * US  # noqa: E741 - the model's names
HOP = L + 2 * O
N = 5


def machine(gap_us: int = 2) -> Machine:
    text = f'[network]\nL = "5us"\no = "1us"\ng = "{gap_us}us"\nG = "0ns"\nO = "0ns"\nS = "inf"\n'
    return Machine.from_toml(f'name = "small"\n{text}')


def row(algorithm: str, method: str, ranks: int = 8, repetitions: int = N, **more: int) -> dict[str, float]:
    on = machine(more.pop("gap_us", 2))
    return benchmark_row(BenchmarkCase(on, "bcast", algorithm, 1, ranks, repetitions, method, **more))  # type: ignore[return-value]


@pytest.mark.parametrize("ranks", [2, 8, 32])
def test_a_loop_of_linear_broadcasts_reports_a_gap_a_message_and_the_latency_once(ranks: int) -> None:
    found = row("linear", "loop", ranks)
    assert found["true_ps"] == (ranks - 2) * G + HOP
    assert found["measured_ps"] == ((N * (ranks - 1) - 1) * G + HOP) / N
    assert found["root_ps"] == ((N * (ranks - 1) - 1) * G + O) / N
    assert found["measured_ps"] - found["true_ps"] == pytest.approx(-(N - 1) / N * (HOP - G)), "whatever the ranks"


@pytest.mark.parametrize("ranks", [2, 8, 64])
def test_a_loop_of_binomial_broadcasts_is_a_pipeline_whose_error_grows_with_the_depth(ranks: int) -> None:
    depth = math.log2(ranks)
    found = row("binomial", "loop", ranks)
    assert found["true_ps"] == depth * HOP
    assert found["measured_ps"] == (depth * HOP + (N - 1) * depth * G) / N


@pytest.mark.parametrize("gap_us", [2, 3])
def test_a_loop_of_chains_is_a_pipeline_of_a_gap_an_operation(gap_us: int) -> None:
    """g is at least 2 o, so that a rank in the middle has received and sent a message when the next one comes."""
    found = row("chain", "loop", 8, gap_us=gap_us)
    assert found["true_ps"] == 7 * HOP
    assert found["measured_ps"] == (7 * HOP + (N - 1) * gap_us * US) / N


def test_roots_that_rotate_between_two_ranks_make_a_ping_pong_which_is_right() -> None:
    assert row("binomial", "rotating", 2)["error"] == 0


def test_rotating_roots_hide_most_of_a_linear_broadcast() -> None:
    assert -0.5 > row("linear", "rotating", 16)["error"] > row("linear", "rotating", 32)["error"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("algorithm", ["binomial", "linear", "chain"])
def test_one_operation_is_timed_rightly_by_every_method(algorithm: str, method: str) -> None:
    assert row(algorithm, method, 8, repetitions=1)["error"] == 0


def test_a_rank_that_leaves_a_barrier_before_the_root_waits_for_it_in_its_time() -> None:
    """By hand, g = o = 1, L = 5, in µs: both leave the first barrier at 7, and rank 1 has the broadcast at 14. The root
    has sent it at 8, and the message of its next barrier at 9, so that rank 1 leaves that barrier when it has sent its
    own: at 16. The root leaves it at 22, and rank 1 has the second broadcast at 29: 7 and 13, 10 in the mean."""
    found = row("binomial", "barrier", 2, repetitions=2, gap_us=1)
    assert found["true_ps"] == 7 * US
    assert found["measured_ps"] == 10 * US


@pytest.mark.parametrize("algorithm", ["binomial", "scatter_allgather"])
def test_synchronised_clocks_time_rightly_and_else_are_wrong_by_their_errors_at_most(algorithm: str) -> None:
    assert row(algorithm, "window", 13)["error"] == 0
    for seed in range(3):
        found = row(algorithm, "window", 13, clock_error_ns=300, seed=seed)
        assert 0 < abs(found["measured_ps"] - found["true_ps"]) <= 2 * 300_000


def test_a_root_whose_clock_is_late_begins_late() -> None:
    """The error of rank 1's clock minus that of the root's is what a broadcast to it is timed too long."""
    found = row("binomial", "window", 2, repetitions=1, clock_error_ns=300, seed=4)
    ahead = np.random.default_rng([4, 2, 0]).integers(-300_000, 300_001, 2)
    assert found["measured_ps"] - found["true_ps"] == ahead[1] - ahead[0]


def test_the_published_case_and_its_growth_hold_on_odin_but_for_the_linear_loop() -> None:
    table = idlewave.study.benchmark_error(ranks=(2, 4, 8, 16))
    assert {*table["repetitions"]} == {REPETITIONS}
    said = {statement: holds for statement, _, holds in beside_published(table)}
    assert said.pop("the error grows with the number of processes: linear, in a loop") == "no"
    assert len(said) == 7
    assert {*said.values()} == {"yes"}


def test_every_algorithm_of_other_collectives_is_timed_and_only_roots_rotate() -> None:
    table = idlewave.study.benchmark_error(machine(), collectives=("reduce", "allreduce", "barrier"), ranks=(3,))
    known = idlewave.algorithms()
    for name, methods in (
        ("reduce", set(METHODS)),
        ("allreduce", set(METHODS) - {"rotating"}),
        ("barrier", {"loop", "window"}),
    ):
        own = table[table["collective"] == name]
        assert {*own["algorithm"]} == {*known.loc[known["collective"] == name, "name"]}
        assert {*own["method"]} == methods
    assert (table["measured_ps"] > 0).all()


def test_the_sentences_of_the_page_are_true_of_the_rows() -> None:
    table = idlewave.study.benchmark_error(ranks=(2, 8))
    said = [plain(text) for _, text in BENCHMARK_ERROR.page(table).findings]
    last = table[table["ranks"] == 8]
    loop = last[last["method"] == "loop"].set_index("algorithm")["error"]
    assert f"in a loop {100 * loop['chain']:.0f} % (chain) to" in said[0]
    assert "The fastest there is linear" in said[1]
    assert "binomial, which takes 25 % longer (in a loop)" in said[1]
    assert said[-1] == "7 of 8 statements of the talk hold here."


def test_the_command_writes_the_table_and_the_page_and_continues(tmp_path: Path) -> None:
    words = [
        "study",
        "benchmark-error",
        "--ranks",
        "2,8",
        "--collectives",
        "bcast,scatter",
        "--bytes",
        "1B",
        "-o",
        "out",
    ]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "7 of 8 statements of the talk hold here" in first.printed
    page = (tmp_path / "out/report.html").read_text()
    assert page.count("<figure") == 4
    again = run_command([*words, "--json"], tmp_path)
    rows = json.loads(again.printed)["rows"]
    assert len(rows) == 2 * 4 * (6 + 2)
    assert [row["simulation_s"] for row in rows] == list(
        pd.read_parquet(tmp_path / "out/study.parquet")["simulation_s"]
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"ranks": (1,)}, "a number of ranks from 2 on, found 1"),
        ({"collectives": ("bcats",)}, "bcats"),
        ({"repetitions": 0}, "a number of repetitions from 1 on"),
        ({"clock_error_ns": 10**10}, "up to a second"),
    ],
)
def test_what_is_no_benchmark_is_refused(options: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        idlewave.study.benchmark_error(**options)  # type: ignore[arg-type]


def test_the_named_studies_are_methods_that_give_tables(tmp_path: Path) -> None:
    rows = idlewave.study.ft(problem="S", ranks=(4,), links=(1,), exchanges=("put",), folder=tmp_path / "ft")
    assert list(rows["exchange"]) == ["put"]
    shares = (np.array([0]), np.array([1.0]), np.array([1.0]))
    varying = idlewave.Variation(*shares, period=10**9)
    schedule = idlewave.Schedule.pattern("bcast", ranks=4)
    found = idlewave.study.variation(schedule, machine(), varying, runs=3, folder=tmp_path / "variation")
    assert list(found["ranks"]) == [4, 4, 4]
    assert list(found["slowdown"]) == [0, 0, 0]
    assert (tmp_path / "variation/report.html").is_file()


def test_an_operation_that_takes_no_time_has_no_error(tmp_path: Path) -> None:
    text = '[network]\nL = "0us"\no = "0us"\ng = "1us"\nG = "0ns"\nO = "0ns"\nS = "inf"\n'
    table = idlewave.study.benchmark_error(Machine.from_toml(f'name = "free"\n{text}'), ranks=(3,), folder=tmp_path)
    free = table[table["algorithm"] == "chain"]
    assert (free["true_ps"] == 0).all()
    assert free["error"].isna().all()
    assert (table.loc[table["algorithm"] == "linear", "error"].notna()).all()
    page = (tmp_path / "report.html").read_text()
    assert "nan" not in page.partition("<main>")[2].partition("<svg")[0]
    assert "inf" not in page.partition("<main>")[2].partition("<svg")[0]
