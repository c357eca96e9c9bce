"""Changes of performance are found where they were planted, and hardly ever where there are none."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from idlewave.formatting import plain
from idlewave.overtime.changes import (
    CORRELATED_FALSE_ALARMS,
    FALSE_ALARMS,
    LEAST,
    change_points,
    drift,
    levels,
    stability,
    summary,
)
from idlewave.overtime.series import Series, series_of
from idlewave.overtime.wording import recorded_text
from long_cases import most_long
from overtime_recordings import ar1, phases, recording_table

SERIES = 1000


def independent(kind: str, count: int, random: np.random.Generator) -> np.ndarray:
    if kind == "normal":
        return np.exp(0.02 * random.normal(size=count))
    if kind == "heavy tail":
        return 1 + 0.05 * random.pareto(1.5, size=count)
    if kind == "two modes":
        return np.where(random.random(count) < 0.3, 1.3, 1.0) * np.exp(0.01 * random.normal(size=count))
    return np.round(20 + random.normal(size=count))  # whole ticks of a coarse clock


def alarms_at_most(rate: float) -> float:
    """So many of the series at most, if the rate is true: three standard deviations more."""
    return SERIES * rate + 3 * np.sqrt(SERIES * rate * (1 - rate))


@pytest.mark.slow
@pytest.mark.parametrize("kind", most_long(["normal", "heavy tail", "two modes", "whole ticks"], 1))
def test_independent_series_of_any_distribution_have_no_more_false_alarms_than_stated(kind: str) -> None:
    random = np.random.default_rng(1)
    found = sum(len(change_points(independent(kind, 60, random))) > 0 for _ in range(SERIES))
    assert found <= alarms_at_most(FALSE_ALARMS)


@pytest.mark.long
@pytest.mark.slow
def test_nor_do_weakly_correlated_ones() -> None:
    random = np.random.default_rng(2)
    found = sum(len(change_points(np.exp(0.02 * ar1(60, 0.3, random)))) > 0 for _ in range(SERIES))
    assert found <= alarms_at_most(CORRELATED_FALSE_ALARMS)


def test_planted_changes_are_found_within_one_phase() -> None:
    random = np.random.default_rng(3)
    for _ in range(40):
        places = np.sort(random.choice(np.arange(20, 290, 18), 4, replace=False))
        steps = random.choice([-1, 1], 4) * random.uniform(0.2, 0.6, 4)
        logs = np.repeat(np.concatenate(([0], np.cumsum(steps))), np.diff([0, *places, 300]))
        found = change_points(np.exp(logs + 0.02 * random.normal(size=300)))
        assert len(found) == 4
        assert np.abs(found - places).max() <= 1


def test_outliers_are_no_changes_and_hide_none() -> None:
    random = np.random.default_rng(4)
    values = np.repeat([1.0, 1.2], 100) * np.exp(0.02 * random.normal(size=200))
    values[random.choice(np.concatenate((np.arange(90), np.arange(110, 200))), 12, replace=False)] *= 4
    found = change_points(values)
    assert len(found) == 1
    assert abs(found[0] - 100) <= 1


def test_what_lasts_less_than_a_level_is_no_change() -> None:
    values = np.exp(0.02 * np.random.default_rng(5).normal(size=100))
    values[50 : 50 + LEAST // 2] *= 3
    assert len(change_points(values)) == 0


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 9, [1.0] * 100])
def test_too_few_or_equal_values_have_no_change(values: list[float]) -> None:
    assert len(change_points(np.array(values))) == 0


@pytest.mark.parametrize(
    "lengths",
    [(200, 200), (20, 20), (10, 10), (200, 200, 100), (30, 30, 30, 30)],
    ids=lambda case: "-".join(map(str, case)),
)
@pytest.mark.filterwarnings("error")
def test_levels_without_any_scatter_are_found_exactly(lengths: tuple[int, ...]) -> None:
    values = np.repeat([1.0, 2.0, 4.0, 3.0][: len(lengths)], lengths)
    assert change_points(values).tolist() == np.cumsum(lengths)[:-1].tolist()


@pytest.mark.parametrize("count", [20, 40, 400])
@pytest.mark.filterwarnings("error")
def test_one_outlier_in_a_series_without_scatter_is_no_change_and_hides_none(count: int) -> None:
    for place in (0, 3, count // 2, count - 1):
        values = np.ones(count)
        values[place] = 5
        assert not len(change_points(values))
    values = np.repeat([1.0, 2.0], count)
    values[count // 2] = 7
    assert change_points(values).tolist() == [count]


def test_levels_say_when_they_began_how_long_they_lasted_and_how_large_the_step_was() -> None:
    series = series_of(recording_table(200, steps={"latency": [(60, 1.5), (120, 1.1)]}))
    found = levels(series)
    latency = found[found["test"] == "latency"]
    assert latency["phases"].tolist() == pytest.approx([60, 60, 80], abs=2)
    assert latency["first_phase"].tolist()[1] == pytest.approx(6 * 60, abs=6)
    assert latency["seconds"].tolist()[:2] == pytest.approx([360, 360], abs=12)
    assert latency["step"].tolist()[1:] == pytest.approx([1.5, 1.1 / 1.5], rel=0.03)
    assert latency["whole"].tolist() == [False, True, False]
    about = summary(series, found).set_index("test")
    assert about["changes"].to_dict() == {"latency": 2, "bandwidth": 0, "allreduce": 0}


def test_an_interruption_ends_a_level_without_being_a_change() -> None:
    table = recording_table(60)
    table.loc[table.index >= 180, "run"] = 1
    found = levels(series_of(table))
    assert len(found) == 2 * 3
    assert not found["by_change"].any()
    assert not found["whole"].any()


def test_a_recording_interrupted_twice_has_no_change_at_an_interruption_and_others_in_each_run() -> None:
    """Performance changes with the first interruption, within the second run, and not with the second interruption."""
    table = recording_table(180, steps={"latency": [(60, 1.5), (90, 1.2)]})
    table["run"] = np.searchsorted([6 * 60, 6 * 120], table["phase"], side="right").astype("int32")
    later = np.array([0, 3600, 7200])[table["run"]] * 10**9
    table["start_ns"] += later
    series = series_of(table)
    found = levels(series)
    own = found[found["test"] == "latency"]
    assert own["phases"].tolist() == pytest.approx([60, 30, 30, 60], abs=1)
    assert own["by_change"].tolist() == [False, False, True, False]
    assert np.isnan(own["step"].to_numpy()[[0, 1, 3]]).all()
    assert own["step"].iloc[2] == pytest.approx(1.2 / 1.5, rel=0.03)
    assert not own["whole"].any()
    assert own["seconds"].sum() == pytest.approx(180 * 6, abs=20)  # not the hours between the runs
    assert summary(series, found).set_index("test")["changes"].to_dict() == {
        "latency": 1,
        "bandwidth": 0,
        "allreduce": 0,
    }


def test_the_time_that_levels_last_counts_those_that_were_cut_off() -> None:
    random = np.random.default_rng(6)
    lengths = np.maximum(20, random.exponential(50, size=60).astype(int))
    logs = np.repeat(np.tile([0.0, 0.4], 30), lengths)
    values = np.exp(logs + 0.02 * random.normal(size=len(logs)))
    count = len(values)
    at = np.arange(count, dtype=np.int64)
    one = Series("latency", 0, 1, 8, 0 * at, 6 * at, 10**9 * at, np.full(count, 10**9), values)
    found = stability(levels([one])).iloc[0]
    assert found["levels"] == 60
    assert found["whole"] == 58
    assert found["p50_s"] == pytest.approx(np.median(lengths), rel=0.1)


def test_levels_that_never_ended_have_no_quantiles() -> None:
    found = stability(levels(series_of(recording_table(60))))
    assert found["p50_s"].isna().all()
    assert found["longest_s"].tolist() == pytest.approx([355] * 3, abs=1)


def test_a_planted_drift_lies_in_its_interval_and_outliers_do_not_move_it() -> None:
    table = recording_table(300, drift_per_h=0.3)
    latency = table["test"] == "latency"
    table.loc[latency & (table["phase"] % 60 == 0), "value"] *= 10
    for one in series_of(table):
        found = drift(one)
        assert found.low < found.per_hour < found.high
        assert found.per_hour == pytest.approx(0.3, abs=0.05)


def test_the_hours_of_a_recording_are_those_of_its_runs() -> None:
    """Ten runs of six minutes, 30 hours apart."""
    runs = [recording_table(60, seed=run).assign(run=run) for run in range(10)]
    for run, table in enumerate(runs):
        table["start_ns"] += 30 * 3600 * 10**9 * run
        table["phase"] += 360 * run
    found = series_of(pd.concat(runs))
    about = summary(found, levels(found)).iloc[0].to_dict()
    assert about["hours"] == pytest.approx(1, rel=0.02)
    assert about["span_hours"] == pytest.approx(270, rel=0.01)
    assert re.fullmatch(r"59.\d min \(within 11.3 d\)", plain(recorded_text(about)))


def test_seconds_say_nothing_of_a_drift_by_the_hour() -> None:
    one = series_of(recording_table(20, phase_s=0.05, steps={"latency": [(10, 0.5)]}))[0]
    assert np.isnan(drift(one)).all()


def test_the_interval_of_a_drift_has_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    table = phases(80)
    rows = table[table["test"] == "latency"]
    columns = {name: rows[name].to_numpy() for name in ("run", "phase", "start_ns", "length_ns")}
    inside = 0
    for _ in range(200):
        one = Series("latency", 0, 1, 8, **columns, value=np.exp(0.05 * random.normal(size=80)))
        inside += drift(one).low <= 0 <= drift(one).high
    assert inside >= 200 * 0.95 - 3 * np.sqrt(200 * 0.95 * 0.05)
