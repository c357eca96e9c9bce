"""Random detours have the distributions that their keys promise; seeds, ranks and switches do what they say."""

from __future__ import annotations

import json
import math
import pickle
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runs import run
from idlewave import (
    EmpiricalLength,
    ExponentialLength,
    FixedLength,
    InputError,
    LognormalLength,
    Machine,
    Noise,
    ParetoLength,
    PoissonNoise,
    Schedule,
    UniformLength,
    UsageError,
    simulate,
)
from idlewave.random_noise import DetourLength
from scipy import stats

INTERVAL = 1_000_000.0  # ps
LENGTHS: list[tuple[DetourLength, object]] = [
    (ExponentialLength(300_000.0), stats.expon(scale=300_000)),
    (ExponentialLength(300_000.0, 200_000.0), stats.expon(200_000, 100_000)),
    (UniformLength(100_000, 900_000), stats.uniform(100_000, 800_001)),
    (LognormalLength(200_000.0, 0.8), stats.lognorm(0.8, scale=200_000)),
    (ParetoLength(50_000.0, 2.5), stats.pareto(2.5, scale=50_000)),
]
GOOD = '[network]\nL = "1us"\no = "1us"\ng = "1us"\nG = "1ns"\nO = "1ns"\nS = "inf"\n'


def many_detours(length: DetourLength, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Gaps and lengths of some 20,000 detours."""
    mean = length.mean
    starts, lengths = PoissonNoise(INTERVAL, length).detours(seed, 3, int(20_000 * (INTERVAL + mean)))
    return np.diff(starts, prepend=0) - np.concatenate(([0], lengths[:-1])), lengths


def test_gaps_of_CPU_time_are_exponential() -> None:
    gaps, _ = many_detours(FixedLength(700_000))
    assert stats.kstest(gaps, stats.expon(scale=INTERVAL).cdf).pvalue > 0.01
    n = len(gaps)
    assert abs(gaps.mean() - INTERVAL) < 3 * INTERVAL / math.sqrt(n)
    assert abs(gaps.var() / INTERVAL**2 - 1) < 3 * math.sqrt(8 / n)
    assert abs(np.corrcoef(gaps[1:], gaps[:-1])[0, 1]) < 3 / math.sqrt(n)


@pytest.mark.parametrize(("length", "law"), LENGTHS, ids=[type(length).__name__ for length, _ in LENGTHS])
def test_lengths_have_their_distribution_and_do_not_depend_on_the_gaps(
    length: DetourLength, law: stats.rv_frozen
) -> None:
    gaps, lengths = many_detours(length)
    assert stats.kstest(lengths, law.cdf).pvalue > 0.01
    assert length.mean == pytest.approx(law.mean(), rel=1e-5)
    assert abs(lengths.mean() - law.mean()) < 3 * law.std() / math.sqrt(len(lengths))
    assert abs(stats.spearmanr(gaps, lengths).statistic) < 3 / math.sqrt(len(lengths))


def test_listed_lengths_are_drawn_alike() -> None:
    listed = np.array([10, 20, 30, 1000], dtype=np.int64)
    _, lengths = many_detours(EmpiricalLength(listed))
    found, counts = np.unique(lengths, return_counts=True)
    assert found.tolist() == listed.tolist()
    assert stats.chisquare(counts).pvalue > 0.01


def test_ranks_and_seeds_have_detours_of_their_own_and_co_scheduled_ranks_the_same() -> None:
    noise = PoissonNoise(INTERVAL, ExponentialLength(1000.0))
    until = 1_000_000_000
    first = noise.detours(1, 0, until)[0].tolist()
    assert noise.detours(1, 0, until)[0].tolist() == first
    assert not set(noise.detours(1, 1, until)[0].tolist()) & set(first)
    assert not set(noise.detours(2, 0, until)[0].tolist()) & set(first)
    together = PoissonNoise(INTERVAL, ExponentialLength(1000.0), "same")
    assert together.detours(1, 0, until)[0].tolist() == together.detours(1, 7, until)[0].tolist()


def test_long_computation_takes_as_much_longer_as_the_overhead_says() -> None:
    noise = PoissonNoise(INTERVAL, ExponentialLength(250_000.0))
    assert noise.overhead == pytest.approx(0.2)
    work = 20_000_000  # ns
    schedule = Schedule.from_goal(f"num_ranks 2\nrank 0 {{\ncalc {work}\n}}\nrank 1 {{\ncalc {work}\n}}\n")
    machine = Machine.from_toml(GOOD).with_noise(noise)
    finish = simulate(schedule, machine, seed=4).finish
    assert finish[0] != finish[1]
    assert finish.tolist() == simulate(schedule, machine, seed=4).finish.tolist()
    assert finish.tolist() != simulate(schedule, machine, seed=5).finish.tolist()
    spread = math.sqrt(work * 1000 / INTERVAL) * math.sqrt(2) * 250_000
    assert np.all(np.abs(finish - work * 1250) < 4 * spread)


@pytest.mark.parametrize(
    ("text", "interval", "length"),
    [
        ('rate = 100\nlength = "10us"', 1e10, FixedLength(10_000_000)),
        ('interval = "2ms"\nlength = "10us"', 2e9, FixedLength(10_000_000)),
        ('rate = 100\nlength = { distribution = "exponential", mean = "3us" }', 1e10, ExponentialLength(3e6)),
        (
            'rate = 100\nlength = { distribution = "exponential", mean = "3us", min = "1us" }',
            1e10,
            ExponentialLength(3e6, 1e6),
        ),
        (
            'rate = 100\nlength = { distribution = "uniform", min = "1us", max = "2us" }',
            1e10,
            UniformLength(10**6, 2 * 10**6),
        ),
        (
            'rate = 100\nlength = { distribution = "lognormal", median = "3us", sigma = 1 }',
            1e10,
            LognormalLength(3e6, 1.0),
        ),
        (
            'rate = 100\nlength = { distribution = "pareto", min = "3us", alpha = 2.5 }',
            1e10,
            ParetoLength(3e6, 2.5),
        ),
    ],
)
def test_a_machine_says_how_its_detours_come(text: str, interval: float, length: DetourLength) -> None:
    machine = Machine.from_toml(f'{GOOD}[noise]\nkind = "poisson"\n{text}\n')
    assert machine.noise == PoissonNoise(interval, length)


def test_lengths_are_listed_or_read_from_a_file_of_detours(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("start_ns,length_ns\n1.5,0.25\n1000,20\n")
    for law in ('lengths = ["250ps", "20ns"]', 'file = "n.csv"'):
        text = f'{GOOD}[noise]\nkind = "poisson"\nrate = 1\nlength = {{ distribution = "empirical", {law} }}\n'
        noise = Machine.from_toml(text, folder=tmp_path).noise
        assert isinstance(noise, PoissonNoise)
        assert isinstance(noise.length, EmpiricalLength)
        assert noise.length.lengths.tolist() == [250, 20_000]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('length = "1us"', "noise.interval: expected either a time, interval, or detours a second, rate"),
        ('rate = 1\ninterval = "1s"\nlength = "1us"', "noise.interval: expected either"),
        ('rate = 0\nlength = "1us"', "noise.rate: expected a number above 0, up to 9.2e18, found 0"),
        ('rate = 1e300\nlength = "1us"', "noise.rate: expected a number above 0, up to 9.2e18, found 1e\\+300"),
        ('rate = 1e12\nlength = "1us"', "noise.rate: expected 1 ns or more"),
        ('interval = "1ps"\nlength = "1us"', "noise.interval: expected 1 ns or more"),
        ("rate = 1", "noise.length: expected a time, or a table with a distribution, found nothing"),
        ('rate = 1\nlength = "1"', "noise.length: expected a time with a unit"),
        ("rate = 1\nlength = { }", "noise.length.distribution: expected one of exponential, uniform"),
        ('rate = 1\nlength = { distribution = "cauchy" }', "noise.length.distribution.*found 'cauchy'"),
        ('rate = 1\nlength = { distribution = "exponential", median = "1us" }', "noise.length.median is not known"),
        ('rate = 1\nlength = { distribution = "exponential" }', "noise.length.mean: expected a time with a unit"),
        ('rate = 1\nlength = { distribution = "uniform", min = "2us", max = "1us" }', "noise.length.max: expected"),
        (
            'rate = 1\nlength = { distribution = "exponential", mean = "2us", min = "3us" }',
            "noise.length.min: expected",
        ),
        ('rate = 1\nlength = { distribution = "pareto", min = "0s", alpha = 2 }', "noise.length.min: expected a time"),
        ('rate = 1\nlength = { distribution = "pareto", min = "1s", alpha = -1 }', "noise.length.alpha: expected"),
        ('rate = 1\nlength = { distribution = "empirical", lengths = [] }', "noise.length.lengths: expected a list"),
        ('rate = 1\nlength = { distribution = "empirical", file = "none.csv" }', "none.csv: cannot be read"),
        ('rate = 1\nlength = "1us"\nphase = ["1s"]', "noise.phase: expected random or same"),
        ('rate = 1\nlength = "1us"\nperiod = "1s"', "noise.period is not known here"),
        ('rate = 1\nlength = "1us"\nreaches = ["o"]', r"noise.reaches\[0\]: expected one of o_s, o_r, O, calc"),
        ('rate = 1\nlength = "1us"\nreaches = "calc"', "noise.reaches: expected a list"),
    ],
)
def test_what_is_wrong_with_random_detours_is_named(text: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        Machine.from_toml(f'{GOOD}[noise]\nkind = "poisson"\n{text}\n', name="m.toml")


def test_what_noise_reaches_is_said_by_machine_function_or_command(tmp_path: Path) -> None:
    noise = '[noise]\nkind = "periodic"\nperiod = "10us"\nlength = "1us"\nphase = ["9500ns"]\n'
    goal = "num_ranks 1\nrank 0 {\na: calc 2000\n}\n"
    schedule = Schedule.from_goal(goal)
    everywhere = Machine.from_toml(GOOD + noise)
    assert simulate(schedule, everywhere).finish.tolist() == [3_000_000]
    assert simulate(schedule, everywhere, noise_reaches=["o_s", "O"]).finish.tolist() == [2_000_000]
    machine = Machine.from_toml(f'{GOOD}{noise}reaches = ["o_s", "o_r"]\n')
    assert simulate(schedule, machine).finish.tolist() == [2_000_000]
    assert simulate(schedule, machine, noise_reaches=["calc"]).finish.tolist() == [3_000_000]
    with pytest.raises(UsageError, match="there is no 'o'"):
        simulate(schedule, machine, noise_reaches=["o"])
    (tmp_path / "m.toml").write_text(GOOD + noise)
    (tmp_path / "s.goal").write_text(goal)
    command = ("simulate", str(tmp_path / "s.goal"), "-m", str(tmp_path / "m.toml"), "--json")
    assert json.loads(run(*command).stdout)["finish_ps"] == [3_000_000]
    assert json.loads(run(*command, "--noise-reaches", "o_s,O").stdout)["finish_ps"] == [2_000_000]
    assert run(*command, "--noise-reaches", "o").returncode == 2


@pytest.fixture
def recorded(tmp_path: Path) -> Machine:
    """A machine with a recording of noise in a file."""
    (tmp_path / "noise.csv").write_text("start_ns,length_ns\n1000,500\n250000.5,1500\n")
    noise = '[noise]\nkind = "trace"\nperiod = "1ms"\nfile = "noise.csv"\n'
    return Machine.from_toml(GOOD + noise, folder=tmp_path)


def test_noise_of_a_file_is_arrays_for_who_reads_it(recorded: Machine) -> None:
    noise = recorded.noise
    assert isinstance(noise, Noise)
    for times, expected in ((noise.starts, [1_000_000, 250_000_500]), (noise.lengths, [500_000, 1_500_000])):
        assert isinstance(times, np.ndarray)
        assert times.dtype == np.int64
        assert times.tolist() == expected
    assert noise.starts is noise.starts
    assert noise.overhead == pytest.approx(0.002)
    with pytest.raises(AttributeError, match="'Noise' object has no attribute 'ends'"):
        _ = noise.ends  # type: ignore[attr-defined]


def test_noise_of_a_file_is_the_same_whether_or_not_it_was_read(recorded: Machine) -> None:
    schedule = Schedule.pattern("dissemination", ranks=16)

    def results(machine: Machine) -> tuple[str, list[int]]:
        return machine.identity(), simulate(schedule, machine, seed=3).finish.tolist()

    sent = pickle.loads(pickle.dumps(recorded))
    unread = results(recorded)
    assert "starts" not in vars(recorded.noise)
    assert recorded.noise is not None
    assert recorded.noise.overhead > 0
    assert repr(recorded.noise).startswith("Noise(starts=array(")
    noise = Noise(np.array([1_000_000, 250_000_500]), np.array([500_000, 1_500_000]), 10**9)
    again = replace(recorded)
    assert [results(sent), results(pickle.loads(pickle.dumps(again))), results(again)] == [unread] * 3
    assert results(recorded.with_noise(noise)) == unread


@pytest.mark.parametrize("typecode", ["i", "q", "d"])
def test_times_in_an_array_of_any_type_are_the_same_noise(typecode: str) -> None:
    machine = Machine.preset("odin")
    starts, lengths = [1000, 500_000], [2000, 3000]
    plain = machine.with_noise(Noise(np.array(starts), np.array(lengths), 10**6))
    given: Any = (array(typecode, starts), array(typecode, lengths))
    other = machine.with_noise(Noise(*given, 10**6))
    assert other.provenance.digests == plain.provenance.digests
    schedule = Schedule.pattern("dissemination", ranks=8)
    assert simulate(schedule, other).max_finish == simulate(schedule, plain).max_finish
