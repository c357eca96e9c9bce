"""Counters that drive performance are found with their lag, and others are not."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from idlewave.measure.overtime.recording import OvertimeRecording
from idlewave.multiple_tests import holm
from idlewave.overtime import correlation
from idlewave.overtime.analysis import Analysis
from idlewave.overtime.correlation import LEAST_BLOCKS, LEVEL, block_length, correlations
from idlewave.overtime.findings import counters_finding
from idlewave.overtime.series import Series, series_of
from long_cases import most_long
from overtime_recordings import COUNTER, ar1, recording_table
from scipy.stats import rankdata


def counters_of(table: pd.DataFrame) -> list[str]:
    return [name for name in table if name.startswith("counter.")]


@pytest.mark.parametrize("lag", [0, 1, 2, 5, 7, 12])
@pytest.mark.parametrize("strength", [0.03, -0.03])
def test_a_planted_lag_is_found_exactly(lag: int, strength: float) -> None:
    table = recording_table(120, driven=[("latency", lag, strength)], counters=4)
    found = correlations(table, series_of(table), counters_of(table), permutations=999)
    significant = found[found["p_holm"] <= LEVEL]
    assert significant[["test", "counter", "lag"]].to_numpy().tolist() == [["latency", "net.stalls", lag]]
    assert np.sign(significant["correlation"].iloc[0]) == np.sign(strength)


def test_a_counter_of_another_run_is_not_before_a_phase() -> None:
    table = recording_table(60, driven=[("latency", 1, 0.05)])
    table.loc[table.index >= 180, "run"] = 1
    found = correlations(table, series_of(table), [COUNTER], permutations=200)
    own = found[found["test"] == "latency"].set_index("lag")["phases"]
    assert own[0] == 60
    assert own[1] == 58  # neither the first phase of the recording nor that of the second run


def test_a_counter_that_could_not_be_read_for_a_while_is_judged_by_the_rest() -> None:
    table = recording_table(120, driven=[("allreduce", 1, 0.1)])
    table.loc[100:400, COUNTER] = np.nan
    found = correlations(table, series_of(table), [COUNTER], permutations=999)
    significant = found[found["p_holm"] <= LEVEL]
    assert significant[["test", "lag"]].to_numpy().tolist() == [["allreduce", 1]]


def test_a_counter_that_never_changes_has_no_correlation() -> None:
    table = recording_table(60).assign(**{COUNTER: 0.0})
    found = correlations(table, series_of(table), [COUNTER], permutations=50)
    assert found["correlation"].isna().all()
    assert found["p"].isna().all()


def cycles(count: int, shortest: float, longest: float, random: np.random.Generator) -> np.ndarray:
    """Cycles of one length between both, from a random place on, with as much scatter as they are high."""
    place = np.arange(count) / random.uniform(shortest, longest) + random.random()
    return np.sin(2 * np.pi * place) + random.normal(size=count)


MADE = {
    "independent": (60, lambda count, random: random.normal(size=count)),
    "correlated by 0.5": (120, lambda count, random: ar1(count, 0.5, random)),
    "correlated by -0.6": (160, lambda count, random: ar1(count, -0.6, random)),
    "correlated by -0.9": (200, lambda count, random: ar1(count, -0.9, random)),
    "cycles of 38 to 42": (200, lambda count, random: cycles(count, 38, 42, random)),
    "cycles of 4.02": (200, lambda count, random: cycles(count, 4.02, 4.02, random)),
}
CASES = [(kind, 60) for kind in MADE] + [(kind, 1000) for kind in MADE]


@pytest.mark.slow
@pytest.mark.parametrize("case", most_long(CASES, len(MADE)), ids=lambda case: f"{case[0]}-{case[1]}")
def test_no_more_recordings_than_stated_have_a_counter_that_goes_with_nothing(case: tuple[str, int]) -> None:
    kind, recordings = case
    count, made = MADE[kind]
    random = np.random.default_rng(1)
    counters, lags = 3, 3
    at = np.arange(count, dtype=np.int64)
    starts, lengths = 10**9 * at, np.full(count, 10**9)
    table = pd.DataFrame({"phase": at, "run": 0, "length_ns": lengths})
    names = [f"counter.made.{number}" for number in range(counters)]
    false_alarms = 0
    for seed in range(recordings):
        value = np.exp(0.1 * made(count, random))
        own = table.assign(**{name: np.exp(made(count, random)) for name in names})
        one = Series("latency", 0, 1, 8, 0 * at, at, starts, lengths, value)
        found = correlations(own, [one], names, lags=lags, permutations=119, seed=seed)
        false_alarms += bool((found["p_holm"] <= LEVEL).any())
    assert false_alarms <= recordings * LEVEL + 3 * np.sqrt(recordings * LEVEL * (1 - LEVEL))


def test_a_series_of_cycles_is_one_block_and_others_have_many() -> None:
    random = np.random.default_rng(4)
    run = np.zeros(300, dtype=np.int64)
    for length in (3.0, 4.02, 40.0):
        assert block_length(rankdata(cycles(300, length, length, random)), run) == 300
    for correlation_of_successive in (-0.6, 0.0, 0.5):
        assert block_length(rankdata(ar1(300, correlation_of_successive, random)), run) <= 300 / LEAST_BLOCKS


def test_values_that_go_with_the_second_before_them_are_permuted_in_blocks() -> None:
    random = np.random.default_rng(3)
    values = np.stack([ar1(200, 0.5, random), ar1(200, 0.5, random)], axis=1).ravel()
    assert block_length(rankdata(values), np.zeros(400, dtype=np.int64)) >= 10


def test_what_goes_with_performance_is_significant_among_thousands_of_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    """More permutations are made for the few counters that none of the first ones reached."""
    count, random = 60, np.random.default_rng(5)
    at = np.arange(count, dtype=np.int64)
    value = np.exp(random.normal(size=count))
    names = [f"counter.made.{number}" for number in range(1500)]
    columns = {name: random.random(count) for name in names} | {names[7]: value}
    table = pd.DataFrame({"phase": at, "run": 0, "length_ns": 10**9, **columns})
    one = Series("latency", 0, 1, 8, 0 * at, at, 10**9 * at, np.full(count, 10**9), value)
    monkeypatch.setattr(correlation, "_MOST_OF_ALL", 1000)
    found = correlations(table, [one], names, lags=0)
    assert found.loc[found["p_holm"] <= LEVEL, "counter"].tolist() == ["made.7"]
    assert found["p"].min() == pytest.approx(1 / 60_001)


def test_pairs_too_many_to_be_judged_are_said_to_be_that(monkeypatch: pytest.MonkeyPatch) -> None:
    table = recording_table(40, counters=4)
    monkeypatch.setattr(correlation, "PERMUTATIONS", 100)
    monkeypatch.setattr(correlation, "MOST_PERMUTATIONS", 100)
    said = counters_finding(Analysis(OvertimeRecording("made", table, counters=tuple(counters_of(table)))))
    assert said.startswith("None of 12 pairs of a counter and a series can be judged: of more than 5 none can be")


def test_blocks_are_longer_than_a_series_is_autocorrelated() -> None:
    random = np.random.default_rng(2)
    one_run = np.zeros(500, dtype=np.int64)
    assert block_length(random.normal(size=500), one_run) <= 6
    values = ar1(500, 0.8, random)
    assert block_length(values, one_run) >= 20
    assert block_length(values, np.arange(500) // 250) == pytest.approx(block_length(values, one_run), rel=0.5)
    assert block_length(values, np.arange(500)) == 1  # nothing follows anything


def test_of_a_recording_interrupted_twice_no_phases_of_two_runs_are_compared() -> None:
    """Counters of the end of a run say nothing of the beginning of the next one, whatever they are."""
    table = recording_table(90, driven=[("latency", 2, 0.05)])
    table["run"] = np.searchsorted([6 * 30, 6 * 60], table["phase"], side="right").astype("int32")
    found = correlations(table, series_of(table), [COUNTER], permutations=200)
    phases = found[found["test"] == "latency"].set_index("lag")["phases"]
    assert phases.tolist() == [90, *[87] * 6, *[84] * 6]
    changed = table.copy()
    last = np.isin(table["phase"], [6 * 30 - 1, 6 * 60 - 1])  # idle phases, just before those of latency
    changed.loc[last, COUNTER] *= 1e6
    again = correlations(changed, series_of(changed), [COUNTER], permutations=200)
    first = [(one["test"] == "latency") & (one["lag"] == 1) for one in (found, again)]
    assert found[first[0]]["correlation"].tolist() == again[first[1]]["correlation"].tolist()


def test_counters_are_compared_in_groups_without_other_results(monkeypatch: pytest.MonkeyPatch) -> None:
    table = recording_table(60, driven=[("latency", 1, 0.05)], counters=5)
    whole = correlations(table, series_of(table), counters_of(table), permutations=200)
    monkeypatch.setattr(correlation, "_NUMBERS", 2 * 60 * 13)
    pd.testing.assert_frame_equal(
        correlations(table, series_of(table), counters_of(table), permutations=200), whole, rtol=1e-12
    )


@pytest.mark.slow
@pytest.mark.long
def test_memory_does_not_grow_with_phases_times_counters_times_lags() -> None:
    """5,000 phases of 300 counters with 13 lags are 156 MB a matrix, of which at least four would be needed."""
    count, random = 5000, np.random.default_rng(1)
    at = np.arange(count, dtype=np.int64)
    names = [f"counter.made.{number}" for number in range(300)]
    columns = {"phase": at, "run": np.zeros(count, dtype=np.int32), "length_ns": np.full(count, 10**9)}
    table = pd.DataFrame({**columns, **{name: random.random(count) for name in names}})
    one = Series("latency", 0, 1, 8, 0 * at, at, 10**9 * at, columns["length_ns"], random.random(count) + 1)
    tracemalloc.start()
    try:
        found = correlations(table, [one], names, permutations=2)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == 300 * 13
    assert most < 5 * 8 * correlation._NUMBERS  # five matrices of doubles: 168 MB


def test_a_series_that_is_autocorrelated_too_long_gets_no_p_value() -> None:
    table = recording_table(60, steps={"latency": [(30, 3.0)]}, driven=[("bandwidth", 1, 0.1)])
    found = correlations(table, series_of(table), [COUNTER], permutations=200)
    judged = found[found["strongest"]].set_index("test")["p"].notna().to_dict()
    assert judged == {"latency": False, "bandwidth": True, "allreduce": True}


def test_p_values_are_corrected_as_Holm_did() -> None:
    corrected = holm(pd.Series([0.01, np.nan, 0.04, 0.03, 0.005]))
    assert corrected == pytest.approx([0.03, np.nan, 0.06, 0.06, 0.02], nan_ok=True)
