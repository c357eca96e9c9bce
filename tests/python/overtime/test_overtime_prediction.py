"""How well the next phases are predicted: of recordings in which that is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_runs import run_command
from idlewave.formatting import plain
from idlewave.measure.overtime.recording import OvertimeRecording
from idlewave.overtime.analysis import Analysis
from idlewave.overtime.findings import overtime_findings
from idlewave.overtime.idle_counters import idle_counters
from idlewave.overtime.prediction import LEARN, errors, predictions
from idlewave.overtime.series import series_of
from overtime_recordings import COUNTER, recording_table, write_recording


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
                         "horizon": 1, "ahead_s": 6.0, "predicted": 1.0, "observed": 1.2})  # fmt: skip
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


def predicted_by(table: pd.DataFrame, counters: list[str]) -> dict[str, int]:
    """How many next phases each predictor predicts."""
    found = predictions(table, series_of(table), counters, ahead_s=[0])
    return {str(name): len(rows) for name, rows in found.groupby("predictor")}


def test_where_no_counter_could_be_read_only_the_idle_predictor_is_missing() -> None:
    table = recording_table(200)
    whole = predicted_by(table, [COUNTER])
    table.loc[600:659, COUNTER] = np.nan
    found = predictions(table, series_of(table), [COUNTER], ahead_s=[0])
    gone = found[(found["phase"] > 602) & (found["phase"] <= 659)]
    assert set(gone["predictor"]) == {"active", "baseline"}
    assert predicted_by(table, [COUNTER]) == whole | {"idle": whole["idle"] - 30}


def test_counters_that_are_mostly_missing_are_left_out_and_counted() -> None:
    table = recording_table(300, driven=[("latency", 1, 0.2)], counters=3)
    names = [name for name in table if name.startswith("counter.")]
    without = predictions(table, series_of(table), names[:1])
    table.loc[table["phase"] % 10 != 1, names[1]] = np.nan
    table[names[2]] = np.nan
    pd.testing.assert_frame_equal(predictions(table, series_of(table), names), without)
    idle = idle_counters(table, names, least=15)
    assert (idle.used, idle.missing) == ((COUNTER,), tuple(names[1:]))
    assert plain(idle.sentences[0]).startswith("2 counters are missing in more than 20 % of the idle phases")


def test_what_is_missing_now_and_then_is_the_mean_of_what_was_seen() -> None:
    table = recording_table(300, driven=[("latency", 1, 0.2)], counters=2)
    names = [name for name in table if name.startswith("counter.")]
    table.loc[np.random.default_rng(1).random(len(table)) < 0.1, names[1]] = np.nan
    assert next_errors(table, "latency", tuple(names)).loc["idle", "median_error"] < 0.03


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda table: table[table["test"] != "idle"], "the recording has no idle phases"),
        (lambda table: table.assign(**{COUNTER: np.nan}), "in no idle phase could counters be read"),
        (lambda table: table.assign(**{COUNTER: 0.0}), "no counter grew in any idle phase"),
        (
            lambda table: table.assign(**{COUNTER: table[COUNTER].where(table["phase"] < 10)}),
            "in only 5 idle phases could counters be read",
        ),
        (lambda table: table.drop(columns=COUNTER), "the recording has no counters"),
    ],
)
def test_without_counters_when_idle_the_others_still_predict_and_why_is_said(change, why: str, tmp_path: Path) -> None:
    table = change(recording_table(100))
    counters = [name for name in table if name.startswith("counter.")]
    assert predicted_by(table, counters) == {"active": 3 * 69, "baseline": 3 * 69}
    said = overtime_findings(Analysis(OvertimeRecording("made", table, {}, tuple(counters))))
    assert ("predictions", f"Counters of idle phases predict nothing: {why}.") in said
    ended = run_command(["overtime", "predict", str(write_recording(tmp_path / "r", table))], tmp_path)
    assert ended.status == 0, ended.complained
    assert why in ended.printed + ended.complained


def test_no_regression_is_fitted_across_an_interruption() -> None:
    """Rates just before an interruption say nothing of values after it, so what they are changes no prediction."""
    table = recording_table(400, driven=[("latency", 1, 0.2)])
    table["run"] = np.searchsorted([6 * 150, 6 * 250], table["phase"], side="right").astype("int32")
    changed = table.copy()
    for begin in (6 * 150, 6 * 250):
        changed.loc[(begin - 6 * 9 <= table["phase"]) & (table["phase"] < begin), COUNTER] *= 1e6
    first, second = (predictions(one, series_of(one), [COUNTER], ahead_s=[60]) for one in (table, changed))
    assert set(first["horizon"]) == {10}
    assert (first["predictor"] == "idle").sum() > 900
    pd.testing.assert_frame_equal(first, second)


def test_no_run_is_predicted_from_another_but_by_the_median_so_far() -> None:
    table = recording_table(200)
    table["run"] = (table["phase"] // 60).astype("int32")
    assert len(predictions(table, series_of(table), [COUNTER], ahead_s=[60])) == 0
