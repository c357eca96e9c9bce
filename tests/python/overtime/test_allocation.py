"""Whether an allocation fits: by what it measures now, and by what the machine's history makes of that."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from command_runs import Ended, run_command
from idlewave.errors import InputError, UsageError
from idlewave.overtime.allocation import check_allocation, measure_allocation
from idlewave.overtime.needs import Need, parse_needs
from idlewave.overtime.recording import Recording
from overtime_recordings import recording_table, write_recording

ROUND_S = 120
"""Phases of 20 s: a day has 720 rounds."""


def recording(rounds: int, **truth: object) -> Recording:
    return Recording("made", recording_table(rounds, phase_s=ROUND_S / 6, **truth))  # type: ignore[arg-type]


def swinging(hours: int, slow: float) -> Recording:
    """Every other hour latency is so many times as slow."""
    steps = [(30 * hour, slow if hour % 2 else 1.0) for hour in range(hours)]
    return recording(30 * hours, steps={"latency": steps}, seed=3)


def test_needs_are_read_with_their_units() -> None:
    found = parse_needs("latency<3us, allreduce <= 50us,bandwidth>5GB/s, bandwidth@64KiB>800MB/s")
    assert found == [
        Need("latency<3us", "latency", 3e-6),
        Need("allreduce <= 50us", "allreduce", 5e-5),
        Need("bandwidth>5GB/s", "bandwidth", 5e9),
        Need("bandwidth@64KiB>800MB/s", "bandwidth", 8e8, 65536),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected needs such as"),
        ("latency<3us,", "expected needs such as"),
        ("latncy<3us", "'latncy<3us': no test is called 'latncy': did you mean 'latency'"),
        ("latency>3us", "'latency>3us': expected latency<, found '>'"),
        ("bandwidth<5GB/s", "'bandwidth<5GB/s': expected bandwidth>, found '<'"),
        ("latency<3", "'latency<3': expected a time with a unit .*found '3'"),
        ("latency<0us", "expected a limit above 0"),
        ("latency<5GB/s", "expected a time with a unit"),
        ("bandwidth>5GB", "expected bytes per second with a unit .*found '5GB'"),
        ("bandwidth>5Gbit/s", "expected bytes per second with a unit"),
        ("latency 3us", "'latency 3us': expected a test, < or >, and a limit"),
        ("bandwidth@big>5GB/s", "'bandwidth@big>5GB/s': expected bytes"),
    ],
)
def test_a_need_that_cannot_be_read_is_refused_by_name(text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        parse_needs(text)


def test_without_history_the_measurement_decides_and_the_probability_is_wide() -> None:
    now = recording(20)
    for limit, fit in (("3us", True), ("1.9us", False)):
        found = check_allocation(parse_needs(f"latency<{limit}"), now)
        assert found.fit is fit
        assert found.high - found.low > 0.8
        assert "there is no history" in found.notes[0]


def test_a_quiet_history_of_a_day_makes_a_need_probable() -> None:
    found = check_allocation(parse_needs("latency<3us,bandwidth>5GB/s"), recording(20), [recording(720)])
    assert found.fit
    assert found.probability > 0.9
    assert found.low > 0.6
    assert not found.notes


def test_a_history_of_swings_makes_unfit_what_is_met_now() -> None:
    now, history = recording(20), swinging(24, slow=2.0)
    found = check_allocation(parse_needs("latency<3us"), now, [history])
    assert found.needs["met"].iloc[0] == 1
    assert not found.fit
    assert found.probability < 0.5
    assert check_allocation(parse_needs("latency<5us"), now, [history]).fit


def test_the_probability_is_that_of_moments_like_the_present_one() -> None:
    """Of two levels, the slow one always stays, and the fast one always ends within the hour."""
    steps = [(0, 1.0)]
    for day in range(12):
        steps += [(180 * day + 15, 2.0), (180 * day + 165, 1.0)]
    history = recording(180 * 12, steps={"latency": steps}, seed=5)
    slow = recording(20, steps={"latency": [(0, 2.0)]})
    need = parse_needs("latency<4.5us")
    assert check_allocation(need, slow, [history]).probability > 0.8
    assert check_allocation(parse_needs("latency<3us"), recording(20), [history]).probability < 0.3


def test_a_history_too_short_for_the_probability_is_said() -> None:
    found = check_allocation(parse_needs("latency<3us"), recording(20), [recording(80)], probability=0.9)
    assert found.fit
    assert "too few to show a probability of 90 %" in found.notes[0]
    assert found.needs["hours"].iloc[0] in (1, 2)


def test_a_history_without_an_hour_or_of_another_size_is_said() -> None:
    short = check_allocation(parse_needs("latency<3us"), recording(20), [recording(20)])
    assert "no hour without interruption" in short.notes[0]
    other = recording(100)
    other.table.loc[other.table["test"] == "latency", "size"] = 64
    assert "no such phases" in check_allocation(parse_needs("latency<3us"), recording(20), [other]).notes[0]


def test_the_worst_pair_decides() -> None:
    near, distant = recording_table(20), recording_table(20, seed=2)
    distant = distant[distant["test"] == "latency"].assign(peer=5)
    distant["value"] *= 2
    now = Recording("made", pd.concat([near, distant]).sort_values("phase", kind="stable"))
    found = check_allocation(parse_needs("latency<3us"), now)
    assert not found.fit
    assert found.needs["peer"].iloc[0] == 5


def test_the_last_level_of_a_recording_counts_not_those_before() -> None:
    now = recording(60, steps={"latency": [(30, 2.0)]})
    assert not check_allocation(parse_needs("latency<3us"), now).fit


def test_what_was_not_measured_is_an_error() -> None:
    table = recording_table(10)
    now = Recording("made", table[table["test"] != "allreduce"])
    with pytest.raises(InputError, match="made: expected phases of allreduce, found none"):
        check_allocation(parse_needs("allreduce<1s"), now)
    with pytest.raises(InputError, match=r"expected latency of 16.B, found 8.B"):
        check_allocation(parse_needs("latency@16B<1s"), now)


def test_a_brief_measurement_has_rounds_enough_of_each_pair_and_no_idle_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def measure(folder: Path, **given: object) -> Recording:
        asked.update(given)
        assert folder.parent.is_dir()
        return recording(20)

    module = ModuleType("idlewave.measure.overtime")
    module.measure_overtime = measure  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found = measure_allocation(30.0, 9)
    assert check_allocation(parse_needs("latency<3us"), found).fit
    assert (asked["ranks"], asked["peers"], asked["idle"], asked["counters"]) == (9, 8, 0.0, [])
    rounds = asked["seconds"] / (3 * asked["phase"])
    assert rounds / asked["peers"] >= 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recording(tmp_path_factory.mktemp("now") / "now", recording_table(30))


def check(folder: Path, *words: str) -> Ended:
    return run_command(["check-allocation", "--from", str(folder), *words], folder)


@pytest.mark.parametrize(
    ("needs", "status"),
    [("latency<3us, allreduce<50us, bandwidth>5GB/s", 0), ("latency<3us,bandwidth>9GB/s", 1), ("latncy<3us", 2)],
)
def test_the_exit_status_is_for_a_job_s_prologue(folder: Path, needs: str, status: int) -> None:
    ended = check(folder, "--needs", needs)
    assert ended.status == status
    if status == 2:
        assert "latncy" in ended.complained
    else:
        assert ended.printed.splitlines()[-1].startswith(("fit: ", "unfit: bandwidth>9GB/s decides")[status])


def test_the_answer_as_json_has_what_decides(folder: Path) -> None:
    ended = check(folder, "--needs", "latency<1.5us,bandwidth>5GB/s", "--history", str(folder), "--json")
    said = json.loads(ended.printed)
    assert ended.status == 1
    assert said["fit"] is False
    assert said["decides"] == "latency<1.5us"
    assert [need["fit"] for need in said["needs"]] == [False, True]


def test_what_measures_has_no_meaning_beside_a_recording(folder: Path) -> None:
    ended = check(folder, "--needs", "latency<3us", "--seconds", "5")
    assert ended.status == 2
    assert "--from measures nothing" in ended.complained
