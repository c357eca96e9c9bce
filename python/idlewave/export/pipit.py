"""The calls of a trace in the columns that Pipit reads: `pipit.trace.Trace(None, pipit_events(trace))`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from ..trace import Trace

PROGRAM = "program"
"""The name of what lasts from MPI_Init to MPI_Finalize."""


def pipit_events(trace: Trace) -> pd.DataFrame:
    """The events of a trace, ordered by time: Timestamp (ns), Event Type, Name, Thread, Process and Attributes.

    Each call has an Enter and a Leave, and so has the program of each rank, from the end of MPI_Init on. A message that
    is sent has an event MpiSend within its call, with the receiver, a rank of MPI_COMM_WORLD, and msg_length in bytes.
    """
    calls = trace.calls
    sends = calls[calls["peer"] >= 0]
    runs = trace.run_times()
    begins = np.zeros(len(runs), np.int64)
    ends = (runs["seconds"].to_numpy() * 1e9).round().astype(np.int64)
    if len(calls):
        of_rank = calls.groupby("rank")
        begins = np.minimum(begins, of_rank["begin_ns"].min().reindex(runs["rank"], fill_value=0).to_numpy())
        ends = np.maximum(ends, of_rank["end_ns"].max().reindex(runs["rank"], fill_value=0).to_numpy())
    names = calls["call"].astype(str)
    events = pd.concat(
        [
            _events("Enter", begins, PROGRAM, runs["rank"], order=0),
            _events("Enter", calls["begin_ns"], names, calls["rank"], order=1, threads=calls["thread"]),
            _events(
                *("Instant", sends["begin_ns"], "MpiSend", sends["rank"]),
                order=2,
                threads=sends["thread"],
                attributes=_messages(sends),
            ),
            _events("Leave", calls["end_ns"], names, calls["rank"], order=3, threads=calls["thread"]),
            _events("Leave", ends, PROGRAM, runs["rank"], order=4),
        ],
        ignore_index=True,
    )
    events = events.assign(of_call=_numbers(calls, sends, len(runs)))
    # Of events at one time a call that ends comes before the next one of its rank begins.
    events = events.sort_values(["Timestamp (ns)", "Process", "of_call", "order"], ignore_index=True)
    events = events.drop(columns=["order", "of_call"])
    return events.astype({"Event Type": "category", "Name": "category", "Thread": "category", "Process": "category"})


def _numbers(calls: pd.DataFrame, sends: pd.DataFrame, ranks: int) -> np.ndarray:
    """By which call each event is ordered: the program begins before all and ends behind them."""
    number = pd.Series(np.arange(len(calls)), index=calls.index)
    return np.concatenate(
        [
            np.full(ranks, -1),
            number.to_numpy(),
            number[sends.index].to_numpy(),
            number.to_numpy(),
            np.full(ranks, len(calls)),
        ]
    )


def _events(
    kind: str,
    times: pd.Series | np.ndarray,
    names: pd.Series | str,
    ranks: pd.Series,
    *,
    order: int,
    threads: pd.Series | int = 0,
    attributes: list[dict[str, int]] | None = None,
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Timestamp (ns)": np.asarray(times, dtype=np.int64),
            "Event Type": kind,
            "Name": names if isinstance(names, str) else names.to_numpy(),
            "Thread": threads if isinstance(threads, int) else threads.to_numpy(dtype=np.int32),
            "Process": ranks.to_numpy(dtype=np.int32),
            "Attributes": pd.Series(attributes or [{}] * len(ranks), dtype=object),
            "order": order,
        }
    )


def _messages(sends: pd.DataFrame) -> list[dict[str, int]]:
    pairs = zip(sends["peer"], sends["bytes"], strict=True)
    return [{"receiver": int(peer), "msg_length": int(size)} for peer, size in pairs]
