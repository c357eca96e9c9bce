"""OTF2 archives, as Score-P writes them, become traces with the same messages and collectives."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import idlewave
import otf2
import pytest
from command_runs import run
from idlewave import Machine, Schedule, Trace
from idlewave.errors import InputError, OutputError
from idlewave.importing import import_trace
from otf2.events import MpiRecv, MpiSend
from otf2_archive import TICKS, Archive, write_ring
from trace_reader import read_trace

RANKS, SIZE = 4, 800


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ring")
    found = import_trace(write_ring(folder / "archive", RANKS, SIZE), folder / "trace")
    assert found.format == "OTF2"
    assert found.left_out == {}
    return folder / "trace"


def test_each_call_is_a_record_with_its_message(trace: Path) -> None:
    for rank in read_trace(trace):
        me = rank.header["rank"]
        after, before = (me + 1) % RANKS, (me - 1) % RANKS
        assert [record.name for record in rank.records] == [
            *("Init", "CommDef", "Sendrecv", "Irecv", "Issend", "Waitall"),
            *("Allreduce", "Bcast", "Gather", "IBarrier", "Wait", "Finalize"),
        ]
        (exchange,) = rank.named("Sendrecv")
        assert (exchange.pair(1), exchange.words[2], exchange.pair(5)) == ((after, 3), SIZE, (before, 3))
        (received,), (sent,) = rank.named("Irecv"), rank.named("Issend")
        assert (received.pair(1), received.words[2]) == ((before, 4), 2 * SIZE)
        assert (sent.pair(1), sent.words[2]) == ((after, 4), 2 * SIZE)


def test_sizes_of_collectives_are_those_of_the_calls(trace: Path) -> None:
    for rank in read_trace(trace):
        sizes = {name: rank.named(name)[0].words[2:] for name in ("Allreduce", "Bcast", "Gather")}
        assert sizes == {"Allreduce": (64, 64), "Bcast": (500, 500), "Gather": (24, 24)}
        assert rank.named("Bcast")[0].pair(1) == (1, 0)


def test_the_trace_is_simulated_and_reported_as_one_of_ours(trace: Path) -> None:
    schedule = Schedule.from_trace(trace)
    timeline = idlewave.simulate(schedule, Machine.preset("odin"))
    assert timeline.messages > 2 * RANKS
    found = Trace.load(trace)
    assert found.measured_s == pytest.approx(10 * 1000e-9 + 9 * 100e-9)
    assert found.communication()["bytes"].sum() == RANKS * 3 * SIZE
    assert found.processes["host"].tolist() == ["node0", "node0", "node1", "node1"]


def test_the_command_writes_it_and_says_how_much_there_is(tmp_path: Path) -> None:
    write_ring(tmp_path / "archive")
    done = run("import", str(tmp_path / "archive"), "-o", str(tmp_path / "trace"))
    assert done.returncode == 0, done.stderr
    assert "4 ranks, 48 calls" in done.stdout
    again = run("import", str(tmp_path / "archive"), "-o", str(tmp_path / "trace"))
    assert again.returncode == 1
    assert "trace" in again.stderr


def test_what_is_no_archive_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected an OTF2 archive, its file traces\.otf2 or the folder with that"):
        import_trace(tmp_path, tmp_path / "trace")
    (tmp_path / "traces.otf2").write_text("no archive")
    with pytest.raises(InputError, match="cannot be read as an OTF2 archive"):
        import_trace(tmp_path, tmp_path / "trace")
    assert not (tmp_path / "trace").exists()
    with pytest.raises(OutputError):
        import_trace(write_ring(tmp_path / "archive"), tmp_path / "archive")


@pytest.mark.parametrize("damaged", ["traces.def", "traces/0.evt", "traces/1.def"])
def test_a_damaged_archive_is_refused_without_a_traceback(tmp_path: Path, damaged: str) -> None:
    write_ring(tmp_path / "archive")
    file = tmp_path / "archive" / damaged
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    done = run("import", str(tmp_path / "archive"), "-o", str(tmp_path / "trace"))
    if done.returncode == 0:  # what is missing may be nothing that a trace needs
        assert damaged == "traces/1.def"
        return
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "archive" in done.stderr


def test_without_events_of_nonblocking_calls_messages_are_sent_and_received(tmp_path: Path) -> None:
    """Score-P without the group xnonblock: a send is in its nonblocking call, a receive where it is complete."""
    with otf2.writer.open(str(tmp_path / "archive"), timer_resolution=TICKS) as written:
        archive = Archive(written, 2)
        for rank in archive.ranks:
            message = {"communicator": archive.world, "msg_tag": 3, "msg_length": 8}
            rank.call("MPI_Init")
            rank.call("MPI_Irecv")
            for call in ("MPI_Isend", "MPI_Start"):
                rank.call(call, (MpiSend, message | {"receiver": 1 - rank.number}))
            for call in ("MPI_Testall", "MPI_Wait"):
                rank.call(call, (MpiRecv, message | {"sender": 1 - rank.number}))
            rank.call("MPI_Finalize")
    found = import_trace(tmp_path / "archive", tmp_path / "trace").trace
    for rank in read_trace(found.directory):
        assert [record.name for record in rank.records] == ["Init", "Isend", "Isend", "Recv", "Recv", "Finalize"]
    assert idlewave.simulate(Schedule.from_trace(found), Machine.preset("odin")).messages == 4


def test_what_has_no_events_is_counted(tmp_path: Path) -> None:
    with otf2.writer.open(str(tmp_path / "archive"), timer_resolution=TICKS) as written:
        for rank in Archive(written, 1).ranks:
            rank.call("MPI_Init")
            for call in (
                "MPI_Neighbor_alltoallv",
                "MPI_Ineighbor_allgather",
                "MPI_Bcast_init",
                "MPI_Psend_init",
                "MPI_Mrecv",
            ):
                rank.call(call)
            rank.call("MPI_Finalize")
    assert import_trace(tmp_path / "archive", tmp_path / "trace").left_out == {
        "neighbourhood collectives": 2,
        "persistent collectives": 1,
        "partitioned messages": 1,
        "receives of MPI_Mrecv and MPI_Imrecv": 1,
    }


def test_events_of_kinds_that_otf2_does_not_know_are_counted(tmp_path: Path) -> None:
    write_ring(tmp_path / "archive", 2)
    for file in (tmp_path / "archive" / "traces").glob("*.evt"):
        request, unknown = b"\x55\x02\x01\x09", b"\x63\x02\x01\x09"
        assert file.read_bytes().count(request) == 1
        file.write_bytes(file.read_bytes().replace(request, unknown))
    found = import_trace(tmp_path / "archive", tmp_path / "trace")
    assert found.left_out == {"events of kinds that the bindings of OTF2 do not know": 2}


def test_samples_of_score_p_are_read(tmp_path: Path) -> None:
    """The archives of the Pipit repository, in a folder that IDLEWAVE_TEST_OTF2 names: two ranks, sixteen messages."""
    samples = os.environ.get("IDLEWAVE_TEST_OTF2")
    if not samples:
        pytest.skip("IDLEWAVE_TEST_OTF2 names no folder with archives")
    anchors = sorted(Path(samples).rglob("traces.otf2"))
    assert anchors, f"no traces.otf2 in {samples}"
    for anchor in anchors:
        trace = import_trace(anchor, tmp_path / "trace").trace
        assert trace.ranks == 2
        assert trace.communication()["messages"].sum() == 16
        assert trace.communication()["bytes"].sum() == 2 * 16384 * 255
        assert idlewave.simulate(Schedule.from_trace(trace), Machine.preset("odin")).messages == 16
        shutil.rmtree(tmp_path / "trace")
