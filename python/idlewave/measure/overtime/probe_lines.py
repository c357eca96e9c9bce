"""The lines that the probe prints: probes/overtime/rounds.hpp describes them."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ...child_processes import Child
from ...errors import MeasurementError
from ...escaping import cut

_CHUNK = 1 << 16
_LONGEST = 256 << 20
"""Bytes of a line: the first one has the place of each rank."""
_START = b'{"line"'

Time = Annotated[int, Meta(ge=0, le=2**62)]


class RankPlace(Struct):
    """Where a rank runs."""

    host: str
    cpu: int = -1


class Begin(Struct, tag_field="line", tag="begin"):
    """The first line."""

    library: str
    ranks: list[RankPlace]
    shared_cpus: bool = False
    time_ns: Time = 0


class Phase(Struct, tag_field="line", tag="phase"):
    """A phase that is over. Of an idle phase there are no times."""

    test: str
    rank: Annotated[int, Meta(ge=-1, lt=2**31)]
    peer: Annotated[int, Meta(ge=-1, lt=2**31)]
    size: Annotated[int, Meta(ge=0, le=2**40)]
    start_ns: Time
    length_ns: Time
    samples: Annotated[int, Meta(ge=0, lt=2**31)]
    least_s: float | None = None
    median_s: float | None = None
    mean_s: float | None = None
    most_s: float | None = None
    sd_s: float | None = None
    value: float | None = None


class Load(Struct, tag_field="line", tag="load"):
    """Which share of a CPU the ranks took until now: their mean, and that of the rank that took most."""

    active: float
    idle: float
    active_most: float
    idle_most: float


class End(Struct, tag_field="line", tag="end"):
    """The last line: "time" or "signal"."""

    reason: str


Line = Begin | Phase | Load | End
_DECODER = msgspec.json.Decoder(Line)


def lines_of(child: Child, silence: float) -> Iterator[Line]:
    """The lines of a running probe, until it closes its output. Other lines are passed over.

    Raises MeasurementError for a line that is none of the probe's, and if there is none for `silence` seconds.
    """
    for text in _texts(child, silence):
        if not text.startswith(_START):
            continue
        try:
            yield _DECODER.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            said = cut(text.decode("utf-8", "replace"))
            raise MeasurementError(f"the probe of overtime said what is not understood, {error}: {said}") from error


def _texts(child: Child, silence: float) -> Iterator[bytes]:
    """The lines as bytes. A last one that has no end is none: the probe died while it wrote it."""
    number = child.output.fileno()
    events = select.poll()
    events.register(number, select.POLLIN)
    rest = bytearray()
    heard = time.monotonic()
    while True:
        left = heard + silence - time.monotonic()
        if not events.poll(max(0.0, 1000 * left)):
            raise MeasurementError(f"the probe of overtime said nothing for {silence:.0f} s, and was stopped")
        piece = os.read(number, _CHUNK)
        if not piece:
            return
        heard = time.monotonic()
        rest += piece
        *whole, last = rest.split(b"\n")
        rest = bytearray(last)
        if len(rest) > _LONGEST:
            raise MeasurementError(f"the probe of overtime said a line of more than {_LONGEST} bytes")
        yield from map(bytes, whole)
