"""The ranks of a traced program, which execute one op after the other in program order, give the same on every
scheduler, and the same as their schedule written out, whose ops are handed out one by one."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from idlewave import Level, Machine, Parameters, Schedule, simulate
from idlewave.errors import Deadlock
from partition_ways import noisy_machine
from trace_files import ALLREDUCE, RECV, SEND, with_header

WAYS: tuple[dict[str, Any], ...] = (
    {"scheduler": "check"},
    {"scheduler": "yawns", "threads": 2},
    {"scheduler": "timewarp"},
    {"scheduler": "timewarp", "threads": 3, "lazy": True},
    {"scheduler": "timewarp", "threads": 2, "placement": "cyclic", "migrate": True},
)
RANKS = 7


def record(call: int, now: int, words: bytes) -> bytes:
    return struct.pack("<IHHqq", len(words) // 8, call, 0, now, now + 100) + words


def write_program(folder: Path, seed: int, *, unsent: bool = False) -> Path:
    """The trace of a run that ends: messages between random ranks, each sent and received in one order of all, so that
    many arrive long before they are received, with computation before some calls, and a reduction now and then. With
    `unsent`, the last rank waits for one more message, after computation."""
    dice = random.Random(seed)
    records = [b""] * RANKS
    now = [1000] * RANKS

    def call(rank: int, kind: int, words: bytes) -> None:
        now[rank] += dice.choice((0, 0, dice.randrange(300), dice.randrange(20_000)))
        records[rank] += record(kind, now[rank], words)
        now[rank] += 100

    for _ in range(400):
        if dice.random() < 0.02:
            for rank in range(RANKS):
                call(rank, ALLREDUCE, struct.pack("<Q2i2q", 1, -3, 0, 64, 64))
            continue
        sender, receiver = dice.sample(range(RANKS), 2)
        tag, size = dice.randrange(2), dice.choice((1, 8, 3000, 3000, 70_000))
        of_peer = {sender: struct.pack("<2i", receiver, tag), receiver: struct.pack("<2i", sender, tag)}
        bytes_of = struct.pack("<q", size)
        call(sender, SEND, struct.pack("<Q", 1) + of_peer[sender] + bytes_of)
        call(receiver, RECV, struct.pack("<Q", 1) + 2 * (of_peer[receiver] + bytes_of))
    if unsent:
        now[-1] += 5000
        pair = struct.pack("<2i", 0, 77)
        records[-1] += record(RECV, now[-1], struct.pack("<Q", 1) + 2 * (pair + struct.pack("<q", 8)))
    folder.mkdir(parents=True)
    for rank in range(RANKS):
        data = with_header(rank, RANKS, "node1", records[rank], now[rank] + 200)
        (folder / f"rank-{rank:07}.iwtrace").write_bytes(data)
    (folder / "trace.json").write_text(json.dumps({"format": 1, "command": ["./program"], "host": "node1"}))
    return folder


def machines() -> tuple[Machine, ...]:
    """Where all messages are eager, without and with noise, and where the longest need a rendezvous."""
    parameters = Parameters(L=5_300_000, o_s=2_300_000, o_r=2_300_000, g=3_000_000, G=2500, O_s=1)
    return (
        Machine("eager", Level(parameters)),
        noisy_machine(),
        Machine("rendezvous", Level(parameters, eager_limit=10_000)),
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", range(3))
def test_every_way_gives_what_the_schedule_written_out_gives(tmp_path: Path, way: dict[str, Any], number: int) -> None:
    program = Schedule.from_trace(write_program(tmp_path / "trace", number)).extrapolate(3 * RANKS)
    program.save(tmp_path / "program.goal")
    written = Schedule.load(tmp_path / "program.goal")
    machine = machines()[number]
    expected = simulate(written, machine, seed=5)
    alone = simulate(program, machine, seed=5)
    found = simulate(program, machine, seed=5, checkpoint=tmp_path / "checkpoint", checkpoint_every=0, **way)
    assert alone.messages == found.messages == expected.messages > 900
    assert np.array_equal(alone.finish, expected.finish)
    assert np.array_equal(found.finish, expected.finish)


@pytest.mark.parametrize("way", [{}, *WAYS])
def test_a_program_that_cannot_end_says_the_same_as_where_its_ops_are_recorded(
    tmp_path: Path, way: dict[str, Any]
) -> None:
    program = Schedule.from_trace(write_program(tmp_path / "trace", 3, unsent=True))
    with pytest.raises(Deadlock) as alone:  # each op that is recorded is handed out
        simulate(program, machines()[0], record=True)
    with pytest.raises(Deadlock) as found:
        simulate(program, machines()[0], **way)
    assert str(found.value) == str(alone.value)
    assert "tag 77" in str(found.value)
