"""A recorded timeline as a Perfetto trace, for ui.perfetto.dev.

A process named after the schedule has a track for each rank with what its CPU does: calc, send, recv (the reception of
a message). Where detours took time of it, a slice "noise" of that length lies at its end: when they came is not
recorded. Below, on tracks "waiting", are posted receives until their message was received, and rendezvous sends until
their data went, named after what held them up. An arrow leads from a send to the recv that took its message.

What the ops were made from is an attribute of the trace, which the viewer shows on its page about the trace.

Perfetto counts nanoseconds. Begins and ends are rounded down alike, so what did not overlap does not; the exact
picoseconds are among a slice's arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import LibraryError
from ..output import output_file
from ..provenance import KEY
from ..timeline import OP_KINDS
from .ops import CALC, RECV, SEND, Ints, Ops, read_ops
from .spans import cpu_spans, lanes, waiting_spans

if TYPE_CHECKING:
    from .ops import Table

Protos: TypeAlias = Any  # the module that protobuf generated; it has no types

# Ids of tracks: those of a rank follow each other from (rank + 1) * TRACKS on, the CPU's lanes, then the waiting ones.
PROCESS, RANKS, TRACKS, WAITING = 1, 2, 1 << 20, 1 << 19
WRITER = 1  # all packets are of one sequence
ROWS_AT_A_TIME = 1 << 14

# A slice's arguments. A calc has no peer, so those of messages come last.
TEXTS = ("wait_state", "cause")
NUMBERS = ("op", "start_ps", "end_ps", "noise_ps", "wait_ps", "cause_rank", "cause_op")
OF_MESSAGES = ("peer", "tag", "size", "work_ps")


def write_perfetto(ops: Table, path: str | Path, *, name: str = "timeline") -> None:
    """Write recorded ops (`Timeline.ops_to_arrow` or `ops_to_pandas`) as a Perfetto trace with a process `name`.

    The file is there whole or not at all. Raises InputError if the table cannot be used, OutputError if the file cannot
    be written, LibraryError if the package perfetto is missing.
    """
    protos = load_library()
    writer = _Writer(protos, read_ops(ops))
    with output_file(path) as file:
        file.write(writer.head(name))
        for packets in writer.ranks():
            file.write(packets)


def load_library() -> Protos:
    """What protobuf made of Perfetto's messages. Raises LibraryError if it is not installed, or too old."""
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as error:
        raise LibraryError("a Perfetto trace", "perfetto", error) from error
    if "trace_attributes" not in perfetto_trace_pb2.TracePacket.DESCRIPTOR.fields_by_name:
        raise LibraryError("a Perfetto trace", "perfetto", "it is older than 0.56")
    return perfetto_trace_pb2


@dataclass(frozen=True)
class _Spans:
    """Slices of one rank, in the order in which they are written."""

    rows: Ints
    tracks: Ints
    begin: Ints
    noise: Ints
    end: Ints
    shapes: Ints
    names: Ints


class _Shape:
    """The packets of a slice of one kind, made once: for each slice only their values are set, which is fast."""

    def __init__(
        self,
        protos: Protos,
        texts: list[int],
        numbers: list[int],
        *,
        arrow: str = "",
        noise: int = 0,
    ) -> None:
        """`texts` and `numbers` are the names of its arguments; `arrow` the field with the arrow's id, `noise` the name
        of the slice inside it, if it has them.
        """
        event = protos.TrackEvent
        depth = 2 if noise else 1
        types = [event.TYPE_SLICE_BEGIN] * depth + [event.TYPE_SLICE_END] * depth
        self._trace = protos.Trace()
        self._packets = [
            self._trace.packet.add(
                trusted_packet_sequence_id=WRITER,
                sequence_flags=protos.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE,
                track_event={"type": kind},
            )
            for kind in types
        ]
        self._events = [packet.track_event for packet in self._packets]
        first = self._events[0]
        if noise:
            self._events[1].name_iid = noise
        self._arrow = getattr(first, arrow) if arrow else None
        if self._arrow is not None:
            self._arrow.append(0)
        self._texts = [first.debug_annotations.add(name_iid=name) for name in texts]
        self._numbers = [first.debug_annotations.add(name_iid=name) for name in numbers]

    def packets(
        self, track: int, name: int, begin: int, noise: int, end: int, arrow: int, texts: list[int], numbers: list[int]
    ) -> bytes:
        """The packets of one slice; times in ns. `numbers` may have more than it has arguments for."""
        packets, events = self._packets, self._events
        packets[0].timestamp = begin
        packets[-1].timestamp = end
        if len(packets) == 4:
            packets[1].timestamp = noise
            packets[2].timestamp = end
        for event in events:
            event.track_uuid = track
        events[0].name_iid = name
        if self._arrow is not None:
            self._arrow[0] = arrow
        for annotation, text in zip(self._texts, texts, strict=True):
            annotation.string_value_iid = text
        for annotation, number in zip(self._numbers, numbers, strict=False):
            annotation.int_value = number
        serialized: bytes = self._trace.SerializeToString()
        return serialized


class _Writer:
    def __init__(self, protos: Protos, ops: Ops) -> None:
        self.protos = protos
        self.ops = ops
        self.arrows = _arrows(ops)
        self.texts = [name for name in TEXTS if name in ops.given]
        self.numbers = [name for name in NUMBERS + OF_MESSAGES if name in ops.given]
        self.arguments = _numbered([*self.texts, *self.numbers])
        calls = [f"{call}: " if call else "" for call in ops.call.names]
        labels = [call + kind for call in calls for kind in OP_KINDS]
        states = [state or "waiting" for state in ops.wait_state.names]
        self.events = _numbered(["noise", *labels, *states])
        self.labels = np.array([self.events[label] for label in labels])
        self.states = np.array([self.events[state] for state in states])
        self.strings = _numbered([*ops.wait_state.names, *ops.cause.names])
        columns = [getattr(ops, name) for name in self.texts]
        self.text_columns = [np.array([self.strings[text] for text in c.names])[c.codes] for c in columns]
        self.shapes = self._shapes()

    def _shapes(self) -> list[_Shape]:
        """By kind of op, then whether it has an arrow, then whether it has noise; then the one of waiting."""
        texts = [self.arguments[name] for name in self.texts]
        numbers = [self.arguments[name] for name in self.numbers]
        fewer = [self.arguments[name] for name in self.numbers if name not in OF_MESSAGES]
        field = {SEND: "flow_ids", RECV: "terminating_flow_ids", CALC: ""}
        made = [
            _Shape(
                self.protos,
                texts,
                fewer if kind == CALC else numbers,
                arrow=field[kind] if arrow else "",
                noise=self.events["noise"] if noise else 0,
            )
            for kind in range(len(OP_KINDS))
            for arrow in (False, True)
            for noise in (False, True)
        ]
        return [*made, _Shape(self.protos, texts, numbers)]

    def head(self, name: str) -> bytes:
        """The packets that come first: the strings that others name by number, and the tracks above the ranks'."""
        first = self.protos.TracePacket(
            trusted_packet_sequence_id=WRITER,
            sequence_flags=self.protos.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED,
            first_packet_on_sequence=True,
        )
        strings = first.interned_data
        for text, number in self.events.items():
            strings.event_names.add(iid=number, name=text)
        for text, number in self.arguments.items():
            strings.debug_annotation_names.add(iid=number, name=text)
        for text, number in self.strings.items():
            strings.debug_annotation_string_values.add(iid=number, str=text.encode())
        explicit = self.protos.TrackDescriptor.EXPLICIT
        tracks = self.protos.Trace(packet=[first])
        tracks.packet.add().track_descriptor.CopyFrom(
            self.protos.TrackDescriptor(uuid=PROCESS, process={"pid": 1, "process_name": name})
        )
        # Perfetto orders the children of a process by name, "rank 10" before "rank 2"; those of a track as it is told.
        tracks.packet.add().track_descriptor.CopyFrom(
            self.protos.TrackDescriptor(uuid=RANKS, parent_uuid=PROCESS, name="ranks", child_ordering=explicit)
        )
        if self.ops.provenance is not None:
            said = self.ops.provenance.to_json()
            tracks.packet.add().trace_attributes.attribute.add(key=KEY, string_value=said)
        serialized: bytes = tracks.SerializeToString()
        return serialized

    def ranks(self) -> Iterator[bytes]:
        """The packets of each rank: its tracks, then what is on them."""
        for rank, first, last in self.ops.bounds():
            base = (rank + 1) * TRACKS
            cpu, cpus = self._cpu(first, last, base)
            waiting, waits = self._waiting(first, last, base + WAITING)
            yield self._tracks(rank, base, cpus, waits)
            yield from self._slices(cpu)
            yield from self._slices(waiting)

    def _tracks(self, rank: int, base: int, cpus: int, waits: int) -> bytes:
        explicit = self.protos.TrackDescriptor.EXPLICIT
        tracks = self.protos.Trace()

        def add(uuid: int, parent: int, name: str, place: int) -> None:
            tracks.packet.add().track_descriptor.CopyFrom(
                self.protos.TrackDescriptor(
                    uuid=uuid, parent_uuid=parent, name=name, sibling_order_rank=place, child_ordering=explicit
                )
            )

        add(base, RANKS, f"rank {rank}", rank)
        for lane in range(1, cpus):
            add(base + lane, base, f"CPU {lane}", lane)
        for lane in range(waits):  # tracks of one name are shown as one
            add(base + WAITING + lane, base, "waiting", cpus)
        serialized: bytes = tracks.SerializeToString()
        return serialized

    def _cpu(self, first: int, last: int, base: int) -> tuple[_Spans, int]:
        ops = self.ops
        begin, end = cpu_spans(ops, first, last)
        lane = lanes(begin, end)
        noise = np.minimum(ops.noise[first:last], end - begin)
        kind = ops.kind[first:last]
        shape = kind * 4 + (self.arrows[first:last] > 0) * 2 + (noise > 0)
        label = self.labels[ops.call.codes[first:last] * len(OP_KINDS) + kind]
        order = np.lexsort((end, begin))
        columns = (base + lane, begin, end - noise, end, shape, label)
        return _Spans(first + order, *(column[order] for column in columns)), int(lane.max()) + 1

    def _waiting(self, first: int, last: int, base: int) -> tuple[_Spans, int]:
        begin, end = waiting_spans(self.ops, first, last)
        rows = np.flatnonzero(end > begin)
        rows = rows[np.lexsort((end[rows], begin[rows]))]
        begin, end = begin[rows], end[rows]
        lane = lanes(begin, end)
        shape = np.full(len(rows), len(self.shapes) - 1)
        states = self.states[self.ops.wait_state.codes[first + rows]]
        spans = _Spans(first + rows, base + lane, begin, end, end, shape, states)
        return spans, int(lane.max(initial=-1)) + 1

    def _slices(self, spans: _Spans) -> Iterator[bytes]:
        ops = self.ops
        edges = [*range(0, len(spans.rows), ROWS_AT_A_TIME), len(spans.rows)]
        for first, last in pairwise(edges):
            part = slice(first, last)
            rows = spans.rows[part]
            texts = [column[rows].tolist() for column in self.text_columns]
            numbers = [ops.column(name)[rows].tolist() for name in self.numbers]
            times = (spans.begin, spans.noise, spans.end)
            places = (column[part].tolist() for column in (spans.shapes, spans.tracks, spans.names))
            yield b"".join(
                self.shapes[shape].packets(track, name, begin, noise, end, arrow, text, number)
                for shape, track, name, begin, noise, end, arrow, text, number in zip(
                    *places,
                    *((column[part] // 1000).tolist() for column in times),
                    self.arrows[rows].tolist(),
                    zip(*texts, strict=True) if texts else [()] * len(rows),
                    zip(*numbers, strict=True),
                    strict=True,
                )
            )


def _numbered(texts: list[str]) -> dict[str, int]:
    """A number for each of them, from 1 on: Perfetto's 0 is none."""
    return {text: number for number, text in enumerate(dict.fromkeys(texts), 1)}


def _arrows(ops: Ops) -> Ints:
    """The number of the arrow that leads from or to each op, 0: none."""
    arrows = np.zeros(len(ops), dtype=np.int64)
    received = ops.match >= 0
    arrows[received] = ops.match[received] + 1
    arrows[ops.match[received]] = ops.match[received] + 1
    return arrows
