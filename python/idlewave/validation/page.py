"""The table of a validation as a page of Markdown."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from ..formatting import percent_text, plain, plural, seconds_text

if TYPE_CHECKING:
    import pandas as pd

_HEAD = (
    "| program | ranks | calls | traced on | simulated on | measured: median (range) | simulated: median (range) | "
    "error | spread of the runs |\n| --- | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: |\n"
)


def page_of(table: pd.DataFrame, title: str) -> str:
    """What `validate` found, as Markdown: a sentence each for replay and for other networks, the table, and doubts.

    The error is that of the median of the simulations against the median of the runs; the spread is how far the runs
    lie apart, against their median.
    """
    text = [f"# {title}\n"]
    replay = table["traced_on"] == table["simulated_on"]
    text += [_summary("Replayed on the machine where they were traced", table[replay])]
    if len(table[~replay]):
        text += [_summary("Predicted for another network than the traced one", table[~replay])]
    text += [_HEAD + "".join(_line(row) for row in table.to_dict("records"))]
    doubts = table[table["doubt"] != ""]
    text += [f"- {row['program']}, traced on {row['traced_on']}: {row['doubt']}." for _, row in doubts.iterrows()]
    return plain("\n".join(text).rstrip() + "\n")


def _summary(what: str, rows: pd.DataFrame) -> str:
    errors = rows.loc[rows["doubt"] == "", "error"].abs().dropna().sort_values()
    if errors.empty:
        return f"{what}: there is nothing to compare.\n"
    ninth = errors.iloc[min(len(errors) - 1, -(-9 * len(errors) // 10) - 1)]
    return (
        f"{what}: the median error of {plural(len(errors), 'comparison')} is {percent_text(float(errors.median()))}, "
        f"and nine of ten are within {percent_text(float(ninth))}.\n"
    )


def _line(row: Mapping[Hashable, object]) -> str:
    measured, simulated = (
        [float(str(row[f"{kind}{part}_s"])) for part in ("", "_least", "_most")] for kind in ("measured", "simulated")
    )
    spread = (measured[2] - measured[1]) / measured[0] if measured[0] > 0 else float("nan")
    cells = [
        str(row["program"]),
        f"{row['ranks']}",
        f"{row['calls']:,}",
        str(row["traced_on"]),
        str(row["simulated_on"]),
        _range(measured),
        _range(simulated),
        percent_text(float(str(row["error"])), signed=True) if row["doubt"] == "" else "not to be compared",
        percent_text(spread),
    ]
    return "| " + " | ".join(cells) + " |\n"


def _range(times: list[float]) -> str:
    return f"{seconds_text(times[0])} ({seconds_text(times[1])} to {seconds_text(times[2])})"
