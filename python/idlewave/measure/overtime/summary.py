"""What a recording over time has, in a table: a row a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .settings import IDLE, TESTS

if TYPE_CHECKING:
    import pandas as pd

    from .recording import OvertimeRecording


def summary_of(found: OvertimeRecording) -> pd.DataFrame:
    """A row a test, pair of ranks and size: phases, samples, and of the phases' values the 5 % quantile, the median,
    the 95 % quantile, the range (95 % / 5 %), and the standard deviation over the mean."""
    import pandas as pd

    active = found.table[found.table["test"] != IDLE]
    rows = []
    for (test, rank, peer, size), own in active.groupby(["test", "rank", "peer", "size"], sort=False):
        low, middle, high = own["value"].quantile([0.05, 0.5, 0.95])
        scatter = own["value"].std() / own["value"].mean() if len(own) > 1 else float("nan")
        rows.append((test, rank, peer, size, len(own), own["samples"].sum(), low, middle, high, high / low, scatter))
    names = ["test", "rank", "peer", "size", "phases", "samples", "low", "median", "high", "range", "scatter"]
    table = pd.DataFrame(rows, columns=names)
    order = {test: place for place, test in enumerate(TESTS)}
    return table.sort_values(
        ["test", "peer", "size"], key=lambda column: column.map(order) if column.name == "test" else column
    ).reset_index(drop=True)


def moved_counters(found: OvertimeRecording) -> pd.DataFrame:
    """A row a counter that grew: name, growth in active and in idle phases, and how many phases know it."""
    import pandas as pd

    table = found.table
    idle = table["test"] == IDLE
    rows = []
    for name in found.counters:
        values = table[name]
        grown = (values[~idle].sum(), values[idle].sum())
        if any(grown):
            rows.append((name.partition(".")[2], *grown, int(values.notna().sum())))
    return pd.DataFrame(rows, columns=["counter", "active", "idle", "phases"])
