"""The page of the study of a network that varies: its sentences are made from the rows, and said only if true."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from idlewave.formatting import count_text, percent_text, plural, seconds_text
from idlewave.report.report_figure import ReportFigure
from idlewave.report.study_page import StudyPage
from idlewave.report.tables import Table
from idlewave.report.variation_plots import plot_slowdown_by_start, plot_slowdown_shares
from idlewave.studies.seed_statistics import CONFIDENCE, LEAST_SEEDS
from idlewave.studies.variation import SlowdownByVariation, slowdowns

TITLE = "What a network that varies costs a program"


def variation_page(table: pd.DataFrame) -> StudyPage:
    """The page of a table of the study."""
    found = slowdowns(table)
    return StudyPage(
        title=TITLE,
        about=f"{table['schedule'].iloc[0]} on {table['machine'].iloc[0]}, whose L and G vary as in the machine's "
        "variation. Each run begins at a random time of it, and is compared with the same run with constant L and G.",
        findings=list(_findings(found)),
        figures=list(_figures(table)),
        tables=[_table(found)],
        rests=_rests(table, found),
    )


def _findings(found: list[SlowdownByVariation]) -> Iterator[tuple[str, str]]:
    for one in found:
        row = one.row()
        if row["runs"] == 1:
            yield f"{count_text(one.ranks)} ranks", f"{_change(row['mean'])} in one run."
            continue
        mean = f"{_change(row['mean'])} in the mean ({_percent(row['low'])} to {_percent(row['high'])})"
        runs = f"the single runs {_percent(row['least'])} to {_percent(row['most'])}, median {_percent(row['median'])}"
        yield f"{count_text(one.ranks)} ranks", f"{mean}; {runs}."
    if len(found) > 1 and (said := _by_scale(found[0], found[-1])):
        yield "scale", said


def _by_scale(few: SlowdownByVariation, many: SlowdownByVariation) -> str:
    """Whether more ranks lose more; "" if intervals of their means overlap, and of fewer than `LEAST_SEEDS` runs."""
    if min(len(few.runs), len(many.runs)) < LEAST_SEEDS:
        return ""
    if many.low > few.high:
        than = "more"
    elif many.high < few.low:
        than = "less"
    else:
        return ""
    lost = f"{_percent(many.mean)} instead of {_percent(few.mean)}"
    return f"{count_text(many.ranks)} ranks lose {than} than {count_text(few.ranks)}: {lost}."


def _figures(table: pd.DataFrame) -> Iterator[ReportFigure]:
    yield ReportFigure(
        "variation-runs",
        "Runs that take so much longer or more, by number of ranks. The line is the mean.",
        lambda: plot_slowdown_shares(table),
    )
    yield ReportFigure(
        "variation-starts",
        "How much longer a run takes, by when it begins in the recording.",
        lambda: plot_slowdown_by_start(table),
    )


def _table(found: list[SlowdownByVariation]) -> Table:
    headings = ("ranks", "runs", "constant L and G", "mean", "from", "to", "median", "least", "most")
    rows = []
    for one in found:
        row = one.row()
        constant = seconds_text(float(one.runs["constant_ps"].mean()) / 1e12)
        shares = [_percent(row[name]) for name in ("mean", "low", "high", "median", "least", "most")]
        rows.append((count_text(one.ranks), f"{row['runs']:,}", constant, *shares))
    return Table(f"How much longer the program takes, with a {CONFIDENCE:.0%} interval of the mean", headings, rows, 0)


def _rests(table: pd.DataFrame, found: list[SlowdownByVariation]) -> list[tuple[str, str]]:
    noise = int(table.groupby("ranks")["constant_ps"].nunique().max()) > 1
    runs = plural(len(found[0].runs), "run")
    said = [
        (
            "intervals",
            f"are of the mean over the times at which a run may begin: Student's, over {runs} of each number of ranks. "
            "That the network varies otherwise in another week is not in them.",
        ),
        ("factors", "are the same for all pairs of nodes at one time, and constant within a phase of the recording."),
    ]
    if noise:
        said.append(("noise", "is the machine's: other detours in each run, and the same without the variation."))
    return said


def _change(fraction: float) -> str:
    return f"{_percent(abs(fraction))} {'longer' if fraction >= 0 else 'shorter'}"


def _percent(fraction: float) -> str:
    return percent_text(float(fraction) + 0.0)
