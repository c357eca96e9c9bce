"""A Perfetto trace has the ops as slices that nest, with exact times as arguments and arrows for messages."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import idlewave
import pandas as pd
import pytest
from export_tables import exchange, one_sided, op, random_ops, table
from idlewave.export import write_perfetto

protos = pytest.importorskip(
    "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="the package perfetto is not installed"
)


@dataclass
class Slice:
    track: str
    name: str
    begin: int
    end: int
    depth: int
    arguments: dict[str, object]
    arrows: list[int]
    ends_of_arrows: list[int]


@dataclass
class Decoded:
    """A trace as the viewer would understand it."""

    slices: list[Slice] = field(default_factory=list)
    tracks: dict[int, str] = field(default_factory=dict)
    parents: dict[int, int] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)

    def on(self, track: str) -> list[tuple[str, int, int]]:
        return [(s.name, s.begin, s.end) for s in self.slices if s.track == track]


def decode(file: Path) -> Decoded:
    """Reads the packets; asserts that begins and ends on each track are balanced and in the order of time."""
    trace, found = protos.Trace(), Decoded()
    trace.ParseFromString(file.read_bytes())
    interned = trace.packet[0].interned_data
    names = {entry.iid: entry.name for entry in interned.event_names}
    arguments = {entry.iid: entry.name for entry in interned.debug_annotation_names}
    texts = {entry.iid: entry.str.decode() for entry in interned.debug_annotation_string_values}
    open_slices: dict[int, list[Slice]] = defaultdict(list)
    latest: dict[int, int] = defaultdict(int)
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            found.tracks[track.uuid] = track.name or track.process.process_name
            found.parents[track.uuid] = track.parent_uuid
            found.places[track.uuid] = track.sibling_order_rank
        if not packet.HasField("track_event"):
            continue
        event, stack = packet.track_event, open_slices[packet.track_event.track_uuid]
        assert packet.timestamp >= latest[event.track_uuid]
        latest[event.track_uuid] = packet.timestamp
        if event.type == protos.TrackEvent.TYPE_SLICE_END:
            stack.pop().end = packet.timestamp
            continue
        values = {
            arguments[a.name_iid]: texts[a.string_value_iid] if a.HasField("string_value_iid") else a.int_value
            for a in event.debug_annotations
        }
        begun = Slice(
            path(found, event.track_uuid),
            names[event.name_iid],
            packet.timestamp,
            -1,
            len(stack),
            values,
            list(event.flow_ids),
            list(event.terminating_flow_ids),
        )
        stack.append(begun)
        found.slices.append(begun)
    assert not any(open_slices.values())
    return found


def path(found: Decoded, track: int) -> str:
    parent = found.parents[track]
    return f"{path(found, parent)}/{found.tracks[track]}" if parent else found.tracks[track]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "timeline.pftrace"


def test_each_rank_has_a_track_with_what_its_CPU_did(file: Path) -> None:
    write_perfetto(exchange(), file, name="exchange")
    found = decode(file)
    assert found.on("exchange/ranks/rank 0") == [
        ("calc", 0, 12_000),
        ("noise", 10_000, 12_000),
        ("send", 12_000, 13_000),
        ("solve: calc", 13_000, 30_000),
        ("recv", 36_000, 40_000),
        ("noise", 39_999, 40_000),
    ]
    assert found.on("exchange/ranks/rank 1") == [("recv", 15_500, 17_000), ("send", 33_000, 34_000)]


def test_what_waited_is_below_and_named_after_what_held_it_up(file: Path) -> None:
    write_perfetto(exchange(), file, name="exchange")
    found = decode(file)
    assert found.on("exchange/ranks/rank 0/waiting") == [("waiting", 30_000, 36_000)]
    assert found.on("exchange/ranks/rank 1/waiting") == [
        ("late sender", 0, 15_500),
        ("late receiver", 17_000, 33_000),
    ]


def test_an_arrow_leads_from_a_send_to_the_receive_that_took_its_message(file: Path) -> None:
    ops = exchange()
    write_perfetto(ops, file)
    sends, receives = {}, {}
    for found in decode(file).slices:
        rank = int(found.track.split("rank ")[1].split("/")[0])
        for arrow in found.arrows:
            assert arrow not in sends
            sends[arrow] = (rank, found.arguments["op"])
        for arrow in found.ends_of_arrows:
            assert arrow not in receives
            receives[arrow] = (rank, found.arguments["op"])
    assert {receives[arrow]: sends[arrow] for arrow in receives} == {(0, 3): (1, 1), (1, 0): (0, 1)}
    assert sends.keys() == receives.keys()


def test_one_sided_ops_have_slices_of_their_initiations_and_of_their_waits(file: Path) -> None:
    write_perfetto(one_sided(), file)
    found = decode(file)
    assert found.on("timeline/ranks/rank 0") == [
        ("put", 0, 2_000),
        ("get", 32_000, 34_000),
        ("lock", 64_000, 66_000),
        ("calc", 144_000, 149_000),
    ]
    assert found.on("timeline/ranks/rank 0/waiting") == [
        ("waiting", 2_000, 32_000),
        ("waiting", 34_000, 64_000),
        ("lock contention", 66_000, 144_000),
    ]
    put = next(s for s in found.slices if s.name == "put")
    awaited = next(s for s in found.slices if s.ends_of_arrows)
    assert awaited.ends_of_arrows == put.arrows
    assert (awaited.track, awaited.begin, awaited.end) == ("timeline/ranks/rank 1/waiting", 32_000, 32_000)
    assert "timeline/ranks/rank 1/CPU 1" not in {s.track for s in found.slices}, "an await takes no CPU"


def test_a_put_that_waits_for_its_NIC_is_named_after_it(file: Path) -> None:
    goal = "num_ranks 2\nrank 0 {\np: put 1b to 1\nq: put 1b to 1\n}\nrank 1 {\nc: calc 0\n}\n"
    level = idlewave.Level(idlewave.Parameters(L=10_000, o_s=1_000, o_r=1_000, g=50_000))
    ops = idlewave.simulate(idlewave.Schedule.from_goal(goal), idlewave.Machine("m", level), record=True)
    write_perfetto(ops.ops_to_arrow(), file)
    found = decode(file).on("timeline/ranks/rank 0/waiting")
    assert [name for name, _, _ in found] == ["waiting", "nic"]
    assert found[1][2] - found[1][1] == 49 + 10 + 10


def test_a_CPU_that_completes_a_put_has_the_end_of_its_arrow(file: Path) -> None:
    write_perfetto(one_sided(by_cpu=True), file)
    found = decode(file)
    assert ("await", 12_000, 15_000) in found.on("timeline/ranks/rank 1")
    assert next(s for s in found.slices if s.ends_of_arrows).name == "await"
    assert ("get", 142_000, 145_000) in found.on("timeline/ranks/rank 0")
    assert ("waiting", 130_000, 153_000) in found.on("timeline/ranks/rank 1/waiting"), "the CPU held it up before"


def test_the_arguments_have_the_exact_picoseconds_and_why_an_op_waited(file: Path) -> None:
    write_perfetto(exchange(), file)
    send = next(s for s in decode(file).slices if s.name == "send")
    assert send.arguments == {
        "op": 1,
        "start_ps": 12_000_400,
        "work_ps": 12_000_400,
        "end_ps": 13_000_900,
        "noise_ps": 0,
        "wait_ps": 0,
        "wait_state": "",
        "cause": "end",
        "cause_rank": 0,
        "cause_op": 0,
        "peer": 1,
        "tag": 5,
        "size": 8,
    }


def test_ranks_are_told_to_stand_in_the_order_of_their_numbers(file: Path) -> None:
    write_perfetto(table(*(op(rank, 0, "calc", 0, 1000) for rank in range(12))), file)
    found = decode(file)
    places = {found.tracks[track]: place for track, place in found.places.items() if "rank " in found.tracks[track]}
    assert places == {f"rank {rank}": rank for rank in range(12)}


@pytest.mark.parametrize("seed", range(8))
def test_slices_nest_whatever_overlaps(seed: int, file: Path) -> None:
    ops = random_ops(seed)
    write_perfetto(ops, file)
    found = decode(file)
    assert all(one.begin <= one.end for one in found.slices)
    assert all(one.depth == (one.name == "noise") for one in found.slices)
    assert sum(one.name in ("send", "recv", "calc") for one in found.slices) == len(ops)
    calcs = ops[ops["kind"] == "calc"]
    drawn = sorted((s.begin, s.end) for s in found.slices if s.name == "calc")
    assert drawn == sorted(zip(calcs["start_ps"] // 1000, calcs["end_ps"] // 1000, strict=True))


def test_a_reception_ends_on_the_track_where_the_CPU_takes_up_something_else(file: Path) -> None:
    write_perfetto(table(op(0, 0, "recv", 0, 9_000, work_ps=4_000), op(0, 1, "calc", 7_000, 12_000)), file)
    found = decode(file)
    assert found.on("timeline/ranks/rank 0") == [("recv", 4, 7), ("calc", 7, 12)]
    assert found.slices[0].arguments["end_ps"] == 9_000


def test_two_CPUs_have_a_track_each(file: Path) -> None:
    write_perfetto(table(op(0, 0, "calc", 0, 9_000), op(0, 1, "calc", 7_000, 12_000)), file)
    found = decode(file)
    assert found.on("timeline/ranks/rank 0") == [("calc", 0, 9)]
    assert found.on("timeline/ranks/rank 0/CPU 1") == [("calc", 7, 12)]


def test_a_simulated_timeline_becomes_a_trace_as_pandas_and_as_arrow(machine: idlewave.Machine, file: Path) -> None:
    timeline = idlewave.simulate(idlewave.Schedule.pattern("allreduce", ranks=13, bytes=1000), machine, record=True)
    write_perfetto(timeline.ops_to_arrow(), file)
    arrow = file.read_bytes()
    write_perfetto(timeline.ops_to_pandas(), file)
    assert file.read_bytes() == arrow
    slices = [s for s in decode(file).slices if not s.track.endswith("/waiting")]
    assert len(slices) == len(timeline.columns["rank"])
    assert max(s.end for s in slices) == timeline.columns["free_ps"].max() // 1000, "the CPU's last work"


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        (pd.DataFrame(), "record=True"),
        (exchange().iloc[:0], "record=True"),
        (exchange().drop(columns=["end_ps", "tag"]), "lacks tag, end_ps"),
        (exchange().iloc[::-1], r"in the order \(rank, op\)"),
        (
            exchange().assign(kind="dance"),
            "calc, put, get, await, lock, shared_lock, unlock, found 'dance'",
        ),
        (exchange().assign(start_ps="soon"), "column start_ps"),
    ],
)
def test_a_table_that_is_none_of_ops_is_refused(ops: pd.DataFrame, expected: str, file: Path) -> None:
    with pytest.raises(idlewave.InputError, match=expected):
        write_perfetto(ops, file)
    assert not file.exists()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(idlewave.OutputError, match=r"file: cannot be written"):
        write_perfetto(exchange(), tmp_path / "file" / "x.pftrace")
