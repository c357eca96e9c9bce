"""`idlewave study algorithms`: times are what LogGP says, rules switch where they cross; its page and its command."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from command_runs import run_command
from idlewave import Machine, UsageError
from idlewave.algorithm_choice import rules_named
from idlewave.algorithm_rules import AlgorithmRule
from idlewave.formatting import plain
from idlewave.noise_models import Noise, as_times
from idlewave.noise_presets import noise_named
from idlewave.report.algorithms_page import beside_published
from idlewave.studies.algorithm_costs import by_table, calls_of, cost_of, libraries, others, slower_beyond_chance
from idlewave.studies.algorithm_times import ALGORITHMS, AlgorithmCase, algorithm_row
from idlewave.studies.decision_tables import (
    NOISY,
    QUIET,
    CollectiveTimes,
    Variant,
    chosen,
    decision_files,
    decision_table,
    times_by_collective,
)
from idlewave.studies.published_choices import PUBLISHED
from small_machine import HOP, US, G, O, machine, study

OWN = "small's own rules"
SCAN = {"collectives": ("scan",), "ranks": (4,), "sizes": (8,), "seeds": 5}


# ---- times and switches


def test_broadcasts_are_linear_as_long_as_gaps_cost_less_than_the_depth_of_a_tree() -> None:
    """(P - 2) g + L + 2 o by the linear broadcast, and log2 P (L + 2 o) by the binomial one, P a power of two."""
    scales = (4, 8, 16, 32)
    table = study(machine(), collectives=("bcast",), ranks=scales, sizes=(1,), segments=())
    times = table.pivot(index="ranks", columns="algorithm", values="time_ps")
    for ranks in scales:
        assert times.loc[ranks, "linear"] == (ranks - 2) * G + HOP
        assert times.loc[ranks, "binomial"] == math.log2(ranks) * HOP
    rules = decision_table(CollectiveTimes(table, QUIET))
    assert [(rule.ranks, rule.algorithm) for rule in rules] == [(4, "linear"), (16, "binomial")]


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_an_allreduce_switches_at_the_size_at_which_the_times_of_loggp_cross(depth: int) -> None:
    """Recursive doubling sends d messages of n bytes, Rabenseifner's algorithm twice those of n/2, n/4, …: they cross
    where d (L + 2 o - G) = n G (d - 2 + 2/P), P being 2^d."""
    ranks, per_byte = 2**depth, 1000
    crossing = depth * (HOP - per_byte) / (per_byte * (depth - 2 + 2 / ranks))
    table = study(machine(1), collectives=("allreduce",), ranks=(ranks,), sizes=(64, 1 << 20))
    only = table[table["algorithm"].isin(["recursive_doubling", "rabenseifner"])]
    rules = decision_table(CollectiveTimes(only, QUIET))
    assert [rule.algorithm for rule in rules] == ["recursive_doubling", "rabenseifner"]
    assert rules[1].bytes == math.ceil(crossing)
    around = [int(crossing) // ranks * ranks, (int(crossing) // ranks + 1) * ranks]
    for size, name in zip(around, ("recursive_doubling", "rabenseifner"), strict=True):
        assert fastest(machine(1), "allreduce", ranks, size, ("recursive_doubling", "rabenseifner")) == name


def fastest(on: Machine, collective: str, ranks: int, size: int, names: tuple[str, ...]) -> str:
    cases = {name: AlgorithmCase(on, collective, name, 0, ranks, size, 0.0, 0, 0) for name in names}
    return min(cases, key=lambda name: float(algorithm_row(cases[name])["time_ps"] or 0))


def test_differences_within_a_percent_make_no_rule() -> None:
    rows = pd.DataFrame(
        [("scatter", ranks, size, name, 0, time) for ranks in (2, 4) for size, name, time in (
            (8, "linear", 100.0), (8, "binomial", 100.5), (64, "linear", 200.5), (64, "binomial", 200.0),
            (512, "linear", 500.0), (512, "binomial", 400.0))],
        columns=["collective", "ranks", "bytes", "algorithm", "segment", "time_ps"],
    ).assign(seeds=0)  # fmt: skip
    assert [(rule.ranks, rule.bytes, rule.algorithm) for rule in decision_table(CollectiveTimes(rows, QUIET))] == [
        (2, 0, "binomial")
    ]


def test_an_algorithm_that_is_good_for_all_calls_makes_one_rule() -> None:
    """Bruck's allgather sends in each round what recursive doubling does, and needs no power of two; on 2 ranks all are
    the same."""
    table = study(collectives=("allgather",), ranks=(2, 3, 4, 6, 8), sizes=(8, 4096))
    (rule,) = decision_table(CollectiveTimes(table, QUIET))
    assert (rule.algorithm, rule.ranks, rule.bytes) == ("bruck", 2, 0)


def test_a_table_chooses_as_good_as_the_fastest_wherever_times_were_taken() -> None:
    table = study(collectives=("bcast", "reduce", "allreduce"), ranks=(2, 3, 8, 12), sizes=(8, 4096, 1 << 20))
    for times in times_by_collective(table, QUIET).values():
        rules = decision_table(times)
        for ranks in times.ranks:
            for size in times.sizes:
                assert chosen(rules, ranks, size) in times.good(ranks, size)
        assert len({(rule.ranks, rule.bytes) for rule in rules}) == len(rules)


def test_a_table_holds_between_the_sizes_that_were_timed() -> None:
    """Times are lines in the size but for segments and the network's ranges of sizes."""
    plan = {"collectives": ("allreduce", "bcast"), "ranks": (6, 16), "segments": (8192,)}
    known = times_by_collective(study(sizes=(8, 64, 512, 4096, 32_768, 262_144), **plan), QUIET)
    for name, between in times_by_collective(study(sizes=(23, 181, 1448, 11_585, 92_682), **plan), QUIET).items():
        cost = cost_of(calls_of(between, by_table(known[name])))
        assert cost is not None
        assert cost.mean < 0.02
        assert cost.worst.slowdown < 0.4


def test_the_cost_of_reductions_counts() -> None:
    """Recursive doubling reduces the vector in each round, Rabenseifner's algorithm less than once."""
    plain_rules, costly = (
        decision_table(CollectiveTimes(study(collectives=("allreduce",), ranks=(32,), reduction_cost=cost), QUIET))
        for cost in (0.0, 0.5)
    )
    first, second = (next(r.bytes for r in rules if r.algorithm == "rabenseifner") for rules in (plain_rules, costly))
    assert second < first


# ---- noise


def test_noise_changes_the_choice_where_a_late_rank_would_have_passed_on_the_message() -> None:
    """Rank 1 begins 20 µs late. In a linear broadcast to 16 ranks it delays nobody, and is done before the last message
    comes, at 14 g + L + 2 o. In a binomial one it has the message at 20 µs + o, and three more hops follow."""
    late = Noise(as_times([0]), as_times([20 * US]), 1 << 61, (20 * US, 0, *([20 * US] * 14)))
    options = {"collectives": ("bcast",), "ranks": (16,), "sizes": (1,), "segments": (), "seeds": 2}
    table = idlewave.study.algorithms(machine(), noise=late, **options)  # type: ignore[arg-type]
    rows = table.set_index("algorithm")
    assert rows.loc["binomial", "time_ps"] == 4 * HOP
    assert rows.loc["linear", "mean_ps"] == rows.loc["linear", "time_ps"] == 14 * G + HOP
    assert rows.loc["binomial", "mean_ps"] == 20 * US + O + 3 * HOP
    assert rows.loc["binomial", "error_ps"] == 0
    by_quiet, by_noise = (decision_table(CollectiveTimes(table, column)) for column in (QUIET, NOISY))
    assert ([rule.algorithm for rule in by_quiet], [rule.algorithm for rule in by_noise]) == (["binomial"], ["linear"])
    said = [plain(text) for _, text in ALGORITHMS.page(table).findings]  # type: ignore[misc]
    changed = 100 * ((20 * US + O + 3 * HOP) / (14 * G + HOP) - 1)
    assert any(f"at 16 ranks, 1 B binomial takes {changed:.0f} % longer than linear" in text for text in said)


def with_errors(mean: float, error: float, calls: int = 1) -> CollectiveTimes:
    """Scatters by a linear algorithm, which takes `mean`, and by a binomial one, which takes 100; with ten seeds."""
    rows = pd.DataFrame(
        [("scatter", 2, 8 + size, name, 0, time, error, 10) for size in range(calls) for name, time in (
            ("linear", mean), ("binomial", 100.0))],
        columns=["collective", "ranks", "bytes", "algorithm", "segment", "mean_ps", "error_ps", "seeds"],
    )  # fmt: skip
    return CollectiveTimes(rows, NOISY)


def test_a_difference_that_may_be_chance_changes_no_choice() -> None:
    assert with_errors(105.0, 1.5).good(2, 8) == [Variant("linear"), Variant("binomial")]
    assert with_errors(105.0, 1.0).good(2, 8) == [Variant("binomial")]
    assert with_errors(112.0, 9.0).good(2, 8) == [Variant("binomial")], "more than a tenth counts anyway"


def test_that_noise_changes_a_choice_is_said_of_many_calls_only_if_it_is_surer_for_each() -> None:
    """Of ten means the difference is 3.5 of its standard errors: a chance of 0.3 % with 9 degrees of freedom, for each
    of a hundred calls that are as far off no more than chance."""
    error = 5.0 / 3.5 / math.sqrt(2)

    def linear(_ranks: int, _size: int) -> Variant:
        return Variant("linear")

    (call,) = slower_beyond_chance(with_errors(105.0, error), linear)
    assert call.slowdown == pytest.approx(0.05)
    assert slower_beyond_chance(with_errors(105.0, error, calls=100), linear) == []
    assert slower_beyond_chance(with_errors(105.0, error * 2), linear) == []
    assert len(slower_beyond_chance(with_errors(105.0, 0.0, calls=100), linear)) == 100
    assert slower_beyond_chance(with_errors(100.5, 0.0), linear) == []


def test_times_with_noise_are_a_distribution_over_seeds_that_is_the_same_again() -> None:
    options = {"collectives": ("barrier",), "ranks": (16,), "seeds": 10}
    first, second = (idlewave.study.algorithms("infiniband-hdr", **options) for _ in range(2))  # type: ignore[arg-type]
    assert first.drop(columns="simulation_s").equals(second.drop(columns="simulation_s"))
    assert (first["low_ps"] <= first["median_ps"]).all()
    assert (first["median_ps"] <= first["high_ps"]).all()
    assert (first["mean_ps"] > first["time_ps"]).all()
    other = idlewave.study.algorithms("infiniband-hdr", seed=100, **options)  # type: ignore[arg-type]
    assert (first["mean_ps"] != other["mean_ps"]).any()
    assert (first["time_ps"] == other["time_ps"]).all()


# ---- beside what was published


@pytest.mark.parametrize(
    ("collective", "ranks", "size", "name"),
    [
        ("allgather", 16, 32_767, "recursive_doubling"),
        ("allgather", 16, 32_768, "ring"),
        ("allgather", 10, 8191, "bruck"),
        ("allgather", 10, 8192, "ring"),
        ("allreduce", 4, 2048, "recursive_doubling"),
        ("allreduce", 4, 2049, "rabenseifner"),
        ("alltoall", 8, 256, "bruck"),
        ("alltoall", 7, 256, "linear"),
        ("alltoall", 8, 32_769, "pairwise"),
        ("bcast", 8, 12_287, "binomial"),
        ("bcast", 12, 12_288, "scatter_allgather"),
        ("bcast", 16, 12_288, None),
        ("bcast", 16, 524_288, "scatter_allgather"),
        ("reduce", 4, 2049, "rabenseifner"),
        ("reduce_scatter", 4, 524_288, "pairwise"),
    ],
)
def test_the_published_choices_are_those_of_mpichs_source(
    collective: str, ranks: int, size: int, name: str | None
) -> None:
    """intra_fns_new.c of 31 March 2005; a broadcast by a scatter and recursive doubling is one that we lack."""
    found = PUBLISHED[collective].choose(ranks, size)
    assert found == (None if name is None else Variant(name))


def test_published_choices_stand_beside_the_switches_of_the_same_algorithms_here() -> None:
    depth, ranks = 4, 16
    table = study(machine(1), collectives=("allreduce", "gather"), ranks=(ranks, 20), sizes=(64, 1 << 20))
    times = times_by_collective(table, QUIET)
    row = beside_published(times["allreduce"])
    assert row is not None
    crossing = math.ceil(depth * (HOP - 1000) / (1000 * (depth - 2 + 2 / ranks)))
    assert row[0] == "recursive doubling up to 2 KiB, then Rabenseifner's"
    assert row[1] == f"recursive_doubling, rabenseifner from {crossing:,} B"
    assert beside_published(times["gather"]) is None


# ---- the page and the command


def test_what_a_library_chooses_costs_what_its_algorithm_takes() -> None:
    table = study(collectives=("alltoall",), ranks=(8,), sizes=(64,))
    times = CollectiveTimes(table, QUIET)
    own = table.set_index("algorithm")["time_ps"]
    for choose in libraries("alltoall").values():
        (call,) = calls_of(times, choose)
        assert call.slowdown == own[call.variant.algorithm] / own.min() - 1
        assert call.good == (call.slowdown <= 0.01)


def test_the_machines_own_rules_are_set_beside_the_fastest_too() -> None:
    rules = (AlgorithmRule("bcast", "chain", bytes=100, segment=8192), AlgorithmRule("bcast", "linear", ranks=8))
    on = replace(machine(1), algorithm_rules=rules)
    table = study(on, collectives=("bcast", "gather"), ranks=(4, 8), sizes=(64, 4096, 1 << 20), segments=(8192,))
    known = times_by_collective(table, QUIET)
    assert {*others(known["gather"])} == {"Open MPI 5.0", "MPICH 5"}
    found = {(call.ranks, call.size): call.variant for call in calls_of(known["bcast"], others(known["bcast"])[OWN])}
    linear = {(8, size): Variant("linear") for size in (64, 4096, 1 << 20)}
    assert found == linear | {(4, 4096): Variant("chain"), (4, 1 << 20): Variant("chain", 8192)}
    said = " ".join(text for _, text in ALGORITHMS.page(table).findings)  # type: ignore[misc]
    assert f"The choice of {OWN} costs" in said


def test_edited_rules_of_the_machine_are_set_beside_the_fastest_at_once(tmp_path: Path) -> None:
    """What identifies a machine is what times depend on; its rules are not."""
    for name in ("chain", "linear"):
        on = replace(machine(1), algorithm_rules=(AlgorithmRule("bcast", name, segment=0),))
        table = study(on, collectives=("bcast",), ranks=(8,), sizes=(64,), segments=(), folder=tmp_path)
        assert list(table.loc[table["own_choice"], "algorithm"]) == [name]


def test_calls_whose_algorithm_the_simulator_lacks_are_not_held_against_a_library() -> None:
    table = study(collectives=("bcast",), ranks=(16, 24), sizes=(8, 32_768, 1 << 20), segments=())
    times = CollectiveTimes(table, QUIET)
    mpich = {(call.ranks, call.size): call.variant.algorithm for call in calls_of(times, libraries("bcast")["MPICH 5"])}
    assert (16, 32_768) not in mpich, "a scatter and an allgather by recursive doubling"
    assert mpich[24, 32_768] == mpich[16, 1 << 20] == "scatter_allgather"
    ((_, said),) = ALGORITHMS.page(table).findings  # type: ignore[misc]
    assert "over 5 calls" in plain(said).partition("The choice of MPICH 5")[2]
    assert said.endswith("; left out: 1 call whose algorithm the simulator lacks.")


def test_a_buffer_that_ranks_share_is_used_only_on_a_node(tmp_path: Path) -> None:
    shared = f'{machine().to_toml()}\n[network.shared_buffer]\nL = "10ns"\n'
    node = replace(Machine.from_toml(shared), node=machine().network, node_ranks=4)
    table = study(node, collectives=("barrier", "allreduce"), ranks=(2, 4, 8), sizes=(8,), folder=tmp_path)
    assert set(table.loc[table["algorithm"] == "release_gather", "ranks"]) == {2, 4}
    rules = decision_table(times_by_collective(table, QUIET)["allreduce"])
    assert [(rule.ranks, rule.algorithm) for rule in rules] == [(2, "release_gather"), (8, "recursive_doubling")]
    written = rules_named(str(tmp_path / "open-mpi.conf"))
    assert "release_gather" not in {rule.algorithm for rule in written}, "Open MPI has no such algorithm"


def test_where_a_collective_takes_no_time_the_page_says_nothing_that_is_no_number(tmp_path: Path) -> None:
    text = '[network]\nL = "0us"\no = "0us"\ng = "1us"\nG = "0ns"\nO = "0ns"\nS = "inf"\n'
    free = Machine.from_toml(f'name = "free"\n{text}')
    table = idlewave.study.algorithms(free, collectives=("bcast",), ranks=(2, 5), sizes=(8,), seeds=2, folder=tmp_path)
    assert (table.loc[table["algorithm"] == "chain", "time_ps"] == 0).all()
    said = " ".join(plain(text) for _, text in ALGORITHMS.page(table).findings)  # type: ignore[misc]
    assert "For all 2 calls chain is as good as any other algorithm." in said
    assert "Noise makes none of the fastest algorithms slower" in said
    assert "nan" not in said


def test_a_study_without_noise_has_no_files_for_it_and_says_nothing_of_it() -> None:
    table = study(collectives=("gather",), ranks=(2, 4), sizes=(8,))
    assert set(decision_files(table)) == {"rules.csv", "open-mpi.conf"}
    page = ALGORITHMS.page(table)  # type: ignore[misc]
    assert not any("oise makes" in text for _, text in page.findings)
    assert dict(page.rests)["noise"] == "is left out."


def test_the_command_writes_the_rules_and_the_page_and_continues(tmp_path: Path) -> None:
    options = {"--ranks": "2,8", "--collectives": "scatter,barrier", "--bytes": "8,64KiB", "--seeds": "3", "-o": "out"}
    words = ["study", "algorithms", *(word for option in options.items() for word in option)]
    first = run_command(words, tmp_path)
    assert first.status == 0, first.complained
    assert "• scatter: " in first.printed
    assert "The choice of MPICH 5" in first.printed
    assert re.search(r"• all collectives: .* and [\d.]+ % by MPICH 5 \(6 calls\)", " ".join(first.printed.split()))
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"rules.csv", "open-mpi.conf", "rules-noise.csv", "open-mpi-noise.conf", "report.html"} <= files
    assert (tmp_path / "out/report.html").read_text().count("<figure") == 5
    again = run_command([*words, "--json"], tmp_path)
    rows = json.loads(again.printed)["rows"]
    assert len(rows) == 2 * (2 * 2 + 4)
    written = pd.read_parquet(tmp_path / "out/study.parquet")
    assert [row["simulation_s"] for row in rows] == list(written["simulation_s"])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"ranks": (1,)}, "a number of ranks from 2 to"),
        ({"collectives": ("bcats",)}, "bcats"),
        ({"segments": (0,)}, "a segment from 1 to"),
        ({"seeds": 1}, "a number of seeds from 2 to"),
    ],
)
def test_what_is_no_study_is_refused(options: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        study(**options)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--noise", "1000Hz:1ms"], "detours shorter than their period"),
        (["--noise", "1000Hz:3"], "expected a time with a unit"),
        (["--noise", "jaguar", "--no-noise"], "expected --no-noise or --noise, found both"),
        (["--ranks", "2,2"], "expected different numbers of ranks"),
        (["--bytes", "8k"], "expected different sizes"),
    ],
)
def test_options_that_make_no_study_are_refused(options: list[str], why: str, tmp_path: Path) -> None:
    done = run_command(["study", "algorithms", "--collectives", "scan", *options], tmp_path)
    assert done.status == 2
    assert why in done.complained


def test_noise_that_is_named_stands_for_that_of_the_machine_also_in_an_array_of_jobs(tmp_path: Path) -> None:
    own = idlewave.study.algorithms(noisy := machine().with_noise(noise_named("1000Hz:16us")), **SCAN)  # type: ignore[arg-type]
    assert list(own["machine_id"]) == [noisy.identity()] * 2
    (tmp_path / "noisy.toml").write_text(noisy.to_toml())
    named = ["--noise", "25000Hz:20us"]
    words = ["study", "algorithms", "-m", "noisy.toml", "--collectives", "scan", "--ranks", "4", "--bytes", "8"]
    for more in (["--array", "slurm", "--tasks", "1"], ["--share", "0/1"]):
        done = run_command([*words, "--seeds", "5", *named, "-o", "out", *more], tmp_path)
        assert done.status == 0, done.complained
    done = run_command(["study", "collect", "out", "--json"], tmp_path)
    assert done.status == 0, done.complained
    rows = json.loads(done.printed)["rows"]
    expected = idlewave.study.algorithms(machine(), noise="25000Hz:20us", **SCAN)  # type: ignore[arg-type]
    assert [row["mean_ps"] for row in rows] == list(expected["mean_ps"]) != list(own["mean_ps"])
