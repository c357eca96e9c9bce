"""Measured traffic as noise of the simulator: what a computation loses is what was measured, at every scale."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from command_runs import run as run_idlewave
from idlewave import Machine, Schedule, simulate
from idlewave.contention.scaling import Bursts, MemoryNoise, memory_noise, scale_contention
from idlewave.errors import InputError, UsageError
from idlewave.noise_models import Noise
from long_cases import most_long
from planted_contention import contention_table
from trace_files import write_trace

ODIN = Machine.preset("odin")


def table_of(seed: int = 1, scatter: float = 0.1, slowdown: float = 0.5, **more: float) -> pd.DataFrame:
    return contention_table({"cg": {}}, slowdown={"cg": slowdown}, scatter=scatter, seed=seed, measured=(), **more)


def compute(ns: int) -> object:
    return lambda ranks: Schedule.pattern("compute", ranks=ranks, compute_ns=ns)


def finish(schedule: Schedule, noise: Noise, seed: int = 0) -> float:
    return simulate(schedule, ODIN.with_noise(noise).with_noise_reaches(["calc"]), seed=seed).max_finish / 1e12


def test_a_long_computation_is_slowed_by_the_mean_of_the_measured_slowdowns() -> None:
    table = table_of()
    found = memory_noise(table, "cg")
    means = table.groupby("traffic")["seconds"].mean()
    assert found.mean_slowdown == pytest.approx(means["writer"] / means["none"])
    long = Schedule.pattern("compute", ranks=1, compute_ns=10**10)
    simulated = finish(long, found.noise) / finish(long, found.quiet_noise)
    assert simulated == pytest.approx(found.mean_slowdown, rel=1e-2)
    assert finish(long, found.quiet_noise) == pytest.approx(10 * (1 + found.quiet_scatter), rel=1e-2)


def test_a_computation_shorter_than_an_iteration_is_slowed_and_not_stopped() -> None:
    found = memory_noise(table_of(scatter=0.0, slowdown=1.0), "cg")
    assert finish(Schedule.pattern("compute", ranks=1, compute_ns=250_000), found.noise) == pytest.approx(
        500e-6, rel=0.13
    )  # to within one piece of sixteen


def test_the_slowest_of_many_ranks_is_that_of_as_many_places_in_the_measured_series() -> None:
    """An independent walk: each rank begins at a random time of the series, and computes as fast as it says there."""
    table = table_of(scatter=0.25, pairs=20)
    found = memory_noise(table, "cg")
    slowed = table.loc[table["traffic"] != "none", "seconds"].to_numpy()
    ends = np.concatenate([[0.0], np.cumsum(slowed)])
    done = np.arange(len(ends)) * found.quickest_s

    def walked(begin: np.ndarray, length: float) -> np.ndarray:
        work = np.interp(begin, ends, done) + length
        return np.interp(work % done[-1], done, ends) + (work >= done[-1]) * ends[-1] - begin

    ranks, length = 256, 0.7e-3
    random = np.random.default_rng(8)
    expected = [walked(random.uniform(0, ends[-1], ranks), length).max() for _ in range(300)]
    schedule = Schedule.pattern("compute", ranks=ranks, compute_ns=700_000)
    simulated = [finish(schedule, found.noise, seed) for seed in range(60)]
    assert np.mean(simulated) == pytest.approx(np.mean(expected), rel=0.03)
    assert np.mean(simulated) > 1.15 * length * found.mean_slowdown


def test_traffic_that_slows_everything_alike_slows_every_number_of_ranks_alike() -> None:
    table = table_of(scatter=0.0, slowdown=0.8)
    scaled = scale_contention(table, compute(10**8), ODIN, victim="cg", ranks=[1, 64, 1024], replicates=3)
    for column in ("slowdown", "low", "high"):
        np.testing.assert_allclose(scaled[column], 1.8, rtol=1e-3)
    assert list(scaled["replicates"]) == [3, 3, 3]


def test_traffic_that_comes_and_goes_is_amplified_with_the_number_of_ranks() -> None:
    """Some iterations take four times as long: of a few ranks few meet one, of many ranks one always does."""
    table = table_of(scatter=0.02, slowdown=0.0, pairs=30)
    hit = (table["traffic"] != "none") & (table["iteration"] == 0)
    table.loc[hit, "seconds"] *= 4

    def halo(ranks: int) -> Schedule:
        return Schedule.pattern("halo3d", ranks=ranks, compute_ns=10**6, bytes=8)

    scaled = scale_contention(table, halo, ODIN, victim="cg", ranks=[1, 8, 512], replicates=12)
    alone, few, many = scaled["slowdown"]
    assert alone < few < many
    assert many == pytest.approx(4.0, rel=0.2)
    assert (scaled["low"] <= scaled["slowdown"]).all()
    assert (scaled["slowdown"] <= scaled["high"]).all()


def test_without_an_effect_the_interval_of_the_slowdown_has_one_inside() -> None:
    table = table_of(slowdown=0.0, scatter=0.1)
    scaled = scale_contention(table, compute(10**7), ODIN, victim="cg", ranks=[1, 512], replicates=12)
    assert (scaled["low"] < 1.02).all()
    assert (scaled["high"] > 0.98).all()
    assert ((scaled["slowdown"] - 1).abs() < 0.1).all()


@pytest.mark.long
def test_intervals_hold_the_scatter_of_the_measurement() -> None:
    """Runs that differ by a tenth: with four of them the slowdown is less certain than with forty."""
    widths = {4: 0.0, 40: 0.0}
    for pairs in widths:
        for seed in range(4):
            table = table_of(seed, scatter=0.0, run_scatter=0.1, pairs=pairs, iterations=2)
            scaled = scale_contention(table, compute(10**8), ODIN, victim="cg", ranks=[1], replicates=20)
            widths[pairs] += (scaled["high"] - scaled["low"]).item() / 4
    assert widths[4] > 1.8 * widths[40]
    assert widths[40] == pytest.approx(4 * 0.1 * 1.5 * np.sqrt(2 / 40), rel=0.5)  # four standard errors of the ratio


def test_bursts_slow_for_their_share_of_the_time() -> None:
    table = table_of(scatter=0.0, slowdown=1.0, pairs=20)
    found = memory_noise(table, "cg", bursts=Bursts(share=0.5, seconds=0.01))
    long = Schedule.pattern("compute", ranks=1, compute_ns=10**10)
    assert finish(long, found.noise) / 10 == pytest.approx(1 / 0.75, rel=0.02)  # half the time at half the speed
    with pytest.raises(UsageError, match="expected a share above 0"):
        Bursts(0.0, 1.0)


@pytest.mark.parametrize("cases", most_long([30, 300], 1))
def test_bursts_of_any_length_keep_their_share_of_the_time(cases: int) -> None:
    """Every iteration without traffic takes as long as the quickest, so that a rank stands still in bursts alone."""
    random = np.random.default_rng(12)
    for _ in range(cases):
        slowdown, share = random.uniform(0.05, 3), random.uniform(0.01, 0.99)
        table = table_of(scatter=0.0, slowdown=slowdown, pairs=int(random.integers(2, 6)), iterations=3)
        seconds = 1e-3 * (1 + slowdown) * np.exp(random.uniform(1e-9, 5))  # up to 150 iterations
        noise = memory_noise(table, "cg", bursts=Bursts(share, seconds)).noise
        standing_in_bursts = slowdown / (1 + slowdown)
        assert noise.lengths.sum() / noise.period == pytest.approx(share * standing_in_bursts, rel=0.01)
        pauses = np.diff(noise.starts) > 1e9 * (1 + slowdown)  # longer than any two pieces are apart
        if seconds * (1 / share - 1) > 2e-3 * (1 + slowdown):
            assert noise.period / (pauses.sum() + 1) == pytest.approx(1e12 * seconds / share, rel=1e-3)


def test_bursts_of_scattered_iterations_slow_by_their_share_in_the_mean() -> None:
    table = table_of(scatter=0.2, slowdown=1.0, pairs=30)
    traffic = table["traffic"] != "none"
    slowed, quiet = (table.loc[some, "seconds"] for some in (traffic, ~traffic))
    for share in (0.2, 0.7):
        noise = memory_noise(table, "cg", bursts=Bursts(share, 0.0123)).noise
        computing = share * table["seconds"].min() / slowed.mean() + (1 - share) * table["seconds"].min() / quiet.mean()
        assert 1 - noise.lengths.sum() / noise.period == pytest.approx(computing, rel=0.02)


@pytest.mark.parametrize(
    ("bursts", "expected"),
    [
        (
            Bursts(0.5, 1e-3),
            "expected at least 1.5.ms, which an iteration of cg with traffic takes.*found 1.ms",
        ),
        (Bursts(0.5, 1e4), "expected at most 400000, so shorter bursts or a larger share"),
        (Bursts(1e-7, 1.0), "expected at most 400000, so shorter bursts or a larger share"),
    ],
)
def test_bursts_that_were_not_resolved_or_are_too_long_are_refused(bursts: Bursts, expected: str) -> None:
    table = table_of(scatter=0.0, slowdown=0.5)
    with pytest.raises(UsageError, match=expected):
        memory_noise(table, "cg", bursts=bursts)
    with pytest.raises(UsageError, match=expected):
        scale_contention(table, compute(10**6), ODIN, victim="cg", ranks=[1], bursts=bursts)


def test_noise_of_a_machine_that_has_its_own_is_that_of_the_traffic_alone() -> None:
    noisy = ODIN.with_noise(memory_noise(table_of(slowdown=9.0), "cg").noise)
    table = table_of(scatter=0.0, slowdown=0.5)
    scaled = scale_contention(table, compute(10**8), noisy, victim="cg", ranks=[2], replicates=2)
    assert scaled["slowdown"].item() == pytest.approx(1.5, rel=1e-3)


def test_the_same_seed_gives_the_same_slowdowns_and_another_one_others() -> None:
    arguments = {"victim": "cg", "ranks": [16], "replicates": 4}
    first, again, other = (
        scale_contention(table_of(), compute(10**6), ODIN, seed=seed, **arguments) for seed in (5, 5, 6)
    )
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def two_rates() -> pd.DataFrame:
    return pd.concat([table_of(), table_of(rate=5e8).assign(pair=lambda rows: rows["pair"] + 100)], ignore_index=True)


def test_a_rate_is_chosen_where_there_are_several() -> None:
    found: MemoryNoise = memory_noise(two_rates(), "cg", 5e8)
    assert found.rate_Bps == 5e8
    assert len(found.slowdowns) == 120


@pytest.mark.parametrize(
    ("table", "victim", "rate", "said"),
    [
        (two_rates, "cg", None, "cg: expected a rate to be chosen of 500.MB/s and 1.GB/s"),
        (two_rates, "cg", 7e8, "cg: expected iterations at the rate 700.MB/s, found 500"),
        (table_of, "lj", None, "no victim of this table is called 'lj'"),
        (lambda: table_of().query("traffic == 'none'"), "cg", None, "'cg': .* found none with traffic"),
        (
            lambda: table_of().assign(cores=[1, 2] * 120),
            "cg",
            None,
            "cg: expected a number of cores to be chosen of 1 and 2",
        ),
        (lambda: table_of().assign(seconds=0.0), "cg", None, "seconds: expected times above 0"),
    ],
)
def test_a_table_without_what_is_asked_for_is_refused(table, victim, rate, said) -> None:
    with pytest.raises((InputError, UsageError), match=said):
        memory_noise(table(), victim, rate)


def test_a_rate_that_was_not_reached_is_said() -> None:
    table = table_of()
    assert memory_noise(table, "cg").traffic == "1 GB/s"
    slow = table.assign(achieved_rate_Bps=table["achieved_rate_Bps"] * 0.25)
    assert memory_noise(slow, "cg").traffic == "250 MB/s (1 GB/s were asked for)"
    assert memory_noise(table.drop(columns="achieved_rate_Bps"), "cg").traffic == "1 GB/s"


@pytest.fixture
def file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    table_of().to_parquet("table.parquet", index=False)
    return "table.parquet"


def test_the_command_scales_a_pattern_and_writes_what_it_found(file: str) -> None:
    words = ["contention", "scale", file, "--source", "halo2d", "--compute-ns", "1000000", "--ranks", "4,64"]
    words += ["-m", "odin", "--replicates", "3", "-o", "scaled.csv", "--plot", "scaled.png"]
    done = run_idlewave(*words)
    assert done.returncode == 0, done.stderr
    assert "cg alone takes 1.495 times as long while traffic comes" in done.stdout
    assert "assumed: traffic slows computation and reductions" in done.stderr
    assert list(pd.read_csv("scaled.csv")["ranks"]) == [4, 64]
    said = json.loads(run_idlewave(*words, "--json").stdout)
    assert said["scaled"][1]["ranks"] == 64
    assert said["scaled"][1]["low"] <= said["scaled"][1]["slowdown"] <= said["scaled"][1]["high"]


def test_the_command_scales_a_trace(file: str, tmp_path) -> None:
    trace = write_trace(tmp_path / "trace")
    ranks = Schedule.from_trace(trace).ranks
    done = run_idlewave(
        "contention", "scale", file, "--source", str(trace), "--ranks", f"{ranks},{8 * ranks}", "-m", "odin",
        "--replicates", "2", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [row["ranks"] for row in json.loads(done.stdout)["scaled"]] == [ranks, 8 * ranks]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--source", "halo2d", "--share", "0.5"], "--share and --burst go together"),
        (["--source", "halo2d", "--victim", "lj"], "no victim of this table is called 'lj'"),
        (["--source", "halo2d", "--rate", "5"], "cg: expected iterations at the rate 5 B/s, found 1"),
        (["--source", "halo2d", "--ranks", "few"], "expected numbers of ranks"),
        (["--source", "nothing.goal"], "nothing.goal"),
    ],
)
def test_what_cannot_be_scaled_is_refused_by_the_command(words: list[str], said: str, file: str) -> None:
    done = run_idlewave("contention", "scale", file, "-m", "odin", "--ranks", "4", *words)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_of_several_numbers_of_cores_one_is_chosen() -> None:
    table = table_of().assign(cores=1)
    slower = table.assign(cores=2, pair=table["pair"] + 1000)
    slower["seconds"] = np.where(slower["traffic"] == "none", 1, 3) * slower["seconds"]
    both = pd.concat([table, slower], ignore_index=True)
    one, two = (memory_noise(both, "cg", cores=cores).mean_slowdown for cores in (1, 2))
    assert one == pytest.approx(memory_noise(table, "cg").mean_slowdown)
    assert two == pytest.approx(3 * one)
    with pytest.raises(InputError, match="expected iterations at the number of cores 7, found 1 and 2"):
        memory_noise(both, "cg", cores=7)
