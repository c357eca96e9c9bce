"""A probe's folder is read whole or as far as it is whole, and what is wrong is named."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import numpy as np
import pytest
from idlewave.errors import InputError
from idlewave.measure.noise.detour import measurement_of
from idlewave.measure.noise.noise_recording import detours_of, read_nodes, read_recording
from noise_recordings import detours, summary, write_detours, write_ftq, write_fwq, write_recording


def test_what_was_written_is_read(tmp_path):
    cores = [detours(1, [(100, 1e-5)], core=core) for core in (0, 3)]
    found = read_recording(write_detours(tmp_path, cores))
    assert [core.cpu for core in found.cores] == [0, 3]
    for made, read in zip(cores, detours_of(found), strict=True):
        assert read.starts.tolist() == made.starts.tolist()
        assert read.lengths.tolist() == made.lengths.tolist()
        assert read.duration == made.duration


def test_a_recording_becomes_the_measurement_that_machines_are_made_of(tmp_path):
    cores = [detours(1, [(100, 1e-5)], core=core) for core in (0, 3)]
    noise = measurement_of(read_recording(write_detours(tmp_path, cores)), {})
    assert noise.overhead == pytest.approx(1e-3, rel=0.02)
    assert noise.cores["core"].tolist() == [0, 3]
    assert noise.trace()[1] == 2 * 10**12


def test_a_file_that_is_cut_off_is_read_as_far_as_it_is_whole_and_named(tmp_path):
    write_detours(tmp_path, [detours(1, [(100, 1e-5)])])
    file = tmp_path / "detour-cpu0.i64"
    file.write_bytes(file.read_bytes()[:-5])
    found = read_recording(tmp_path)
    assert len(found.cores[0].table) == 99
    assert "detour-cpu0.i64 is cut off" in found.notes[0]


def test_fewer_rows_than_announced_are_noted(tmp_path):
    write_detours(tmp_path, [detours(1, [(100, 1e-5)])])
    file = tmp_path / "detour-cpu0.i64"
    file.write_bytes(file.read_bytes()[:-16])
    assert "99 rows where 100 were announced" in read_recording(tmp_path).notes[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "detour.json: expected JSON"),
        ("[]", "detour.json: expected a JSON object, found"),
        ('{"cores": []}', "detour.json: cores: expected a list of at least one core"),
        ('{"cores": [7]}', r"cores\[0\]: expected a JSON object, found 7"),
        ('{"cores": [{}]}', r"cores\[0\].cpu: expected a whole number from 0 on, found nothing"),
        ('{"cores": [{"cpu": 0, "file": "x", "columns": ["work"]}]}', r"cores\[0\].dropped: expected a whole number"),
    ],
)
def test_wrong_json_is_named(tmp_path, text, words):
    (tmp_path / "detour.json").write_text(text)
    with pytest.raises(InputError, match=words):
        read_recording(tmp_path)


def test_columns_that_are_missing_are_named(tmp_path):
    write_recording(tmp_path, "detour", [(0, [1, 2], summary(0, 1.0))], ("start_ps",))
    with pytest.raises(InputError, match=r"columns: expected length_ps among them"):
        read_recording(tmp_path)


def test_a_table_that_is_missing_is_named(tmp_path):
    write_detours(tmp_path, [detours(1)])
    (tmp_path / "detour-cpu0.i64").unlink()
    with pytest.raises(InputError, match=r"detour-cpu0.i64: cannot be read"):
        read_recording(tmp_path)


@pytest.mark.parametrize("rows", [[[5, -1]], [[-5, 1]], [[0, 10], [9, 1]]])
def test_detours_that_cannot_be_are_refused(tmp_path, rows):
    write_recording(tmp_path, "detour", [(0, rows, summary(0, 1.0))], ("start_ps", "length_ps"))
    with pytest.raises(InputError, match=r"detour-cpu0.i64: row \d: expected"):
        read_recording(tmp_path)


def test_a_folder_without_a_recording_or_with_several_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a recording"):
        read_recording(tmp_path)
    write_detours(tmp_path, [detours(1)])
    write_ftq(tmp_path, [np.zeros(10)], 1e-4)
    with pytest.raises(InputError, match="found detour, ftq; say which"):
        read_recording(tmp_path)
    assert read_recording(tmp_path, "ftq").probe == "ftq"


def test_the_time_after_the_last_detour_of_a_full_buffer_does_not_count(tmp_path):
    entry = (0, [[0, 10], [500, 10]], summary(0, 1.0, dropped=7, dropped_ns=1.0))
    write_recording(tmp_path, "detour", [entry], ("start_ps", "length_ps"))
    assert detours_of(read_recording(tmp_path))[0].duration == 510


def test_events_lie_beside_their_core_and_broken_lines_are_noted(tmp_path):
    entry = (0, [[0, 10]], summary(0, 1.0, events="events-cpu0.csv"))
    write_recording(tmp_path, "detour", [entry], ("start_ps", "length_ps"))
    lines = ["begin_ns,end_ns,kind,name", "0.0,1.5,irq,timer", "x,2,irq,disk", '5,9,task,"a, b"']
    (tmp_path / "events-cpu0.csv").write_text("\n".join(lines))
    found = read_recording(tmp_path)
    assert found.cores[0].events["name"].tolist() == ["timer", "a, b"]
    assert "1 lines are no events" in found.notes[0]


def test_net_lengths_are_read_where_the_kernel_told_them(tmp_path):
    entry = (0, [[0, 10]], summary(0, 1.0, events="events-cpu0.csv"))
    write_recording(tmp_path, "detour", [entry], ("start_ps", "length_ps"))
    (tmp_path / "events-cpu0.csv").write_text(
        "begin_ns,end_ns,kind,name,net_ns\n0.0,1500.0,irq,timer,1200\n5,9,nmi,nmi,\n"
    )
    net = read_recording(tmp_path).cores[0].events["net_ns"]
    assert net[0] == 1200
    assert np.isnan(net[1])


def test_nodes_are_read_from_their_subfolders_and_a_broken_one_is_left_out_and_named(tmp_path):
    for rank in range(3):
        made = [detours(0.1, [(100, 1e-5)], seed=rank)]
        write_detours(tmp_path / f"n{rank}-{rank}", made, host=f"n{rank}", rank=rank, ranks=3)
    (tmp_path / "n1-1" / "detour.json").write_text("{")
    found, problems = read_nodes(tmp_path)
    assert [part.node for part in found] == ["n0-0", "n2-2"]
    assert len(problems) == 1
    assert "n1-1/detour.json" in problems[0]


@pytest.mark.parametrize("own", [False, True])
def test_a_node_whose_folder_may_not_be_read_is_left_out_and_named(tmp_path, own, monkeypatch):
    node = write_detours(tmp_path / "n0-0", [detours(1, [(100, 1e-5)])], host="n0")
    forbidden = write_detours(tmp_path / "n1-1", [detours(1, [(100, 1e-5)])], host="n1")
    if own:
        write_detours(tmp_path, [detours(1, [(100, 1e-5)])])
    really = Path.is_file

    def is_file(path):  # as it is for all but root
        if path.parent == forbidden:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really(path)

    monkeypatch.setattr(Path, "is_file", is_file)
    found, problems = read_nodes(tmp_path)
    assert [recording.folder for recording in found] == ([tmp_path, node] if own else [node])
    assert problems == [f"{forbidden}: cannot be read: Permission denied"]


def test_two_recordings_of_one_host_are_told_apart_by_their_folders(tmp_path):
    for day in ("monday", "tuesday"):
        write_detours(tmp_path / day, [detours(0.1, [(100, 1e-5)])], host="n0")
    write_detours(tmp_path / "wednesday", [detours(0.1, [(100, 1e-5)])], host="n1")
    found, _ = read_nodes(tmp_path)
    assert [part.node for part in found] == ["n0 (monday)", "n0 (tuesday)", "n1"]
    assert [core.node for part in found for core in detours_of(part)] == ["n0 (monday)", "n0 (tuesday)", "n1"]


def test_no_node_at_all_is_an_error(tmp_path):
    with pytest.raises(InputError, match="expected a recording, or subfolders"):
        read_nodes(tmp_path)
    with pytest.raises(InputError, match="expected a folder"):
        read_nodes(tmp_path / "missing")


def test_a_folder_without_a_detour_gives_empty_tables(tmp_path):
    found = read_recording(write_detours(tmp_path, [detours(1)]))
    noise = measurement_of(found, {})
    assert noise.overhead == 0
    assert detours_of(found)[0].lengths.dtype == np.int64


def _without(folder, probe, key, value=None, *, of_core=True):
    """Take a key out of a probe's JSON, or say something else there."""
    file = folder / f"{probe}.json"
    said = json.loads(file.read_text())
    place = said["cores"][0] if of_core else said
    place.pop(key)
    if value is not None:
        place[key] = value
    file.write_text(json.dumps(said))


USED = ("duration_ns", "resolution_ns", "threshold_ns", "dropped", "dropped_ns", "cpu_busy_s", "own_cpu_s", "steal_s")


@pytest.mark.parametrize("key", [*USED, "involuntary_switches", "interrupts"])
def test_what_is_used_of_a_core_and_missing_is_named(tmp_path, key):
    write_detours(tmp_path, [detours(1, [(100, 1e-5)])])
    _without(tmp_path, "detour", key)
    with pytest.raises(InputError, match=rf"detour.json: cores\[0\].{key}: expected .*, found nothing"):
        read_recording(tmp_path)


@pytest.mark.parametrize("key", ["duration_ns", "dropped", "cpu_busy_s", "own_cpu_s", "steal_s", "interrupted"])
def test_what_says_how_work_was_disturbed_and_is_missing_is_named(tmp_path, key):
    write_ftq(tmp_path, [np.zeros(100)], 1e-4)
    _without(tmp_path, "ftq", key, of_core=key != "interrupted")
    with pytest.raises(InputError, match=rf"ftq.json: .*{key}: expected .*, found nothing"):
        read_recording(tmp_path)


@pytest.mark.parametrize("key", ["interrupted", "counter", "clock_source"])
def test_what_is_used_of_all_cores_and_missing_is_named(tmp_path, key):
    write_detours(tmp_path, [detours(1, [(100, 1e-5)])])
    _without(tmp_path, "detour", key, of_core=False)
    with pytest.raises(InputError, match=rf"detour.json: {key}: expected .*, found nothing"):
        read_recording(tmp_path)


@pytest.mark.parametrize("quantum", [None, 0, "100 us"])
def test_a_recording_of_quanta_says_how_long_they_are(tmp_path, quantum):
    write_ftq(tmp_path, [np.zeros(100)], 1e-4)
    _without(tmp_path, "ftq", "quantum_ns", quantum, of_core=False)
    with pytest.raises(InputError, match=r"ftq.json: quantum_ns: expected a number above 0"):
        read_recording(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("duration_ns", 0),
        ("duration_ns", 1e308),
        ("cpu", -1),
        ("interrupts", {"LOC": 5}),
        ("rows", "two"),
        ("begin_ps", "now"),
    ],
)
def test_what_cannot_be_said_of_a_core_is_refused(tmp_path, key, value):
    entry = (0, [[0, 10]], summary(0, 1.0, **({} if key in ("rows", "cpu") else {key: value})))
    write_recording(tmp_path, "detour", [entry], ("start_ps", "length_ps"))
    if key in ("rows", "cpu"):
        _without(tmp_path, "detour", key, value)
    with pytest.raises(InputError, match=rf"detour.json: cores\[0\].{key}[.A-Z]*: expected"):
        read_recording(tmp_path)


def test_a_recording_of_work_needs_at_least_one_core(tmp_path):
    write_fwq(tmp_path, [])
    with pytest.raises(InputError, match=r"fwq.json: cores: expected a list of at least one core"):
        read_recording(tmp_path)


@pytest.mark.parametrize("left", [50 * 16, 50 * 16 + 5])
def test_the_time_after_the_last_whole_row_of_a_cut_off_table_does_not_count(tmp_path, left):
    made = detours(1, [(100, 1e-5)])
    write_detours(tmp_path, [made])
    file = tmp_path / "detour-cpu0.i64"
    file.write_bytes(file.read_bytes()[:left])
    found = read_recording(tmp_path)
    assert detours_of(found)[0].duration == made.starts[49] + made.lengths[49]
    assert detours_of(found)[0].overhead == pytest.approx(made.overhead, rel=0.03)
    noise = measurement_of(found, {})
    assert noise.overhead == pytest.approx(made.overhead, rel=0.03)
    assert noise.trace()[1] == made.starts[49] + made.lengths[49]
    assert noise.cores["foreign_load"].tolist() == [0]


def test_a_table_of_which_no_row_is_left_is_refused(tmp_path):
    write_detours(tmp_path, [detours(1, [(100, 1e-5)])])
    (tmp_path / "detour-cpu0.i64").write_bytes(b"")
    with pytest.raises(InputError, match=r"detour-cpu0.i64: expected 100 rows, found none that is whole"):
        read_recording(tmp_path)


def test_a_detour_that_ends_after_the_recording_is_refused_but_for_rounding(tmp_path):
    def recorded(end):
        entry = (0, [[0, 10], [500, end - 500]], summary(0, 1e-9))
        return read_recording(write_recording(tmp_path, "detour", [entry], ("start_ps", "length_ps")))

    found = recorded(1999)
    assert detours_of(found)[0].duration == 1999
    assert measurement_of(found, {}).trace()[1] == 1999
    with pytest.raises(InputError, match=r"detour-cpu0.i64: row 1: expected it to end within the recording, 1000 ps"):
        recorded(2001)
    with pytest.raises(InputError, match="row 1: expected it to end within"):
        recorded(2**63 - 1)


def test_a_full_buffer_is_said_of_its_node(tmp_path):
    entry = (3, [[0, 10]], summary(3, 1.0, dropped=7, dropped_ns=1.0))
    write_recording(tmp_path, "detour", [entry], ("start_ps", "length_ps"), host="n7")
    assert "n7: Core 3: the buffer was full; 7 later detours" in read_recording(tmp_path).losses[0]
