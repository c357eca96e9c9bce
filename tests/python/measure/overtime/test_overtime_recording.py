"""A recording over time keeps what was recorded, whatever ends it; of a made probe, whose lines are known."""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from fake_overtime import Fake, phase
from idlewave.errors import InputError, MeasurementError, OutputError, UsageError
from idlewave.measure import read_overtime
from idlewave.measure.counters import Counter
from idlewave.measure.overtime import measuring
from idlewave.measure.overtime.recorder import PART_ROWS, Recorder
from idlewave.measure.overtime.recording import COLUMNS, OPEN_END, TORN
from overtime_runs import record, settings, write_phases
from small_disks import small_disk_at


class Steps:
    """A source whose counter grows by one at each reading."""

    name = "steps"

    def __init__(self) -> None:
        self.now = 41

    def discover(self) -> dict[str, Counter]:
        return {"a": Counter("readings", "readings", 64)}

    def read(self) -> dict[str, int]:
        self.now += 1
        return {"a": self.now}


def rows_are_those_of_the_probe(folder: Path, phases: int, runs: list[int] | None = None) -> None:
    table = read_overtime(folder).table
    assert table["phase"].tolist() == list(range(phases))
    own = [n for run in runs or [phases] for n in range(run)]
    for number in {0, 1, 2, phases // 2, phases - 1}:
        for name, value in phase(own[number]).items():
            assert table[name][number] == value, (number, name)
    assert table["run"].tolist() == [i for i, run in enumerate(runs or [phases]) for _ in range(run)]


def test_each_phase_is_a_row_with_the_columns_and_types_of_the_format(tmp_path: Path) -> None:
    record(tmp_path, Fake(12))
    found = read_overtime(tmp_path)
    assert tuple(found.arrow().column_names) == COLUMNS
    types = {field.name: field.type for field in found.arrow().schema}
    assert (types["run"], types["rank"], types["peer"], types["samples"]) == (pa.int32(),) * 4
    assert (types["phase"], types["start_ns"], types["length_ns"], types["size"]) == (pa.int64(),) * 4
    assert found.table["test"].tolist() == ["latency", "idle", "bandwidth", "idle", "allreduce", "idle"] * 2
    idle = found.table[found.table["test"] == "idle"]
    assert idle[["least_s", "median_s", "mean_s", "most_s", "sd_s", "value"]].isna().all(axis=None)
    rows_are_those_of_the_probe(tmp_path, 12)


def test_overtime_json_says_what_was_measured_where(tmp_path: Path) -> None:
    record(tmp_path, Fake(6000))
    said = read_overtime(tmp_path).said
    assert said["schema"] == 1
    assert said["hosts"] == ["here", "here"]
    assert said["settings"] == {
        "ranks": 2,
        "phase": 1.0,
        "idle": 1.0,
        "sizes": [8, 1 << 20, 8],
        "peers": 1,
        "seed": 1,
        "hosts": [],
        "mpi": "",
    }
    assert not {"ranks", "seed", "tests", "phase", "idle_factor"} & said.keys()  # each has one place
    assert said["load"]["active"] == 0.9
    assert said["load"]["idle_most"] == 0.002
    assert (said["interrupted"], said["continued"], said["runs"][0]["ended"]) == (0, 0, "time")


def test_a_recording_that_has_settings_twice_as_they_once_were_is_continued(tmp_path: Path) -> None:
    record(tmp_path, Fake(6))
    file = tmp_path / "overtime.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"ranks": 2, "seed": 1, "idle_factor": 1.0}))
    record(tmp_path, Fake(6))
    assert len(read_overtime(tmp_path).table) == 12


def test_rows_become_parts_that_are_written_whole_and_a_tail(tmp_path: Path) -> None:
    record(tmp_path, Fake(2 * PART_ROWS + 100))
    parts = sorted(file.name for file in (tmp_path / "overtime.parquet").iterdir())
    assert parts == ["part-000001.parquet", "part-000002.parquet"]
    assert len((tmp_path / "tail.jsonl").read_text().splitlines()) == 100
    rows_are_those_of_the_probe(tmp_path, 2 * PART_ROWS + 100)


@pytest.mark.long
def test_a_part_of_many_counters_has_fewer_rows(tmp_path: Path) -> None:
    class Many(Steps):
        def read(self) -> dict[str, int]:
            self.now += 1
            return {f"c{i}": self.now for i in range(1000)}

    record(tmp_path, Fake(600, host=platform.node()), [Many()])
    assert len(list((tmp_path / "overtime.parquet").iterdir())) == 2
    assert len(read_overtime(tmp_path).counters) == 1000
    rows_are_those_of_the_probe(tmp_path, 600)


def test_a_recording_is_continued_as_another_run(tmp_path: Path) -> None:
    record(tmp_path, Fake(PART_ROWS + 10))
    record(tmp_path, Fake(5))
    record(tmp_path, Fake(PART_ROWS))
    rows_are_those_of_the_probe(tmp_path, 2 * PART_ROWS + 15, [PART_ROWS + 10, 5, PART_ROWS])
    said = read_overtime(tmp_path).said
    assert (said["interrupted"], said["continued"], len(said["runs"])) == (0, 2, 3)


def test_a_torn_last_row_is_left_out_and_said_and_a_continued_recording_has_none(tmp_path: Path) -> None:
    record(tmp_path, Fake(12))
    tail = tmp_path / "tail.jsonl"
    whole = tail.read_bytes()
    tail.write_bytes(whole[:-20])
    found = read_overtime(tmp_path)
    assert len(found.table) == 11
    assert TORN in found.notes
    record(tmp_path, Fake(2))
    found = read_overtime(tmp_path)
    assert found.table["phase"].tolist() == list(range(13))
    assert TORN not in found.notes


@pytest.mark.parametrize("cut", range(1, 200, 13))
def test_wherever_the_tail_is_cut_all_whole_rows_are_read(tmp_path: Path, cut: int) -> None:
    write_phases(tmp_path, 4)
    tail = tmp_path / "tail.jsonl"
    left = tail.read_bytes()[:-cut]
    tail.write_bytes(left)
    assert len(read_overtime(tmp_path).table) == left.count(b"\n")


def test_rows_that_a_killed_recorder_left_in_part_and_tail_count_once(tmp_path: Path) -> None:
    record(tmp_path, Fake(PART_ROWS - 1))
    before = (tmp_path / "tail.jsonl").read_bytes()
    record(tmp_path, Fake(1))
    last = json.dumps({"run": 1, "phase": PART_ROWS - 1, **phase(0)}).encode() + b"\n"
    (tmp_path / "tail.jsonl").write_bytes(before + last)
    rows_are_those_of_the_probe(tmp_path, PART_ROWS, [PART_ROWS - 1, 1])
    record(tmp_path, Fake(3))
    rows_are_those_of_the_probe(tmp_path, PART_ROWS + 3, [PART_ROWS - 1, 1, 3])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"phase": 2.0}, "phase 1 there, 2 here"),
        ({"idle": 0.5}, "idle 1 there, 0.5 here"),
        ({"sizes": (16, 1 << 20, 8)}, "sizes 8,1048576,8 there, 16,1048576,8 here"),
        ({"ranks": 4, "peers": 2}, "ranks 2 there, 4 here; peers 1 there, 2 here"),
    ],
)
def test_a_recording_of_other_settings_is_refused_by_their_names(tmp_path: Path, changed: dict, words: str) -> None:
    record(tmp_path, Fake(6))
    before = (tmp_path / "overtime.json").read_bytes()
    with pytest.raises(UsageError, match=words):
        record(tmp_path, Fake(6), **changed)
    assert (tmp_path / "overtime.json").read_bytes() == before
    assert len(read_overtime(tmp_path).table) == 6


def test_ranks_on_other_hosts_are_refused(tmp_path: Path) -> None:
    record(tmp_path, Fake(6, host="a"))
    with pytest.raises(UsageError, match=r"hosts a, a, which cannot be continued on b, b"):
        record(tmp_path, Fake(6, host="b"))
    assert len(read_overtime(tmp_path).table) == 6
    record(tmp_path, Fake(6, host="a"))
    assert len(read_overtime(tmp_path).table) == 12


def test_a_folder_into_which_another_process_records_is_refused(tmp_path: Path) -> None:
    with Recorder(tmp_path, settings()), pytest.raises(UsageError, match="another process records into it"):
        record(tmp_path, Fake(6))


def test_rows_without_overtime_json_are_not_written_over(tmp_path: Path) -> None:
    record(tmp_path, Fake(6))
    (tmp_path / "overtime.json").unlink()
    with pytest.raises(UsageError, match=r"has rows of a recording, but no overtime.json"):
        record(tmp_path, Fake(6))


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("die", r"failed \(exit status 3\) after 7 phases: rank 1 was killed"),
        ("silent", "ended without saying so after 7 phases: it said nothing"),
        ("half", "ended without saying so after 7 phases: it said nothing"),
        ("signal", "ended by a signal after 7 phases"),
    ],
)
def test_a_probe_that_ends_early_is_an_error_and_its_phases_stay(tmp_path: Path, end: str, words: str) -> None:
    with pytest.raises(MeasurementError, match=words):
        record(tmp_path, Fake(7, end=end))
    rows_are_those_of_the_probe(tmp_path, 7)
    found = read_overtime(tmp_path)
    assert found.said["interrupted"] == 1
    assert found.said["runs"][0]["ended"] != "time"
    record(tmp_path, Fake(6))
    assert "The recording was interrupted once, and continued once." in read_overtime(tmp_path).notes


def test_a_probe_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "SILENCE", -0.5)
    with pytest.raises(MeasurementError, match="said nothing for"):
        record(tmp_path, Fake(6, end="hang"))


def test_what_the_launcher_says_in_between_is_passed_over(tmp_path: Path) -> None:
    record(tmp_path, Fake(6, noise=("a warning of mpiexec", '{"unrelated": 1}', "")))
    assert len(read_overtime(tmp_path).table) == 6


def test_a_line_of_the_probe_that_is_not_understood_is_an_error_that_quotes_it(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match=r'not understood.*"more"'):
        record(tmp_path, Fake(6, noise=('{"line": "more"}',)))


@pytest.mark.parametrize("size", ["8k", "60k", "300k"])
def test_on_a_full_disk_all_rows_until_then_stay(tmp_path: Path, size: str) -> None:
    with small_disk_at(tmp_path / "small", size) as disk:
        folder = disk / "recording"
        with pytest.raises(OutputError, match="No space left"):
            record(folder, Fake(20_000))
        copy = shutil.copytree(folder, tmp_path / "copy")
        if not (copy / "overtime.json").exists():
            return
        phases = read_overtime(copy).table["phase"].tolist()
        assert phases == list(range(len(phases)))
        record(copy, Fake(6))
        assert len(read_overtime(copy).table) == len(phases) + 6


def test_a_recorder_that_was_killed_leaves_a_recording_that_says_so(tmp_path: Path) -> None:
    number = os.fork()
    if number == 0:
        with Recorder(tmp_path, settings()) as recorder:
            recorder.add(phase(0))
            os._exit(0)
    os.waitpid(number, 0)
    found = read_overtime(tmp_path)
    assert len(found.table) == 1
    assert OPEN_END in found.notes
    record(tmp_path, Fake(6))
    assert read_overtime(tmp_path).said["interrupted"] == 1


def test_what_counters_grew_by_is_in_the_row_of_the_phase(tmp_path: Path) -> None:
    run = record(tmp_path, Fake(12, host=platform.node(), now=True), [Steps()])
    found = read_overtime(tmp_path)
    assert found.counters == ("counter.steps.a",)
    known = found.table["counter.steps.a"].dropna()
    assert set(known) == {1.0}
    assert len(known) >= 12 - 2 * run.late
    assert found.said["counters"]["steps.a"] == {
        "source": "steps",
        "unit": "readings",
        "what": "readings",
        "bits": 64,
    }


def test_counters_that_were_read_too_late_are_not_taken_for_those_of_the_phase(tmp_path: Path) -> None:
    run = record(tmp_path, Fake(12, host=platform.node()), [Steps()])  # phases of long ago
    assert run.late == 12
    assert read_overtime(tmp_path).table["counter.steps.a"].isna().all()


def test_counters_of_another_host_than_that_of_rank_0_are_not_recorded(tmp_path: Path) -> None:
    record(tmp_path, Fake(6, host="another"), [Steps()])
    found = read_overtime(tmp_path)
    assert found.counters == ()
    assert any("Rank 0 ran on another" in note for note in found.notes)


def test_a_counter_that_comes_later_is_unknown_before(tmp_path: Path) -> None:
    record(tmp_path, Fake(PART_ROWS, host="another"))
    with Recorder(tmp_path, settings()) as recorder:
        recorder.add({**phase(0), "counter.new.a": 5.0})
    found = read_overtime(tmp_path).table["counter.new.a"]
    assert found.iloc[-1] == 5
    assert found.iloc[:-1].isna().all()


def break_part(folder: Path) -> None:
    (folder / "overtime.parquet/part-000001.parquet").write_bytes(b"PAR1 no")


def lose_part(folder: Path) -> None:
    (folder / "overtime.parquet/part-000001.parquet").unlink()


def break_row(folder: Path) -> None:
    tail = folder / "tail.jsonl"
    tail.write_bytes(b"{]\n" + tail.read_bytes())


def break_test(folder: Path) -> None:
    tail = folder / "tail.jsonl"
    tail.write_bytes(tail.read_bytes().replace(b"latency", b"torpor", 1))


def break_number(folder: Path) -> None:
    tail = folder / "tail.jsonl"
    tail.write_bytes(tail.read_bytes().replace(b'"size":8', b'"size":-8', 1))


def break_schema(folder: Path) -> None:
    said = folder / "overtime.json"
    said.write_text(said.read_text().replace('"schema": 1', '"schema": 7'))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (break_part, "part-000001.parquet: cannot be read as a recording over time"),
        (lose_part, "part-000001.parquet: is missing; found part-000002.parquet"),
        (break_row, "tail.jsonl:1: "),
        (break_test, "tail.jsonl:.*: test: expected one of latency, bandwidth, allreduce, idle, found torpor"),
        (break_number, "tail.jsonl:.*: size: expected a whole number from 0 on, found -8"),
        (break_schema, "overtime.json: schema: expected the version 1, found 7"),
    ],
)
def test_a_broken_recording_is_refused_with_the_place(tmp_path: Path, damage, words: str) -> None:
    write_phases(tmp_path, 2 * PART_ROWS + 12)
    damage(tmp_path)
    with pytest.raises(InputError, match=words):
        read_overtime(tmp_path)


def test_a_growth_that_is_not_known_is_nan_and_not_0(tmp_path: Path) -> None:
    with Recorder(tmp_path, settings()) as recorder:
        recorder.add({**phase(0), "counter.a.b": None})
        recorder.add({**phase(1), "counter.a.b": 0.0})
    values = read_overtime(tmp_path).table["counter.a.b"].tolist()
    assert math.isnan(values[0])
    assert values[1] == 0
