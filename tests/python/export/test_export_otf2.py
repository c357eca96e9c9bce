"""An OTF2 archive has the ops as regions and messages at their exact times, as OTF2's own reader sees it."""

from __future__ import annotations

import logging
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import idlewave
import pytest
from export_tables import exchange, one_sided, op, random_ops, table
from idlewave.export import write_otf2, write_perfetto
from idlewave.export.library_stderr import captured_lines
from small_disks import small_disk_at

otf2 = pytest.importorskip("otf2", reason="the package otf2 is not installed")


def read(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The events of each location: (time, what, ...)."""
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        assert trace.timer_resolution == 10**12
        assert [comm.name for comm in trace.definitions.comms] == ["MPI_COMM_WORLD"]
        for location in trace.definitions.locations:
            found[location.name] = []
        for location, event in trace.events:
            found[location.name].append((event.time, *described(event)))
        for location in trace.definitions.locations:
            assert location.number_of_events == len(found[location.name])
    return found


def described(event: Any) -> tuple[Any, ...]:
    kind = type(event).__name__
    if kind in ("Enter", "Leave"):
        return kind, event.region.name
    if kind.startswith("Rma"):
        names = ("remote", "bytes", "matching_id", "lock_id", "lock_type")
        return kind, *(getattr(event, name) for name in names if hasattr(event, name))
    request = (event.request_id,) if hasattr(event, "request_id") else ()
    if kind in ("MpiSend", "MpiIsend"):
        return kind, event.receiver, event.msg_tag, event.msg_length, *request
    if kind in ("MpiRecv", "MpiIrecv"):
        return kind, event.sender, event.msg_tag, event.msg_length, *request
    return kind, *request


def test_ops_that_nothing_overlaps_are_blocking_calls(tmp_path: Path) -> None:
    write_otf2(exchange(), tmp_path / "x.otf2")
    found = read(tmp_path / "x.otf2")
    assert found["rank 0"] == [
        (0, "Enter", "calc"),
        (12_000_400, "Leave", "calc"),
        (12_000_400, "Enter", "MPI_Send"),
        (12_000_400, "MpiSend", 1, 5, 8),
        (13_000_900, "Leave", "MPI_Send"),
        (13_000_900, "Enter", "solve: calc"),
        (30_000_000, "Leave", "solve: calc"),
        (30_000_000, "Enter", "MPI_Recv"),
        (40_000_000, "MpiRecv", 1, 7, 1 << 20),
        (40_000_000, "Leave", "MPI_Recv"),
    ]
    assert found["rank 1"] == [
        (0, "Enter", "MPI_Recv"),
        (17_000_000, "MpiRecv", 0, 5, 8),
        (17_000_000, "Leave", "MPI_Recv"),
        (17_000_000, "Enter", "MPI_Send"),
        (17_000_000, "MpiSend", 0, 7, 1 << 20),
        (34_000_000, "Leave", "MPI_Send"),
    ]


def test_a_receive_beside_which_the_rank_computes_is_posted_and_waited_for(tmp_path: Path) -> None:
    ops = table(
        op(0, 0, "recv", 0, 9_000, work_ps=4_000, peer=0, tag=1, size=8),
        op(0, 1, "calc", 0, 3_000),
        op(0, 2, "send", 3_000, 5_000, peer=0, tag=1, size=8),
    )
    write_otf2(ops, tmp_path / "x.otf2")
    assert read(tmp_path / "x.otf2")["rank 0"] == [
        (0, "Enter", "MPI_Irecv"),
        (0, "MpiIrecvRequest", 0),
        (0, "Leave", "MPI_Irecv"),
        (0, "Enter", "calc"),
        (3_000, "Leave", "calc"),
        (3_000, "Enter", "MPI_Send"),
        (3_000, "MpiSend", 0, 1, 8),
        (5_000, "Leave", "MPI_Send"),
        (5_000, "Enter", "MPI_Wait"),
        (9_000, "MpiIrecv", 0, 1, 8, 0),
        (9_000, "Leave", "MPI_Wait"),
    ]


def test_one_sided_ops_are_calls_with_events_of_remote_memory_access(tmp_path: Path) -> None:
    write_otf2(one_sided(), tmp_path / "x.otf2")
    found = read(tmp_path / "x.otf2")
    us, exclusive = 10**6, otf2.LockType.EXCLUSIVE
    assert found["rank 0"] == [
        (0, "Enter", "MPI_Put"),
        (0, "RmaPut", 1, 11, 0),
        (32 * us, "RmaOpCompleteBlocking", 0),
        (32 * us, "RmaOpCompleteRemote", 0),
        (32 * us, "Leave", "MPI_Put"),
        (32 * us, "Enter", "MPI_Get"),
        (32 * us, "RmaGet", 1, 11, 1),
        (64 * us, "RmaOpCompleteBlocking", 1),
        (64 * us, "Leave", "MPI_Get"),
        (64 * us, "Enter", "MPI_Win_lock"),
        (64 * us, "RmaRequestLock", 1, 0, exclusive),
        (144 * us, "RmaAcquireLock", 1, 0, exclusive),
        (144 * us, "Leave", "MPI_Win_lock"),
        (144 * us, "Enter", "calc"),
        (149 * us, "Leave", "calc"),
    ]
    assert found["rank 1"][4:7] == [
        (32 * us, "Enter", "await"),
        (32 * us, "RmaWaitChange"),
        (32 * us, "Leave", "await"),
    ]
    assert found["rank 1"][-3:] == [
        (122 * us, "Enter", "MPI_Win_unlock"),
        (144 * us, "RmaReleaseLock", 1, 0),
        (144 * us, "Leave", "MPI_Win_unlock"),
    ]


def test_one_sided_ops_beside_which_the_rank_computes_are_waited_for(tmp_path: Path) -> None:
    ops = table(
        op(0, 0, "put", 0, 9_000, peer=1, size=8),
        op(0, 1, "shared_lock", 0, 8_000, peer=1, tag=2),
        op(0, 2, "calc", 1_000, 6_000),
        op(1, 0, "await", 0, 7_000, work_ps=7_000, peer=0),
        op(1, 1, "calc", 0, 5_000),
    )
    write_otf2(ops, tmp_path / "x.otf2")
    found = read(tmp_path / "x.otf2")
    assert found["rank 0"] == [
        (0, "Enter", "MPI_Rput"),
        (0, "RmaPut", 1, 8, 0),
        (0, "Leave", "MPI_Rput"),
        (1_000, "Enter", "calc"),
        (6_000, "Leave", "calc"),
        (6_000, "Enter", "MPI_Win_lock"),
        (6_000, "RmaRequestLock", 1, 2, otf2.LockType.SHARED),
        (8_000, "RmaAcquireLock", 1, 2, otf2.LockType.SHARED),
        (8_000, "Leave", "MPI_Win_lock"),
        (8_000, "Enter", "MPI_Wait"),
        (9_000, "RmaOpCompleteNonBlocking", 0),
        (9_000, "RmaOpCompleteRemote", 0),
        (9_000, "Leave", "MPI_Wait"),
    ]
    assert found["rank 1"] == [
        (0, "Enter", "calc"),
        (5_000, "Leave", "calc"),
        (7_000, "Enter", "await"),
        (7_000, "RmaWaitChange"),
        (7_000, "Leave", "await"),
    ]


@pytest.mark.parametrize("seed", range(8))
def test_regions_nest_and_every_op_is_there_whatever_overlaps(seed: int, tmp_path: Path) -> None:
    ops = random_ops(seed)
    write_otf2(ops, tmp_path / "x.otf2")
    counts: dict[str, int] = defaultdict(int)
    calcs = []
    for events in read(tmp_path / "x.otf2").values():
        assert [time for time, *_ in events] == sorted(time for time, *_ in events)
        stack: list[tuple[int, str]] = []
        requests = set()
        for time, kind, *rest in events:
            if kind == "Enter":
                stack.append((time, rest[0]))
            elif kind == "Leave":
                begin, region = stack.pop()
                assert region == rest[0]
                if region == "calc":
                    calcs.append((begin, time))
            else:
                assert stack[-1][1].startswith("MPI_")
                counts[kind] += 1
                if kind in ("MpiIsend", "MpiIrecvRequest"):
                    requests.add(rest[-1])
                if kind in ("MpiIsendComplete", "MpiIrecv"):
                    requests.remove(rest[-1])
        assert not stack
        assert not requests
    kinds = ops["kind"].value_counts()
    assert counts["MpiSend"] + counts["MpiIsend"] == kinds["send"]
    assert counts["MpiRecv"] + counts["MpiIrecv"] == kinds["recv"]
    expected = ops[ops["kind"] == "calc"]
    assert sorted(calcs) == sorted(zip(expected["start_ps"], expected["end_ps"], strict=True))


def test_a_second_CPU_is_a_second_location_of_its_rank(tmp_path: Path) -> None:
    write_otf2(table(op(0, 0, "calc", 0, 9_000), op(0, 1, "calc", 7_000, 12_000)), tmp_path / "x.otf2")
    assert read(tmp_path / "x.otf2")["rank 0, CPU 1"] == [(7_000, "Enter", "calc"), (12_000, "Leave", "calc")]


def test_a_simulated_timeline_becomes_an_archive(machine: idlewave.Machine, tmp_path: Path) -> None:
    timeline = idlewave.simulate(idlewave.Schedule.pattern("allreduce", ranks=13, bytes=1000), machine, record=True)
    write_otf2(timeline.ops_to_arrow(), tmp_path / "x.otf2")
    found = read(tmp_path / "x.otf2")
    assert [max(time for time, *_ in found[f"rank {rank}"]) for rank in range(13)] == timeline.finish.tolist()


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(idlewave.OutputError, match="empty or not there yet"):
        write_otf2(exchange(), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 200 KiB, or a skip."""
    with small_disk_at(tmp_path / "disk", "200k") as place:
        yield place


def test_a_full_disk_is_the_one_thing_that_is_told(
    small_disk: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "idlewave")
    with pytest.raises(idlewave.OutputError, match=r"x.otf2: cannot be written: No space left on device$"):
        write_otf2(random_ops(1, ops_a_rank=5000), small_disk / "x.otf2")
    assert capfd.readouterr().err == ""
    assert "[OTF2]" in caplog.text
    assert not list(small_disk.iterdir())


def test_what_others_write_to_the_error_stream_meanwhile_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    with captured_lines("[OTF2]") as words:
        os.write(2, b"[OTF2] a: error: b\nnote: c\n")
        assert words.lines() == ["[OTF2] a: error: b\n"]
    assert capfd.readouterr().err == "note: c\n"


@pytest.mark.parametrize(
    ("module", "write", "package"),
    [
        ("_otf2", write_otf2, "otf2"),
        ("perfetto.protos.perfetto.trace", write_perfetto, "perfetto"),
    ],
)
def test_a_missing_library_is_named_with_how_to_get_it(
    module: str, write: Any, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(idlewave.LibraryError, match=f"pip install {package}, .*idlewave\\[export\\]") as caught:
        write(exchange(), tmp_path / "x")
    assert caught.value.exit_status == 1
    assert not list(tmp_path.iterdir())
