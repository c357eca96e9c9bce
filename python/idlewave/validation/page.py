"""The table of a validation as a page of Markdown."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from ..formatting import join_words, percent_text, plain, plain_time, plural, seconds_text, size_text
from .rows import beside_copies_in, computation_errors, copies_in, loops_in, other_networks_in, replays_in

if TYPE_CHECKING:
    import pandas as pd

_HEAD = (
    "| program | ranks | calls | traced on | simulated on | measured: median (range) | simulated: median (range) | "
    "error | error of computation | repeat error | spread of the runs | round trip |\n"
    "| --- | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
)


RATIOS = ("round_trip_ratio", "round_trip_ratio_least", "round_trip_ratio_most")


def page_of(table: pd.DataFrame, title: str) -> str:
    """What `validate` found, as Markdown: a sentence for each kind of prediction, the tables, and doubts.

    The error is that of the median of the simulations against the median of the runs; that of computation is the
    difference of the times outside MPI of the simulated traces and of the runs. The repeat error is how far a run is
    from the median of the others, in the median, and the spread how far the runs lie apart, against their median. The
    round trip is that of a byte beside the runs, over that of the machine that was simulated.
    """
    text = [f"# {title}\n"]
    loops = loops_in(table)
    if len(table[~loops]):
        text += [_summary("Replayed on the machine where they were traced", table[replays_in(table)])]
    for what, rows in (
        ("Predicted for another network than the traced one", table[other_networks_in(table)]),
        ("Predicted for more ranks by copies of a trace", table[copies_in(table)]),
        (
            "Predicted for one rank beside copies of itself, by what a rank of the larger program computes",
            table[beside_copies_in(table)],
        ),
        ("Loops, predicted from the machine alone", table[loops]),
    ):
        if len(rows):
            text += [_summary(what, rows)]
    text += [_repeats("each program and network", table[~loops]), _repeats("each loop and size", table[loops])]
    text += [_left_out(table)]
    if len(table[~loops]):
        programs = table[~loops].assign(computation_error=computation_errors(table[~loops]))
        text += [_HEAD + "".join(_line(row) for row in programs.to_dict("records"))]
    by_speed = table[loops].groupby(["simulated_on", "machine_round_trip_ns"], sort=False, dropna=False)
    text += [_loop_table(network, rows) for (network, _), rows in by_speed]
    doubts = table[table["doubt"] != ""]
    text += [f"- {row['program']}, traced on {row['traced_on']}: {row['doubt']}." for _, row in doubts.iterrows()]
    return plain("\n".join(text).rstrip() + "\n")


def _loop_table(network: object, rows: pd.DataFrame) -> str:
    """With a sentence on the speed of the machine, where that is known."""
    said, round_trip_ns = "", float(rows["machine_round_trip_ns"].iloc[0])
    if not math.isnan(round_trip_ns):
        what = f"Loops on {network} where a byte takes {plain_time(1000 * round_trip_ns)} there and back"
        share = percent_text(float(rows["share_at_speed"].iloc[0]))
        said = f"{_summary(what, rows).rstrip()} {share} of the samples were taken at this speed.\n\n"
    head = f"{said}| loop on {network} | ranks | measured: median (range) | simulated | error | spread of the runs |\n"
    lines = []
    for row in rows.to_dict("records"):
        measured = _times(row, "measured")
        size = f", {size_text(int(str(row['size'])))}" if row["size"] else ""
        cells = [f"{row['program']}{size}", f"{row['ranks']}", _range(measured)]
        cells += [seconds_text(_times(row, "simulated")[0])]
        cells += [percent_text(float(str(row["error"])), signed=True), percent_text(_spread(measured))]
        lines.append("| " + " | ".join(cells) + " |\n")
    return head + "| --- | ---: | ---: | ---: | ---: | ---: |\n" + "".join(lines)


def _summary(what: str, rows: pd.DataFrame) -> str:
    """The median error, and the one that nine of ten do not exceed; and both without the part that computation
    explains, where that is known."""
    sound = rows[rows["doubt"] == ""]
    errors = sound["error"].abs().dropna()
    if errors.empty:
        return f"{what}: there is nothing to compare.\n"
    said = (
        f"{what}: the median error of {plural(len(errors), 'comparison')} is {percent_text(float(errors.median()))}, "
        f"and nine of ten are within {percent_text(_ninth(errors))}."
    )
    left = (sound["error"] - computation_errors(sound)).abs().dropna()
    if (sound["measured_computation_s"] != sound["simulated_computation_s"])[left.index].any():
        said += (
            f" Without what the computation differs by, that is {percent_text(float(left.median()))} and "
            f"{percent_text(_ninth(left))}."
        )
    return said + "\n"


def _repeats(what: str, table: pd.DataFrame) -> str:
    """How far runs are from one another, in the median of each."""
    runs = table[(table["doubt"] == "") & (table["traced_ranks"] == table["ranks"])]
    errors = runs.drop_duplicates(["program", "size", "ranks", "simulated_on", "measured_s"])["repeat_error"].dropna()
    if errors.empty:
        return ""
    return (
        f"The runs themselves, in the median of {what}: half are within {percent_text(float(errors.median()))} of the "
        f"median of the other runs, nine of ten within {percent_text(_ninth(errors))}.\n"
    )


def _left_out(table: pd.DataFrame) -> str:
    """Of which programs runs are not compared. A replay has each of a network's own runs once."""
    runs = table[replays_in(table) & (table["left_out"] > 0)]
    if runs.empty:
        return ""
    names = join_words(list(dict.fromkeys(f"{row['program']} on {row['simulated_on']}" for _, row in runs.iterrows())))
    return f"Something else had the cores of {plural(int(runs['left_out'].sum()), 'run')}, left out here, of {names}.\n"


def _ninth(errors: pd.Series) -> float:
    """The error that nine of ten of `errors` do not exceed."""
    return float(errors.sort_values().iloc[min(len(errors) - 1, -(-9 * len(errors) // 10) - 1)])


def _line(row: Mapping[Hashable, object]) -> str:
    measured, simulated = _times(row, "measured"), _times(row, "simulated")
    traced = int(str(row["traced_ranks"]))
    traced_on = str(row["traced_on"]) + (f", {plural(traced, 'rank')}" if traced != int(str(row["ranks"])) else "")
    cells = [
        str(row["program"]),
        f"{row['ranks']}",
        f"{row['calls']:,}",
        traced_on,
        str(row["simulated_on"]),
        _range(measured),
        _range(simulated),
        percent_text(float(str(row["error"])), signed=True) if row["doubt"] == "" else "not to be compared",
        _percent(float(str(row["computation_error"])), signed=True),
        _percent(float(str(row["repeat_error"]))),
        percent_text(_spread(measured)),
        _round_trip(row),
    ]
    return "| " + " | ".join(cells) + " |\n"


def _percent(fraction: float, *, signed: bool = False) -> str:
    return "not known" if math.isnan(fraction) else percent_text(fraction, signed=signed)


def _round_trip(row: Mapping[Hashable, object]) -> str:
    middle, least, most = (float(str(row[name])) for name in RATIOS)
    return "not known" if math.isnan(middle) else f"× {middle:.2f} ({least:.2f} to {most:.2f})"


def _times(row: Mapping[Hashable, object], kind: str) -> list[float]:
    """Median, least and most, s."""
    return [float(str(row[f"{kind}{part}_s"])) for part in ("", "_least", "_most")]


def _spread(times: list[float]) -> float:
    return (times[2] - times[1]) / times[0] if times[0] > 0 else float("nan")


def _range(times: list[float]) -> str:
    if math.isnan(times[0]):
        return "none"
    return f"{seconds_text(times[0])} ({seconds_text(times[1])} to {seconds_text(times[2])})"
