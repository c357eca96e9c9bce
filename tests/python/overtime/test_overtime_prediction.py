"""How well the next phases are predicted: of recordings in which that is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from idlewave.overtime.prediction import LEARN, errors, predictions
from idlewave.overtime.series import series_of
from overtime_recordings import COUNTER, recording_table


def next_errors(table: pd.DataFrame, test: str, counters: tuple[str, ...] = (COUNTER,)) -> pd.DataFrame:
    found = errors(predictions(table, series_of(table), counters))
    return found[(found["test"] == test) & (found["horizon"] == 1)].set_index("predictor")


def test_the_last_active_phase_predicts_what_stays_at_its_level() -> None:
    table = recording_table(300, steps={"latency": [(100, 2.0), (200, 0.8)]})
    found = next_errors(table, "latency")
    assert found.loc["active", "median_error"] < 0.04
    assert found.loc["active", "optimistic"] < 0.02
    assert found.loc["baseline", "median_error"] > 0.2
    assert found.loc["baseline", "optimistic"] > 0.3  # those of the level that was twice as slow


def test_counters_of_idle_phases_predict_what_they_drive() -> None:
    table = recording_table(300, driven=[("latency", 1, 0.2)], counters=3)
    names = tuple(name for name in table if name.startswith("counter."))
    found = next_errors(table, "latency", names)
    assert found.loc["idle", "median_error"] < 0.03
    assert found.loc["active", "median_error"] > 0.1
    assert found.loc["baseline", "median_error"] > 0.1


def test_counters_that_say_nothing_predict_no_worse_than_the_median_so_far() -> None:
    found = next_errors(recording_table(300, scatter=0.1, counters=1), "allreduce")
    assert found.loc["idle", "median_error"] < 1.2 * found.loc["baseline", "median_error"]


def test_a_level_that_no_counter_shows_is_predicted_optimistically_when_idle() -> None:
    found = next_errors(recording_table(200, steps={"bandwidth": [(100, 0.6)]}), "bandwidth")
    assert found.loc["idle", "optimistic"] > 0.3
    assert found.loc["active", "optimistic"] < 0.03
    assert found.loc["idle", "pessimistic"] == pytest.approx(0, abs=0.02)


def test_nothing_is_predicted_from_what_comes_later() -> None:
    table = recording_table(200, driven=[("latency", 1, 0.2)])
    until = 6 * 120
    changed = table.copy()
    later = changed["phase"] >= until
    changed.loc[later, "value"] *= 7
    changed.loc[later, COUNTER] *= 3
    first, second = (predictions(one, series_of(one), [COUNTER]) for one in (table, changed))
    before = first["phase"] < until
    assert before.sum() > 100
    assert first.loc[before, "predicted"].equals(second.loc[before, "predicted"])


def test_further_ahead_only_what_is_known_then_is_used() -> None:
    table = recording_table(400, driven=[("latency", 1, 0.2)])
    found = errors(predictions(table, series_of(table), [COUNTER], ahead_s=[0, 60]))
    idle = found[(found["test"] == "latency") & (found["predictor"] == "idle")].set_index("horizon")
    assert idle.index.tolist() == [1, 10]
    assert idle.loc[10, "ahead_s"] == pytest.approx(60)
    assert idle.loc[10, "median_error"] > 3 * idle.loc[1, "median_error"]


def test_optimistic_is_slower_than_predicted_or_of_less_bandwidth() -> None:
    rows = pd.DataFrame({"test": ["latency", "bandwidth"], "rank": 0, "peer": 1, "size": 8, "predictor": "active",
                         "horizon": 1, "ahead_s": 6.0, "predicted": 1.0, "came": 1.2})  # fmt: skip
    found = errors(rows, tolerance=0.1).set_index("test")
    assert found.loc["latency", ["optimistic", "pessimistic"]].tolist() == [1, 0]
    assert found.loc["bandwidth", ["optimistic", "pessimistic"]].tolist() == [0, 1]


def test_a_prediction_does_not_reach_into_another_run() -> None:
    table = recording_table(200)
    table.loc[table.index >= 600, "run"] = 1
    found = predictions(table, series_of(table), [COUNTER], ahead_s=[0])
    latency = found[(found["test"] == "latency") & (found["predictor"] == "active")]
    assert 600 not in set(latency["phase"])
    assert len(latency) == 200 - LEARN - 1 - 1


def test_a_recording_without_counters_or_with_few_phases_is_no_error() -> None:
    table = recording_table(100)
    assert set(predictions(table, series_of(table), [])["predictor"]) == {"active", "baseline"}
    short = recording_table(20)
    assert len(errors(predictions(short, series_of(short), [COUNTER]))) == 0


def test_a_counter_that_could_not_be_read_takes_its_phases_away() -> None:
    table = recording_table(200)
    table.loc[600:659, COUNTER] = np.nan
    found = predictions(table, series_of(table), [COUNTER], ahead_s=[0])
    gone = found[(found["phase"] > 602) & (found["phase"] <= 659)]
    assert len(gone) == 0
    assert len(found[found["phase"] > 670]) > 0
