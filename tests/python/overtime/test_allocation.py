"""Whether an allocation fits: by what it measures now, and by what the machine's history makes of that."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command_runs import Ended, run_command
from idlewave.errors import InputError, MeasurementError, UsageError
from idlewave.formatting import plain
from idlewave.measure.overtime.recording import OvertimeRecording
from idlewave.overtime.allocation import check_allocation
from idlewave.overtime.brief_measurement import LEAST_OF_PAIR, LEAST_ROUNDS, SHORTEST_PHASE, measure_allocation
from idlewave.overtime.needs import Need, parse_needs
from idlewave.overtime.wording import unfit_sentences
from overtime_recordings import BASE, TESTS, recording_table, write_recording

ROUND_S = 120
"""Phases of 20 s: a day has 720 rounds."""


def recording(rounds: int, **truth: object) -> OvertimeRecording:
    return OvertimeRecording("made", recording_table(rounds, phase_s=ROUND_S / 6, **truth))  # type: ignore[arg-type]


def swinging(hours: int, slow: float) -> OvertimeRecording:
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


def test_needs_may_be_given_as_text() -> None:
    found = check_allocation("latency<3us, bandwidth>9GB/s", recording(20))
    assert found.needs["fit"].tolist() == [True, False]
    with pytest.raises(UsageError, match="expected needs such as"):
        check_allocation("", recording(20))


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


def test_runs_of_minutes_with_hours_between_them_have_no_hour() -> None:
    """Ten runs of six minutes, each five hours after the one before."""
    runs = [recording_table(30, seed=run, phase_s=2.0).assign(run=run) for run in range(10)]
    for run, table in enumerate(runs):
        table["phase"] += 180 * run
        table["start_ns"] += 5 * 3600 * 10**9 * run
    found = check_allocation(parse_needs("latency<3us"), recording(20), [OvertimeRecording("made", pd.concat(runs))])
    assert found.needs["hours"].iloc[0] == 0
    assert "no hour without interruption" in found.notes[0]


def test_a_history_without_an_hour_or_of_another_size_is_said() -> None:
    short = check_allocation(parse_needs("latency<3us"), recording(20), [recording(20)])
    assert "no hour without interruption" in short.notes[0]
    other = recording(100)
    other.table.loc[other.table["test"] == "latency", "size"] = 64
    assert "no such phases" in check_allocation(parse_needs("latency<3us"), recording(20), [other]).notes[0]


def test_what_all_needs_hold_with_is_the_lowest_probability_whichever_decides() -> None:
    """Latency is unlikely to stay; then bandwidth is too low beside."""
    now, history = recording(20), swinging(48, slow=2.0)
    found = check_allocation(parse_needs("latency<3us,bandwidth>5GB/s"), now, [history], probability=0.01)
    assert found.fit
    assert found.decides == "latency<3us"
    one = check_allocation(parse_needs("latency<3us,bandwidth>8.5GB/s"), now, [history], probability=0.01)
    assert not one.fit
    assert one.decides == "bandwidth>8.5GB/s"
    assert one.probability == one.needs["probability"].min()


def test_the_worst_pair_decides() -> None:
    near, distant = recording_table(20), recording_table(20, seed=2)
    distant = distant[distant["test"] == "latency"].assign(peer=5)
    distant["value"] *= 2
    now = OvertimeRecording("made", pd.concat([near, distant]).sort_values("phase", kind="stable"))
    found = check_allocation(parse_needs("latency<3us"), now)
    assert not found.fit
    assert found.needs["peer"].iloc[0] == 5


def test_the_last_level_of_a_recording_counts_not_those_before() -> None:
    now = recording(60, steps={"latency": [(30, 2.0)]})
    assert not check_allocation(parse_needs("latency<3us"), now).fit


def test_a_recording_without_phases_is_an_error_that_names_it() -> None:
    with pytest.raises(InputError, match="made: expected at least one phase, found none"):
        check_allocation("latency<3us", recording(20), [OvertimeRecording("made", recording(2).table.head(0))])


def test_what_was_not_measured_is_an_error() -> None:
    table = recording_table(10)
    now = OvertimeRecording("made", table[table["test"] != "allreduce"])
    with pytest.raises(InputError, match="made: expected phases of allreduce, found none"):
        check_allocation(parse_needs("allreduce<1s"), now)
    with pytest.raises(InputError, match=r"expected latency of 16.B, found 8.B"):
        check_allocation(parse_needs("latency@16B<1s"), now)


def test_an_interruption_ends_the_present_level() -> None:
    now = recording(60, steps={"latency": [(40, 2.0)]})
    now.table.loc[now.table["phase"] >= 6 * 50, "run"] = 1
    row = check_allocation(parse_needs("latency<5us"), now).needs.iloc[0]
    assert row["phases"] == 10
    assert row["level"] == pytest.approx(4e-6, rel=0.03)


def test_no_hour_of_history_reaches_across_an_interruption() -> None:
    """Three runs of 50 min have none, and of three runs of 70 min only the moments of the first ten minutes count."""
    for rounds, hours in ((25, 0), (35, 3)):
        history = recording(3 * rounds)
        history.table["run"] = history.table["phase"] // (6 * rounds)
        found = check_allocation(parse_needs("latency<3us"), recording(3), [history])
        assert found.needs["hours"].tolist() == [hours]


def test_a_level_of_fewer_phases_than_a_verdict_needs_is_said() -> None:
    found = check_allocation(parse_needs("latency<3us"), recording(3))
    assert "the present level is that of 3 phases only" in plain(found.notes[0])


@dataclass
class Measured:
    """A measurement as it was asked for; every phase takes `beyond` seconds more than it should."""

    beyond: float = 0.0
    asked: dict[str, Any] = field(default_factory=dict)

    def __call__(self, folder: Path, _mpi: object, **given: Any) -> OvertimeRecording:
        self.asked = given
        assert folder.parent.is_dir()
        each = given["phase"] + 0.012 + self.beyond
        phases = int(given["seconds"] / each)
        number = np.arange(phases)
        test = np.array(TESTS)[number % 3]
        peer = given["ranks"] - given["peers"] + number // 3 % given["peers"]
        start = (number * each * 1e9).astype("int64")
        table = pd.DataFrame({"run": 0, "phase": number, "start_ns": start, "test": test})
        table["length_ns"] = round((given["phase"] + self.beyond) * 1e9)
        everyone = test == "allreduce"
        table["rank"], table["peer"] = np.where(everyone, -1, 0), np.where(everyone, -1, peer)
        sizes = dict(zip(TESTS, given["sizes"], strict=True))
        table["size"] = [sizes[name] for name in test]
        table["value"] = [BASE[name] for name in test]
        return OvertimeRecording("made", table, {"settings": {"ranks": given["ranks"]}})


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measured:
    found = Measured()
    module = ModuleType("idlewave.measure.overtime")
    module.measure_overtime = found  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return found


@pytest.mark.parametrize("seconds", [2.1, 3.0, 10.0, 60.0, 3600.0])
@pytest.mark.parametrize("ranks", [2, 3, 9, 64, 1000])
def test_a_brief_measurement_has_phases_enough_of_each_pair(measured: Measured, ranks: int, seconds: float) -> None:
    now = measure_allocation(parse_needs("latency<3us"), seconds, ranks)
    assert (measured.asked["ranks"], measured.asked["idle"], measured.asked["counters"]) == (ranks, 0.0, [])
    peers = measured.asked["peers"]
    for test in TESTS:
        phases = now.table[now.table["test"] == test].groupby("peer").size()
        assert len(phases) == (1 if test == "allreduce" else peers)
        assert phases.sum() >= LEAST_ROUNDS
        assert phases.min() >= LEAST_OF_PAIR
    said = f"exchanged with the last {peers}" in "".join(now.notes)
    assert said is (peers < ranks - 1)


def test_many_ranks_or_little_time_mean_shorter_phases_and_then_fewer_pairs(measured: Measured) -> None:
    plans = []
    for seconds in (120.0, 60.0, 10.0):
        now = measure_allocation((), seconds, 65)
        plans.append((measured.asked["peers"], measured.asked["phase"]))
    assert [peers for peers, _ in plans] == [64, 64, 19]
    assert plans[0][1] > plans[1][1] > plans[2][1] >= SHORTEST_PHASE
    said = "in 10 s rank 0 exchanged with the last 19 ranks of 65 only; all of them need 33 s"
    assert plain(now.notes[-1]) == said


def test_too_little_time_for_any_pair_is_refused_with_what_is_needed(measured: Measured) -> None:
    with pytest.raises(UsageError, match=r"9 ranks need at least 2.1 s for 20 rounds .*, found 1.5 s"):
        measure_allocation((), 1.5, 9)
    assert not measured.asked


def test_phases_that_take_longer_than_planned_are_refused_with_a_time_that_is_enough(measured: Measured) -> None:
    measured.beyond = 0.5
    with pytest.raises(
        MeasurementError, match=r"expected at least .* found .*: here 3 ranks need about (\d+) s"
    ) as said:
        measure_allocation((), 10.0, 3)
    enough = re.search(r"about (\d+) s", str(said.value))
    assert enough is not None
    assert check_allocation(parse_needs("latency<3us"), measure_allocation((), float(enough[1]), 3)).fit


def test_the_sizes_that_needs_name_are_measured(measured: Measured) -> None:
    needs = parse_needs("bandwidth@64KiB>1GB/s,latency<3us")
    assert check_allocation(needs, measure_allocation(needs)).needs["size"].tolist() == [65536, 8]
    assert measured.asked["sizes"] == (8, 65536, 8)
    with pytest.raises(UsageError, match="expected needs of one size of bandwidth"):
        measure_allocation(parse_needs("bandwidth@64KiB>1GB/s,bandwidth@1MiB>2GB/s"))


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.long
def test_ranks_of_a_real_mpi_are_judged_in_the_time_given(tmp_path: Path) -> None:
    words = ["check-allocation", "--needs", "latency<1s,allreduce<1s,bandwidth>1B/s", "--for", "6s", "-n", "3"]
    ended = run_command([*words, "--json"], tmp_path)
    assert ended.status == 0, ended.complained
    said = json.loads(ended.printed)
    assert said["because"] == []
    assert all(need["phases"] >= LEAST_OF_PAIR for need in said["needs"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recording(tmp_path_factory.mktemp("now") / "now", recording_table(30))


def check(folder: Path, *words: str) -> Ended:
    return run_command(["check-allocation", "--from", str(folder), *words], folder)


@pytest.mark.parametrize(
    ("needs", "status"),
    [("latency<3us, allreduce<50us, bandwidth>5GB/s", 0), ("latency<3us,bandwidth>9GB/s", 1), ("latncy<3us", 2)],
)
def test_the_exit_status_says_before_a_job_s_program_whether_it_fits(folder: Path, needs: str, status: int) -> None:
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


def test_an_unfit_allocation_is_said_by_pair_value_and_need(folder: Path) -> None:
    ended = check(folder, "--needs", "latency<3us,bandwidth>9GB/s")
    said = plain(ended.printed)
    assert re.search(
        r"• bandwidth, 1 MiB, ranks 0 and 1 \(a and b\): (7.9|8.0|8)\d? GB/s measured, > 9 GB/s needed\.", said
    )
    assert "• latency" not in said


def test_what_is_met_now_and_will_not_last_is_said_so() -> None:
    found = check_allocation(parse_needs("latency<3us"), recording(20), [swinging(24, slow=2.0)])
    (sentence,) = unfit_sentences(found)
    assert "it meets that now, and holds over the next hour with a probability of" in sentence


def test_too_few_phases_that_meet_a_need_are_said_where_there_is_no_history() -> None:
    now = recording(20)
    slow = now.table[now.table["test"] == "latency"].index[[3, 9]]
    now.table.loc[slow, "value"] *= 4
    (sentence,) = unfit_sentences(check_allocation(parse_needs("latency<3us"), now))
    assert plain(sentence).endswith("< 3 µs needed; 90 % of its 20 phases meet that, and 95 % have to.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--hosts", "a"], "expected at least two hosts"),
        (["--hosts", "a,,b"], "expected at least two hosts"),
        (["--hosts", "a,b,a"], "expected each host once, found 'a' again"),
        (["--hosts", "a,b", "-n", "4"], "--ranks has no meaning beside it"),
    ],
)
@pytest.mark.parametrize("command", [["check-allocation", "--needs", "latency<3us"], ["measure", "overtime"]])
def test_ranks_and_hosts_that_cannot_be_are_refused(
    command: list[str], words: list[str], said: str, tmp_path: Path
) -> None:
    ended = run_command([*command, *words], tmp_path)
    assert ended.status == 2, ended.complained
    assert said in ended.complained


def test_too_few_seconds_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    ended = run_command(["check-allocation", "--needs", "latency<3us", "--for", "1s"], tmp_path)
    assert ended.status == 2
    assert "expected from 2.04 s to 86400 s, found '1s'" in plain(ended.complained)


def test_what_measures_has_no_meaning_beside_a_recording(folder: Path) -> None:
    ended = check(folder, "--needs", "latency<3us", "--for", "5s")
    assert ended.status == 2
    assert "--from measures nothing" in ended.complained
