"""OTF2 archives that Score-P wrote: imported, they are held against what our tracer records of the same programs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import idlewave
import pytest
from command_runs import run
from idlewave import Machine, Schedule, Trace
from idlewave.export import write_trace_otf2
from idlewave.importing import import_trace
from scorep_archives import RANKS, write_scorep
from trace_reader import COLLECTIVES, RankFile, read_trace
from tracer_support import open_mpi, program, trace_of

otf2 = pytest.importorskip("otf2", reason="the package otf2 is not installed")


def _imported(folder: Path, name: str) -> Trace:
    found = import_trace(write_scorep(folder / "archive", name), folder / "imported")
    assert (found.format, found.left_out) == ("OTF2", {})
    return found.trace


def _traced(folder: Path, name: str) -> Trace:
    trace_of(
        folder / "ours", open_mpi(), RANKS[name], program(open_mpi(), name), *([folder] if name == "comms" else [])
    )
    return Trace.load(folder / "ours")


def _communicators(rank: RankFile) -> dict[int, tuple]:
    """Size, own rank and the listed members of each communicator; those of one rank are all the same."""
    alone = (1, 0)
    found: dict[int, tuple] = {1: ("world",), 2: alone}
    for record in rank.named("CommDef"):
        size, own = record.pair(2)
        members = [other for i in range(3, len(record.words)) for other in record.pair(i)][:size]
        between = bool(record.info & 2)
        found[record.words[0]] = alone if size == 1 and not between else (size, own, between, *members)
    return found


def _collectives(trace: Trace) -> list[list[tuple]]:
    """The collectives of each rank: name, communicator, root, bytes sent and received, and sizes by rank."""
    names = {*COLLECTIVES, *(f"I{name}" for name in COLLECTIVES)}
    found = []
    for rank in read_trace(trace.directory):
        communicators, calls = _communicators(rank), []
        for record in rank.records:
            if record.name not in names:
                continue
            sizes = record.words[2 + record.name.startswith("I") :]
            if record.name == "Alltoallv":
                sizes = sizes[:2]  # Score-P says no more
            comm = communicators[record.words[0]]
            if record.name == "Exscan" and comm == (1, 0):
                sizes = ()  # nobody sends anything
            calls.append((record.name, comm, record.pair(1)[0], *sizes))
        found.append(calls)
    return found


def _channels(schedule: Schedule) -> dict[tuple[str, int, int], list[int]]:
    """The sizes of the messages that each rank sends to each other one, and that it receives, in their order."""
    found: defaultdict[tuple[str, int, int], list[int]] = defaultdict(list)
    rank = -1
    for line in schedule.to_goal().splitlines():
        if begins := re.match(r"rank (\d+)", line):
            rank = int(begins[1])
        if message := re.search(r"(send|recv) (\d+)b (?:to|from) (\d+)", line):
            found[message[1], rank, int(message[3])].append(int(message[2]))
    return found


@pytest.mark.mpi
@pytest.mark.parametrize("name", RANKS)
def test_messages_and_collectives_are_those_that_our_tracer_records(name: str, tmp_path: Path) -> None:
    theirs, ours = _imported(tmp_path, name), _traced(tmp_path, name)
    assert theirs.communication().equals(ours.communication())
    for found, known in zip(_collectives(theirs), _collectives(ours), strict=True):
        assert found == known


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["archived", "comms", "structures"])  # in exchanges, buffers are larger than messages
def test_schedules_have_the_same_messages_in_the_same_order(name: str, tmp_path: Path) -> None:
    theirs, ours = (Schedule.from_trace(find(tmp_path, name)) for find in (_imported, _traced))
    assert _channels(theirs) == _channels(ours)
    messages = [idlewave.simulate(schedule, Machine.preset("odin")).messages for schedule in (theirs, ours)]
    assert messages[0] == messages[1] > 0


def test_the_command_reads_it_and_simulates_it(tmp_path: Path) -> None:
    anchor = write_scorep(tmp_path / "archive", "exchanges")
    done = run("import", str(anchor), "-o", str(tmp_path / "trace"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 ranks, 188 calls" in done.stdout
    assert run("simulate", str(tmp_path / "trace"), "-m", "odin").returncode == 0


def test_the_program_begins_when_it_leaves_mpi_init(tmp_path: Path) -> None:
    """Score-P has events before MPI_Init, of the program's beginning."""
    for rank in read_trace(_imported(tmp_path, "exchanges").directory):
        (init,) = rank.named("Init")
        assert rank.records[0] == init
        assert rank.header["init_end"] == init.end


@pytest.mark.parametrize("name", RANKS)
def test_an_archive_that_we_write_of_it_says_the_same(name: str, tmp_path: Path) -> None:
    trace = _imported(tmp_path, name)
    assert write_trace_otf2(trace, tmp_path / "x.otf2") == {}
    again = import_trace(tmp_path / "x.otf2", tmp_path / "again").trace
    assert again.communication().equals(trace.communication())
    assert _collectives(again) == _collectives(trace)
    printer = shutil.which("otf2-print")
    if printer is None:
        return
    done = subprocess.run([printer, tmp_path / "x.otf2" / "traces.otf2"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def _totals(anchor: Path) -> dict[str, list[tuple]]:
    """The sends and the collectives of each rank, in their order, as an archive has them."""
    found: defaultdict[str, list[tuple]] = defaultdict(list)
    with otf2.reader.open(str(anchor)) as archive:
        for location, event in archive.events:
            kind = type(event).__name__
            if kind in ("MpiSend", "MpiIsend"):
                found[location.group.name].append((kind, event.receiver, event.msg_tag, event.msg_length))
            if kind in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete") and "HANDLE" not in str(
                event.collective_op
            ):
                call = (event.collective_op, event.root, event.size_sent, event.size_received)
                found[location.group.name].append((kind, *call))
    return found


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["exchanges", "archived"])  # without calls in place
def test_the_archive_of_our_trace_has_the_totals_that_score_p_writes(name: str, tmp_path: Path) -> None:
    write_trace_otf2(_traced(tmp_path, name), tmp_path / "x.otf2")
    assert _totals(tmp_path / "x.otf2" / "traces.otf2") == _totals(write_scorep(tmp_path / "archive", name))
