"""A trace as an OTF2 archive: every call is a region with its messages, and importing it gives the same schedule."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_runs import run
from idlewave import InputError, OutputError, Provenance, Schedule, Trace, mpi, traced_run
from idlewave.export import write_trace_otf2
from idlewave.importing import import_trace
from small_disks import small_disk_at
from trace_files import Message, write_messages, write_trace
from tracer_support import command_of, mpich, open_mpi, program

otf2 = pytest.importorskip("otf2", reason="the package otf2 is not installed")

RANKS = 4


def traced(folder: Path, use: mpi.Mpi, name: str, *arguments: Path) -> Trace:
    """The trace of a test program."""
    traced_run.trace(command_of(use, RANKS, program(use, name), *arguments), folder)
    return Trace.load(folder)


def messages_of(trace: Trace) -> list[tuple[str, ...]]:
    """The sends and receives of a schedule in their order; tags are numbered by when they come first."""
    tags: dict[str, int] = {}
    found = []
    for line in Schedule.from_trace(trace).to_goal().splitlines():
        if line.startswith("rank"):
            found.append((line,))
        if match := re.search(r"(send|recv) (\d+b (?:to|from) \d+) tag (\d+)", line):
            found.append((match[1], match[2], str(tags.setdefault(match[3], len(tags)))))
    return found


def events_of(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The events of each rank: (time since the first, what, …)."""
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    with otf2.reader.open(str(folder / "traces.otf2")) as archive:
        zero = archive.definitions.clock_properties.global_offset
        for location, event in archive.events:
            kind = type(event).__name__
            more = (event.region.name,) if kind in ("Enter", "Leave") else ()
            for name in ("sender", "receiver", "msg_tag", "msg_length", "request_id", "root", "size_sent"):
                more += (getattr(event, name),) if hasattr(event, name) else ()
            found[location.group.name].append((event.time - zero, kind, *more))
        for location in archive.definitions.locations:
            assert location.number_of_events == len(found[location.group.name])
    return found


@pytest.mark.parametrize("find", [open_mpi, mpich])
def test_an_imported_archive_gives_the_schedule_of_the_trace(find: Callable[[], mpi.Mpi], tmp_path: Path) -> None:
    trace = traced(tmp_path / "trace", find(), "archived")
    assert write_trace_otf2(trace, tmp_path / "x.otf2") == {}
    found = import_trace(tmp_path / "x.otf2", tmp_path / "again")
    assert found.left_out == {}
    assert messages_of(found.trace) == messages_of(trace)
    assert found.trace.processes["host"].tolist() == trace.processes["host"].tolist()
    assert found.trace.measured_s == pytest.approx(trace.measured_s, abs=1e-8)


def test_each_message_of_a_program_with_all_calls_is_in_the_archive(tmp_path: Path) -> None:
    trace = traced(tmp_path / "trace", open_mpi(), "calls")
    assert list(write_trace_otf2(trace, tmp_path / "x.otf2")) == ["neighbourhood collectives"]
    again = import_trace(tmp_path / "x.otf2", tmp_path / "again").trace
    assert again.communication().equals(trace.communication())


@pytest.mark.parametrize(
    ("name", "argument", "left_out"),
    [
        ("comms", ".", set()),  # among them communicators of two groups
        ("one_sided", None, {"one-sided operations"}),
        ("files", "data", {"file operations"}),
        ("mpi4", None, {"partitioned messages"}),
    ],
)
def test_what_has_no_events_is_counted(name: str, argument: str | None, left_out: set[str], tmp_path: Path) -> None:
    trace = traced(tmp_path / "trace", open_mpi(), name, *([] if argument is None else [tmp_path / argument]))
    assert set(write_trace_otf2(trace, tmp_path / "x.otf2")) - {"neighbourhood collectives"} == left_out
    printer = shutil.which("otf2-print")
    if printer is None:
        return
    done = subprocess.run([printer, tmp_path / "x.otf2" / "traces.otf2"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_call_is_a_region_with_its_message_at_its_time(tmp_path: Path) -> None:
    messages = [Message(10, 3, 8), Message(0, 4, 16)]
    write_trace_otf2(Trace.load(write_messages(tmp_path / "trace", messages)), tmp_path / "x.otf2")
    assert events_of(tmp_path / "x.otf2") == {
        f"MPI Rank {rank}": [
            (0, "Enter", "program"),
            *((0, "Enter", call), (at[0], kind, 1 - rank, 3, 8), (100, "Leave", call)),
            *((100, "Enter", call), (at[1], kind, 1 - rank, 4, 16), (200, "Leave", call)),
            (200, "Leave", "program"),
        ]
        for rank, call, kind, at in [(0, "MPI_Send", "MpiSend", (0, 100)), (1, "MPI_Recv", "MpiRecv", (100, 200))]
    }


def test_times_are_on_one_clock(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", gap_ns=5000)
    file = folder / "rank-0000001.iwtrace"
    data = bytearray(file.read_bytes())
    struct.pack_into("<q", data, 56, 700)  # rank 0's clock minus this one
    file.write_bytes(data)
    write_trace_otf2(Trace.load(folder), tmp_path / "x.otf2")
    found = events_of(tmp_path / "x.otf2")
    times = {rank: [time for time, *_ in events] for rank, events in found.items()}
    assert [time + 700 for time in times["MPI Rank 0"]] == times["MPI Rank 1"]


def test_collectives_have_the_total_of_what_a_rank_sends(tmp_path: Path) -> None:
    write_trace_otf2(Trace.load(write_trace(tmp_path / "trace")), tmp_path / "x.otf2")
    for events in events_of(tmp_path / "x.otf2").values():
        ends = [event for event in events if event[1] == "MpiCollectiveEnd"]
        assert [event[-1] for event in ends] == [2 * 64] * 3


def test_the_definitions_have_hosts_ranks_and_communicators(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace", hosts=("a", "a", "b"))
    write_trace_otf2(Trace.load(folder), tmp_path / "x.otf2")
    with otf2.reader.open(str(tmp_path / "x.otf2/traces.otf2")) as archive:
        definitions = archive.definitions
        assert [location.group.system_tree_parent.name for location in definitions.locations] == ["a", "a", "b"]
        assert [comm.name for comm in definitions.comms] == ["MPI_COMM_WORLD", "MPI_COMM_SELF"]
        kinds = [str(group.group_type).rpartition(".")[2] for group in definitions.groups]
        assert kinds == ["COMM_LOCATIONS", "COMM_SELF", "COMM_GROUP"]
        assert archive.timer_resolution == 10**9
    said = Provenance.read(tmp_path / "x.otf2")
    assert said is not None
    assert said.sources[0].digests == Trace.load(folder).provenance.digests


def test_calls_of_several_threads_at_a_time_are_refused(tmp_path: Path) -> None:
    folder = write_trace(tmp_path / "trace")
    file = folder / "rank-0000000.iwtrace"
    data = bytearray(file.read_bytes())
    struct.pack_into("<q", data, 256 + 24 + 32 + 8, 1000)  # the second call begins before the first one
    file.write_bytes(data)
    with pytest.raises(InputError, match="rank 0: MPI_Allreduce overlaps the call before it"):
        write_trace_otf2(Trace.load(folder), tmp_path / "x.otf2")
    assert not (tmp_path / "x.otf2").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 200 KiB, or a skip."""
    with small_disk_at(tmp_path / "disk", "200k") as place:
        yield place


def test_a_full_disk_is_told_and_nothing_remains(small_disk: Path, tmp_path: Path) -> None:
    trace = Trace.load(write_messages(tmp_path / "trace", [Message(10, 1, 8)] * 20_000))
    with pytest.raises(OutputError, match=r"x.otf2: cannot be written: No space left on device$"):
        write_trace_otf2(trace, small_disk / "x.otf2")
    assert not list(small_disk.iterdir())


def test_the_command_says_how_much_there_is_and_replaces_nothing(tmp_path: Path) -> None:
    folder, target = str(write_trace(tmp_path / "trace")), str(tmp_path / "x.otf2")
    done = run("export", folder, "-o", target)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 ranks, 6 calls; written: ")
    again = run("export", folder, "-o", target)
    assert again.returncode == 1
    assert "empty or not there yet" in again.stderr
    told = run("export", folder, "-o", str(tmp_path / "y.otf2"), "--json")
    assert json.loads(told.stdout) == {"written": str(tmp_path / "y.otf2"), "ranks": 2, "calls": 6, "left_out": {}}
    assert run("export", str(tmp_path), "-o", str(tmp_path / "z.otf2")).returncode == 1
    assert not (tmp_path / "z.otf2").exists()
