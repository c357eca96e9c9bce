"""A trace in the columns of Pipit: every call is entered and left once, in order, and has its messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from idlewave import Trace
from idlewave.export import pipit_events
from trace_files import Message, write_messages, write_trace


def test_calls_are_nested_in_the_program_of_their_rank_in_order_of_time(tmp_path: Path) -> None:
    events = pipit_events(Trace.load(write_trace(tmp_path / "trace", gap_ns=5000)))
    assert events["Timestamp (ns)"].is_monotonic_increasing
    for _, rank in events.groupby("Process", observed=True):
        steps = list(zip(rank["Event Type"], rank["Name"], rank["Timestamp (ns)"], strict=True))
        calls = [
            (kind, "MPI_Allreduce", at)
            for i in range(3)
            for kind, at in (("Enter", 5000 + 5700 * i), ("Leave", 5700 + 5700 * i))
        ]
        assert steps == [("Enter", "program", 0), *calls, ("Leave", "program", 3 * 5700 + 5000)]


def test_a_message_has_its_receiver_and_its_size_inside_its_call(tmp_path: Path) -> None:
    messages = [Message(10, 3, 8), Message(0, 4, 16)]
    events = pipit_events(Trace.load(write_messages(tmp_path / "trace", messages)))
    sent = events[events["Name"] == "MpiSend"]
    assert list(sent["Attributes"]) == [{"receiver": 1, "msg_length": 8}, {"receiver": 1, "msg_length": 16}]
    assert sent["Process"].tolist() == [0, 0]
    of_sender = events[events["Process"] == 0]["Name"].tolist()
    assert of_sender == ["program", *["MPI_Send", "MpiSend", "MPI_Send"] * 2, "program"]


@pytest.mark.parametrize("column", ["Timestamp (ns)", "Event Type", "Name", "Thread", "Process", "Attributes"])
def test_the_columns_are_those_of_pipit(tmp_path: Path, column: str) -> None:
    assert column in pipit_events(Trace.load(write_trace(tmp_path / "trace")))
