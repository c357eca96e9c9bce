"""The page of the study of overlap: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pandas as pd

from idlewave.formatting import count_text, percent_text, plural, seconds_text
from idlewave.report.line_panels import LinePanels, plot_line_panels
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.studies.overlap import FREE, OWN, SHARE
from idlewave.studies.seed_statistics import at_most_ranks, rows_of

TITLE = "How much of its communication a program can hide"


def overlap_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    found = overlaps(table)
    return StudyPage(
        title=TITLE,
        about="Programs are simulated on a network that does all by itself (o = O = 0), on one that does nothing "
        "beside a CPU (o = g, O = G), between these, and with messages that cost nothing.",
        findings=list(_findings(found)),
        figures=list(_figures(table, found)),
        tables=list(_tables(found)),
        rests=[
            ("machine", f"{table['machine'].iloc[0]}, without noise; L, g, G and S stay as they are."),
            (
                "communication",
                "is the time with o = g and O = G beyond that with messages that cost nothing, which is computation "
                "and waiting for the computation of others.",
            ),
            (
                "potential",
                "is what of it is gone with o = O = 0. It is an upper bound of what hiding can give: overheads on the "
                "way of a message that somebody waits for are gone, too, though nothing was computed beside them.",
            ),
        ],
    )


def overlaps(table: pd.DataFrame) -> pd.DataFrame:
    """For each program and number of ranks: the times, ps, with full overlap, without any, as it is, and with free
    messages; and the share of the communication that overlap takes away (none where there is no communication)."""
    rows = []
    for (program, ranks), own in table.groupby(["program", "ranks"], sort=False):
        time = {(row["overheads"], row["share"]): int(row["finish_ps"]) for row in rows_of(own) if row["share"] >= 0}
        plain = {row["overheads"]: int(row["finish_ps"]) for row in rows_of(own)}
        full, none = time[SHARE, 0.0], time[SHARE, 1.0]
        communication = none - plain[FREE]
        rows.append(
            {
                "program": program, "ranks": ranks, "full_ps": full, "none_ps": none, "own_ps": plain[OWN],
                "free_ps": plain[FREE], "potential": (none - full) / communication if communication > 0 else None,
            }
        )  # fmt: skip
    columns = ["program", "ranks", "full_ps", "none_ps", "own_ps", "free_ps", "potential"]
    return pd.DataFrame(rows, columns=columns)


def _findings(found: pd.DataFrame) -> Iterator[tuple[str, str]]:
    for row in rows_of(at_most_ranks(found)):
        if row["potential"] is None or pd.isna(row["potential"]):
            yield str(row["program"]), f"On {plural(row['ranks'], 'rank')} messages take no time."
            continue
        communication = (row["none_ps"] - row["free_ps"]) / row["none_ps"]
        gain = 1 - row["full_ps"] / row["none_ps"]
        text = (
            f"On {plural(row['ranks'], 'rank')} {percent_text(communication)} of the time without overlap is "
            f"communication, and full overlap takes away {percent_text(row['potential'])} of it: the run is "
            f"{percent_text(gain)} shorter."
        )
        yield str(row["program"]), text + _as_it_is(row)


def _as_it_is(row: dict[str, Any]) -> str:
    """How much of the potential the machine has as it is, where that lies between the two."""
    if not row["full_ps"] < row["none_ps"] or not row["full_ps"] <= row["own_ps"] <= row["none_ps"]:
        return ""
    used = (row["none_ps"] - row["own_ps"]) / (row["none_ps"] - row["full_ps"])
    return f" The machine as it is has {percent_text(used)} of that gain."


def _figures(table: pd.DataFrame, found: pd.DataFrame) -> Iterator[ReportFigure]:
    shares = table[table["overheads"] == SHARE].merge(found, on=["program", "ranks"])
    shown = shares.assign(
        relative=shares["finish_ps"] / shares["none_ps"].where(shares["none_ps"] > 0),
        line=[plural(ranks, "rank") for ranks in shares["ranks"]],
    )
    lines = LinePanels(
        "program", "line", "share", "relative", "o / g = O / G", "time / time without overlap", base=None, level=1.0
    )
    yield ReportFigure(
        "overlap",
        "Run time against what of a message's time a CPU spends with it: 0 full overlap, 1 none.",
        partial(plot_line_panels, shown, lines),
    )


def _tables(found: pd.DataFrame) -> Iterator[Table]:
    texts: list[tuple[str, ...]] = [
        (str(row["program"]), count_text(row["ranks"]), *(_time(row[name]) for name in _TIMES),
         "–" if row["potential"] is None or pd.isna(row["potential"]) else percent_text(row["potential"]))
        for row in rows_of(found)
    ]  # fmt: skip
    headings = ("program", "ranks", "o = g, O = G", "as it is", "o = O = 0", "free messages", "potential")
    yield Table("Run times, and the share of the communication that overlap takes away", headings, texts, 1)


_TIMES = ("none_ps", "own_ps", "full_ps", "free_ps")


def _time(picoseconds: float) -> str:
    return seconds_text(float(picoseconds) / 1e12)
